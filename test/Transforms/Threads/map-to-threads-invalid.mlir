// RUN: mlir-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(func.func(workgroup-map-to-threads{threads=0}))'

// expected-error@+1 {{'threads' is 0, but a block has from 1 to 1024}}
func.func @none() {
  return
}
