"""What `tools/check-certificate` runs: proofs on LLVM IR, without the compiler that made it."""
