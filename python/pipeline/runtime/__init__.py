"""Arguments in, launches out."""
