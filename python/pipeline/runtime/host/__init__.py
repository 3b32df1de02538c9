"""The host's part of a program: plans, and what does what they say."""
