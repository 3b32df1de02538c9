"""This machine: files, tools, threads."""
