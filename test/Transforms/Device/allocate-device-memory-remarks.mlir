// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// A remark for each buffer, and for each copy.
func.func @main(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{[Passed] Mirrored | Category:workgroup-allocate-device-memory | Function=main | Remark="buffer got a mirror in memory of the device"}}
  %a = memref.alloc() : memref<4xf32>
  // expected-remark @+1 {{[Passed] Moved | Category:workgroup-allocate-device-memory | Function=main | Remark="buffer moved to memory of the device"}}
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  // expected-remark @+1 {{[Passed] Copied | Category:workgroup-allocate-device-memory | Function=main | Remark="copied to the device before 'scf.for', in which launches may need it"}}
  scf.for %s = %c0 to %n step %c1 {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
      %f = memref.load %a[%i] : memref<4xf32>
      memref.store %f, %b[%i] : memref<4xf32>
      %g = arith.addf %f, %f : f32
      memref.store %g, %a[%i] : memref<4xf32>
      gpu.terminator
    }
  }
  // expected-remark @+1 {{[Passed] Copied | Category:workgroup-allocate-device-memory | Function=main | Remark="copied to the host before 'memref.load', which may need it there"}}
  %y = memref.load %a[%c0] : memref<4xf32>
  return %y : f32
}
