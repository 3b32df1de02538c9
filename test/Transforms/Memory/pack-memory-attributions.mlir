// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice

// What becomes of the arguments of kernels: packed attributions go, all others
// keep their order, their types and their attributes.
gpu.module @kernels {
  // Buffers with gaps, of which upstream reserves too little, of no known size and
  // in other memory stay, for workgroup-verify-kernels to refuse.
  // CHECK-LABEL: gpu.func @kept(
  // CHECK-SAME:    %{{.+}}: index, %{{.+}}: f32)
  // CHECK-SAME:    workgroup(%[[GAPS:[a-z0-9]+]] : memref<8x8xf32, strided<[16, 1]>, 3> {llvm.align = 32 : i64}, %[[OFFSET:[a-z0-9]+]] : memref<4xf32, strided<[1], offset: 8>, 3>, %[[MAP:[a-z0-9]+]] : memref<64xf32, #{{.+}}, 3>, %[[DYNAMIC:[a-z0-9]+]] : memref<?xf32, 3> {llvm.align = 64 : i64}, %[[EMPTY:[a-z0-9]+]] : memref<0xf32, 3>, %[[GLOBAL:[a-z0-9]+]] : memref<4xf32>, %[[ARENA:[a-z0-9]+]] : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-SAME:    private(%[[PRIVATE:[a-z0-9]+]] : memref<4xf32, #gpu.address_space<private>> {llvm.align = 8 : i64}) kernel
  // CHECK:         %[[A:.+]] = memref.view %[[ARENA]]
  // CHECK:         %[[B:.+]] = memref.view %[[ARENA]]
  // CHECK:         memref.store %{{.+}}, %[[A]]
  // CHECK:         gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[B]]
  // CHECK:         memref.store %{{.+}}, %[[GAPS]]
  // CHECK:         memref.store %{{.+}}, %[[OFFSET]]
  // CHECK:         memref.store %{{.+}}, %[[MAP]]
  // CHECK:         memref.store %{{.+}}, %[[DYNAMIC]]
  // CHECK:         memref.store %{{.+}}, %[[EMPTY]]
  // CHECK:         memref.store %{{.+}}, %[[GLOBAL]]
  // CHECK:         memref.store %{{.+}}, %[[PRIVATE]]
  gpu.func @kept(%i: index, %v: f32)
      workgroup(%gaps: memref<8x8xf32, strided<[16, 1]>, 3> {llvm.align = 32 : i64},
                %a: memref<64xf32, 3>,
                %offset: memref<4xf32, strided<[1], offset: 8>, 3>,
                %map: memref<64xf32, affine_map<(d0) -> (d0 mod 4)>, 3>,
                %b: memref<64xf32, 3>,
                %dynamic: memref<?xf32, 3> {llvm.align = 64 : i64},
                %empty: memref<0xf32, 3>, %global: memref<4xf32>)
      private(%private: memref<4xf32, #gpu.address_space<private>> {llvm.align = 8 : i64}) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %gaps[%i, %i] : memref<8x8xf32, strided<[16, 1]>, 3>
    memref.store %v, %offset[%i] : memref<4xf32, strided<[1], offset: 8>, 3>
    memref.store %v, %map[%i] : memref<64xf32, affine_map<(d0) -> (d0 mod 4)>, 3>
    memref.store %v, %dynamic[%i] : memref<?xf32, 3>
    memref.store %v, %empty[%i] : memref<0xf32, 3>
    memref.store %v, %global[%i] : memref<4xf32>
    memref.store %v, %private[%i] : memref<4xf32, #gpu.address_space<private>>
    gpu.return
  }

  // A buffer that nobody uses takes no bytes where others are packed.
  // CHECK-LABEL: gpu.func @unused(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  gpu.func @unused(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %unused: memref<1024xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // All attributions gone, none left to write attributes for; arguments keep theirs.
  // CHECK-LABEL: gpu.func @to_global(
  // CHECK-SAME:    %{{.+}}: index {llvm.noundef}, %{{.+}}: f32) private(%{{.+}} : memref<4xf32, #gpu.address_space<private>>) kernel {
  // CHECK:         memref.get_global @to_global_arena
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @to_global(%i: index {llvm.noundef}, %v: f32)
      workgroup(%a: memref<64xf32, 3> {llvm.align = 64 : i64})
      private(%private: memref<4xf32, #gpu.address_space<private>>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @function(%i, %v) : (index, f32) -> ()
    memref.store %v, %private[%i] : memref<4xf32, #gpu.address_space<private>>
    gpu.return
  }
}

// The attributions of a launch carry no alignment: the arena is an allocation.
// CHECK-LABEL: func.func @launch(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%[[GAPS:.+]] : memref<16x4xf32, strided<[5, 1]>, 3>) private(%[[PRIVATE:.+]] : memref<4xf32, #gpu.address_space<private>>) {
// CHECK:           %[[ARENA:.+]] = memref.alloc() {alignment = 16 : i64} : memref<256xi8, #gpu.address_space<workgroup>>
// CHECK:           memref.view %[[ARENA]]
// CHECK:           memref.view %[[ARENA]]
// CHECK:           memref.store %{{.+}}, %[[GAPS]]
// CHECK:           memref.store %{{.+}}, %[[PRIVATE]]
func.func @launch(%v: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%a : memref<64xf32, 3>, %gaps : memref<16x4xf32, strided<[5, 1]>, 3>,
                       %b : memref<64xf32, 3>)
             private(%private : memref<4xf32, #gpu.address_space<private>>) {
    memref.store %v, %a[%tx] : memref<64xf32, 3>
    memref.store %v, %b[%tx] : memref<64xf32, 3>
    memref.store %v, %gaps[%tx, %tx] : memref<16x4xf32, strided<[5, 1]>, 3>
    memref.store %v, %private[%tx] : memref<4xf32, #gpu.address_space<private>>
    gpu.terminator
  }
  return
}
