// RUN: mlir-opt %s --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(func.func(workgroup-map-to-threads{assume-alignment=24}))'

// expected-error@+1 {{assume-alignment must be a power of two, not 24}}
func.func @none() {
  return
}
