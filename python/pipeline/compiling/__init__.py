"""Requests to the native extension, and what comes back."""
