// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory,workgroup-hoist-allocs{insert-barriers=true},workgroup-lower-dynamic-memory,workgroup-verify-kernels)' -o /dev/null

// Allocations of functions, and of loops of blocks, that are too large for static
// memory go to dynamic memory as those of kernels do.
// CHECK:         memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>>
// CHECK-LABEL:   func.func @function(
// CHECK:           memref.get_global @dynamic_workgroup_memory
// CHECK:           %[[BUFFER:.+]] = memref.view %{{.+}} : memref<80000xi8, #gpu.address_space<workgroup>> to memref<20000xf32
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store %{{.+}}, %[[BUFFER]]
// CHECK-LABEL:   gpu.func @kernel(
// CHECK:           memref.get_global @dynamic_workgroup_memory
// CHECK:           cf.br ^{{.+}}
// CHECK-NEXT:    ^
// CHECK-NEXT:      memref.view %{{.+}} : memref<80000xi8, #gpu.address_space<workgroup>> to memref<16000xf32
// CHECK:           gpu.barrier
// CHECK-NEXT:      memref.store
// CHECK:         dynamic_shared_memory_size %{{.+}}
module attributes {gpu.container_module} {
gpu.module @kernels {
  func.func @function(%i: index, %v: f32) {
    %a = memref.alloc() : memref<20000xf32, 3>
    memref.store %v, %a[%i] : memref<20000xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    func.call @function(%i, %v) : (index, f32) -> ()
    %size = affine.min affine_map<(d0) -> (d0, 16000)>(%n)
    cf.br ^loop(%c0 : index)
  ^loop(%iteration: index):
    %b = memref.alloc(%size) : memref<?xf32, 3>
    memref.store %v, %b[%i] : memref<?xf32, 3>
    %next = arith.addi %iteration, %c1 : index
    %more = arith.cmpi slt, %next, %n : index
    cf.cond_br %more, ^loop(%next : index), ^done
  ^done:
    gpu.return
  }
}
func.func @host(%i: index, %v: f32, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%i : index, %v : f32, %n : index)
  return
}
}
