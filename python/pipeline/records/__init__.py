"""What was compiled or found, as data without behaviour."""
