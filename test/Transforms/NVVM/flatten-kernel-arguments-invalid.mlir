// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' --split-input-file --verify-diagnostics

// A memref of unknown rank has no fixed number of extents.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has an unranked memref as argument 1, whose shape no launch can pass; cast it to a ranked type}}
  gpu.func @unranked(%i: index, %a: memref<*xf32>) kernel {
    gpu.return
  }
}

// -----

// A layout that no strides describe.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument 0 of type 'memref<16xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>' with a layout that is not strided; normalize its layout map}}
  gpu.func @tiled(%a: memref<16xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>) kernel {
    gpu.return
  }
}

// -----

// In functions that kernels call as well; those of the host, and declarations, may
// have any argument.
func.func @host(%a: memref<*xf32>) {
  return
}
gpu.module @kernels {
  func.func private @declared(memref<*xf32>)
  // expected-error @+1 {{'func.func' op has an unranked memref as argument 0}}
  func.func @called(%a: memref<*xf32>) {
    return
  }
}

// -----

// What LLVM has no form of.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument 0 of type '!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>', which has no form in LLVM; pass numbers, vectors, memrefs and tensor maps}}
  gpu.func @barriers(%b: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

// A box of which only the kernel would know the extents.
!tile = memref<64x?xf32, 3>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument 0 of type '!nvgpu.tensormap.descriptor<tensor = memref<64x?xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>', a tensor map whose box has dynamic extents; make them static}}
  gpu.func @descriptor(%map: !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = none, l2promo = none, oob = zero, interleave = none>) kernel {
    gpu.return
  }
}

// -----

// A pointer carries no extent back to the caller.
gpu.module @kernels {
  // expected-error @+1 {{'func.func' op returns a memref of type 'memref<?xf32>', whose extents and layout a pointer cannot carry; inline the function}}
  func.func @returns(%a: memref<?xf32>) -> memref<?xf32> {
    return %a : memref<?xf32>
  }
}

// -----

// Who calls by value cannot be changed along. What takes no memref may be called
// by value.
gpu.module @kernels {
  func.func private @scalar(%x: f32) { return }
  func.func private @called(%a: memref<8xf32>) { return }
  gpu.func @indirect(%a: memref<8xf32>, %x: f32) kernel {
    %0 = func.constant @scalar : (f32) -> ()
    func.call_indirect %0(%x) : (f32) -> ()
    // expected-error @+1 {{'func.constant' op refers to 'called', whose memrefs and tensor maps become pointers; call it directly}}
    %1 = func.constant @called : (memref<8xf32>) -> ()
    func.call_indirect %1(%a) : (memref<8xf32>) -> ()
    gpu.return
  }
}

// -----

// Nor of its elements.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument 0 of type 'memref<4xtf32>', whose elements have no form in LLVM; store them as integers of the same width}}
  gpu.func @elements(%a: memref<4xtf32>) kernel {
    gpu.return
  }
}
