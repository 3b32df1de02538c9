"""Modules, kernels and entries, as callers hold them."""
