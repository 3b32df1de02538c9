"""Compiled programs explained: facts in one document, and pages made of it."""
