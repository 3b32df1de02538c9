// REQUIRES: package
// RUN: %pipeline compile %s --emit schedule | FileCheck %s
// RUN: %pipeline compile %s --emit schedule | mlir-opt | FileCheck %s --check-prefix=PARSED
// RUN: %pipeline compile %s --emit schedule -o %t.mlir
// RUN: %pipeline compile %s --schedule %t.mlir -o %t.given.ptx
// RUN: %pipeline compile %s -o %t.auto.ptx
// RUN: diff %t.given.ptx %t.auto.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.auto.ptx

// A schedule is chosen for what has none: each operation ends in a function,
// which is tiled, and shared out to threads when tensors have become buffers.

!t = tensor<256x256xf32>

func.func @main(%a: !t, %b: !t, %bias: tensor<256xf32>) -> (!t, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %w = linalg.broadcast ins(%bias : tensor<256xf32>) outs(%e : !t) dimensions = [0]
  %s = linalg.add ins(%r, %w : !t, !t) outs(%e : !t) -> !t
  %v = tensor.empty() : tensor<256xf32>
  %y = linalg.fill ins(%zero : f32) outs(%v : tensor<256xf32>) -> tensor<256xf32>
  %q = linalg.reduce { arith.addf } ins(%s : !t) outs(%y : tensor<256xf32>) dimensions = [1]
  return %s, %q : !t, tensor<256xf32>
}

// CHECK:      // Chosen by mlir-workgroup {{.*}} for sm_80
// CHECK:      module attributes {transform.with_named_sequence}
// CHECK:      transform.named_sequence @__transform_main(%program: !any {transform.consumed})
// CHECK-NEXT: %[[PROGRAM:.+]] = transform.apply_registered_pass "workgroup-linalg-to-kernels" with options = {"assume-distinct-arguments" = true} to %program
// CHECK-NEXT: // @main_{{[01]}}_{{contraction|reduction}}:
// CHECK:      apply_registered_pass "workgroup-tile-kernel" with options = {"block" = [
// CHECK:      apply_registered_pass "workgroup-tile-kernel" with options = {"block" = [
// CHECK-NOT:  workgroup-tile-kernel
// CHECK:      %[[BUFFERS:.+]] = transform.apply_registered_pass "workgroup-bufferize" to %[[PROGRAM]]
// CHECK:      apply_registered_pass "workgroup-place-buffers"
// CHECK:      apply_registered_pass "workgroup-map-to-threads" with options = {"threads" = {{[0-9]+}}, "assume-alignment" = 16}
// CHECK:      apply_registered_pass "workgroup-form-launches" with options = {"threads" = [{{[0-9]+}}]}
// CHECK:      apply_registered_pass "inline" to %[[BUFFERS]]

// PARSED: transform.named_sequence @__transform_main
// PARSED: transform.apply_registered_pass "workgroup-stage-operands"

// PTX-COUNT-2: .entry
// PTX-NOT:     .entry
