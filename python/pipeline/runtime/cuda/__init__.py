"""Launches on GPUs, by NVIDIA's driver."""
