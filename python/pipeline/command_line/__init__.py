"""Words of the command line in, exit codes out."""
