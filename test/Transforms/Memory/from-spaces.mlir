// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=1:workgroup,2:private,7:global})' -o %t.sunk
// RUN: FileCheck %s --input-file=%t.sunk
// RUN: mlir-opt %t.sunk --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=1:workgroup,2:private,7:global})' | diff %t.sunk -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{from-spaces=1:workgroup,2:private,7:global})' -o %t.hoisted
// RUN: FileCheck %s --check-prefix=HOIST --input-file=%t.hoisted
// RUN: mlir-opt %t.hoisted --pass-pipeline='builtin.module(workgroup-hoist-allocs{from-spaces=1:workgroup,2:private,7:global})' | diff %t.hoisted -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{from-spaces=1:workgroup,3:private})' | FileCheck %s --check-prefix=TWO
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{from-spaces=1:workgroup,2:private,7:global})' | FileCheck %s --check-prefix=PIPELINE

// Numbers of other systems, wherever they stand: types of values, functions and
// globals, types in types, with any width of the number. Others keep theirs.
// CHECK:       memref.global "private" @table : memref<8xf32, #gpu.address_space<workgroup>> = uninitialized
// CHECK:       func.func private @declared(memref<*xf32, #gpu.address_space<workgroup>>, memref<4xmemref<4xf32, #gpu.address_space<private>>, #gpu.address_space<global>>) -> memref<4xf32, #gpu.address_space<private>>
// CHECK:       func.func @types(%{{.+}}: memref<8xf32, #gpu.address_space<global>>, %{{.+}}: memref<8xf32>, %{{.+}}: memref<8xf32, 3>, %{{.+}}: memref<8xf32, 4>)
// CHECK:         memref.subview {{.*}} : memref<8xf32, #gpu.address_space<global>> to memref<4xf32, strided<[1], offset: 2>, #gpu.address_space<global>>
// Respelled in one go: what was 1 is not taken for 3 afterwards.
// TWO:         func.func @types(%{{.+}}: memref<8xf32, 7 : i32>, %{{.+}}: memref<8xf32>, %{{.+}}: memref<8xf32, #gpu.address_space<private>>, %{{.+}}: memref<8xf32, 4>)
// TWO:         gpu.launch
// TWO:           memref<64xf32, #gpu.address_space<workgroup>>
memref.global "private" @table : memref<8xf32, 1> = uninitialized
func.func private @declared(memref<*xf32, 1 : i8>, memref<4xmemref<4xf32, 2>, 7 : i64>) -> memref<4xf32, 2 : index>
func.func @types(%g: memref<8xf32, 7 : i32>, %d: memref<8xf32>, %w: memref<8xf32, 3>, %o: memref<8xf32, 4>) {
  %part = memref.subview %g[2] [4] [1] : memref<8xf32, 7 : i32> to memref<4xf32, strided<[1], offset: 2>, 7 : i32>
  return
}

// What promotion leaves in such spaces: a tile of the block, a tile of each thread.
// CHECK-LABEL: func.func @promoted
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch
// CHECK-DAG:       %[[TILE:.+]] = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:       %[[OWN:.+]] = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK:           memref.get_global @table : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[TILE]]
// CHECK:           memref.store %{{.+}}, %[[OWN]]
// CHECK-NOT:     memref.dealloc
// PIPELINE:    gpu.func @promoted_kernel
// PIPELINE-SAME: workgroup(%{{.+}} : memref<{{.+}}, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// PIPELINE:      memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// PIPELINE-NOT:  memref.alloc(
func.func @promoted() {
  %c1 = arith.constant 1 : index
  %tile = memref.alloc() : memref<64xf32, 1>
  %own = memref.alloc() : memref<4xf32, 2>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %table = memref.get_global @table : memref<8xf32, 1>
    %x = memref.load %tile[%tx] : memref<64xf32, 1>
    %y = memref.load %table[%tx] : memref<8xf32, 1>
    %z = arith.addf %x, %y : f32
    memref.store %z, %own[%tx] : memref<4xf32, 2>
    gpu.terminator
  }
  memref.dealloc %tile : memref<64xf32, 1>
  memref.dealloc %own : memref<4xf32, 2>
  return
}

// In a kernel, `memref.alloc` of private memory would be a call of `malloc`, and
// an alloca in a loop would take more of the stack at each iteration.
// HOIST:       gpu.module @kernels
// CHECK:       gpu.module @kernels
gpu.module @kernels {
  // HOIST-LABEL: gpu.func @stack
  // HOIST-SAME:    workgroup(%[[TILE:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // HOIST-DAG:     %[[INNER:.+]] = memref.alloca() {alignment = 32 : i64} : memref<8xf32, #gpu.address_space<private>>
  // HOIST-DAG:     %[[FIRST:.+]] = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // HOIST:         scf.for
  // HOIST-NOT:       memref.alloc
  // HOIST:           memref.load %[[TILE]]
  // HOIST:           memref.store %{{.+}}, %[[INNER]]
  // HOIST:           memref.store %{{.+}}, %[[FIRST]]
  // HOIST-NOT:     memref.dealloc
  // CHECK-LABEL: gpu.func @stack
  // CHECK-DAG:     memref.alloca() {alignment = 32 : i64} : memref<8xf32, #gpu.address_space<private>>
  // CHECK-DAG:     memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // CHECK:         scf.for
  // CHECK:           memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.func @stack(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = memref.alloc() : memref<4xf32, 2>
    scf.for %i = %c0 to %n step %c1 {
      %tile = memref.alloc() : memref<64xf32, 1>
      %inner = memref.alloc() {alignment = 32 : i64} : memref<8xf32, 2>
      %x = memref.load %tile[%i] : memref<64xf32, 1>
      memref.store %x, %inner[%c0] : memref<8xf32, 2>
      %y = memref.load %inner[%c1] : memref<8xf32, 2>
      memref.store %y, %first[%c0] : memref<4xf32, 2>
      memref.dealloc %inner : memref<8xf32, 2>
      memref.dealloc %tile : memref<64xf32, 1>
    }
    memref.dealloc %first : memref<4xf32, 2>
    gpu.return
  }

  // The iterations of a parallel loop have one each: it stays with them. What a
  // branch chooses from is freed by none of them.
  // HOIST-LABEL: gpu.func @branches
  // HOIST-NEXT:    memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // HOIST-NEXT:    memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // HOIST-NOT:     memref.dealloc
  // HOIST:         scf.forall
  // HOIST-NEXT:      memref.alloca() : memref<2xf32, #gpu.address_space<private>>
  // HOIST-NEXT:      scf.for
  gpu.func @branches(%c: i1, %n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %chosen = scf.if %c -> memref<4xf32, 2> {
      %a = memref.alloc() : memref<4xf32, 2>
      scf.yield %a : memref<4xf32, 2>
    } else {
      %b = memref.alloca() : memref<4xf32, 2>
      scf.yield %b : memref<4xf32, 2>
    }
    memref.store %x, %chosen[%c0] : memref<4xf32, 2>
    memref.dealloc %chosen : memref<4xf32, 2>
    scf.forall (%i) in (%n) {
      scf.for %j = %c0 to %n step %c1 {
        %own = memref.alloc() : memref<2xf32, 2>
        memref.store %x, %own[%c1] : memref<2xf32, 2>
      }
    }
    gpu.return
  }

  // What the stack has no room for is allocated as before, and freed.
  // HOIST-LABEL: gpu.func @dynamic
  // HOIST:         memref.alloc(%{{.+}}) : memref<?xf32, #gpu.address_space<private>>
  // HOIST:         memref.dealloc
  gpu.func @dynamic(%n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloc(%n) : memref<?xf32, 2>
    memref.store %x, %a[%c0] : memref<?xf32, 2>
    memref.dealloc %a : memref<?xf32, 2>
    gpu.return
  }
}
