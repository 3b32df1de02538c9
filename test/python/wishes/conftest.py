"""The stand-in for the driver, as tests of launches have it."""

from gpu.conftest import checks, driver_options, gpu, torch

__all__ = ["checks", "driver_options", "gpu", "torch"]
