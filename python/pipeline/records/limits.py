"""Limits of the emulator, for those who name them and load none."""

STEP_LIMIT = 1 << 30
"""Iterations of its loops after which a thread counts as stuck, if nothing else is said."""
