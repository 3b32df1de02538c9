"""What machine code of kernels shows without being run."""
