// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target)' --split-input-file | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target)' --split-input-file -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-attach-target)' --split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

// Without a word about the chip it is the default one; each module gets it.
// CHECK-LABEL: func.func @no_target
// CHECK:       gpu.module @one [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">]
// CHECK:       gpu.module @two [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">]
func.func @no_target() {
  return
}
gpu.module @one {
}
gpu.module @two {
}

// -----

// A module that has a target keeps it, with its options; a target of another vendor
// is none.
// CHECK-LABEL: func.func @targets
// CHECK:       gpu.module @old [#nvvm.target<chip = "sm_90a", flags = {fast}>]
// CHECK:       gpu.module @foreign [#rocdl.target, #nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">]
func.func @targets() {
  return
}
gpu.module @old [#nvvm.target<chip = "sm_90a", flags = {fast}>] {
}
gpu.module @foreign [#rocdl.target] {
}

// -----

// On the host there is nothing to do.
// CHECK-LABEL: func.func @no_kernels
// CHECK-NOT:   #nvvm.target
func.func @no_kernels() {
  return
}
