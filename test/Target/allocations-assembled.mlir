// REQUIRES: package, ptxas
// RUN: %pipeline compile %S/allocations.mlir --chip sm_80 --emit cubin -o %t.80
// RUN: %pipeline compile %S/allocations.mlir --chip sm_90a --emit cubin -o %t.90a
// RUN: %pipeline compile %S/buffers.mlir --chip sm_80 --emit cubin -o %t.buffers

// What becomes of allocations in workgroup memory is taken by ptxas.
