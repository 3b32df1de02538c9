"""The chips that every part of the compiler is tested for."""

CHIPS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
