"""Compiled programs as files: docs/bundle.md has their format."""
