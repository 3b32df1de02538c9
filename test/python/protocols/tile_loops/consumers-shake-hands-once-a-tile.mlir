module attributes {gpu.container_module} {
gpu.module @k {
memref.global "private" @buf : memref<32xf32, #gpu.address_space<workgroup>> {alignment = 16 : i64}
gpu.func @k(%out: memref<32xf32>, %n: index, %m: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c31 = arith.constant 31 : index
  %t = arith.constant 10000000 : index
  %f = arith.constant 1.0 : f32
  %false = arith.constant false
  %true = arith.constant true
  %tx = gpu.thread_id x
  %lane = arith.remui %tx, %c32 : index
  %buf = memref.get_global @buf : memref<32xf32, #gpu.address_space<workgroup>>
  %full = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
  %empty = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
  %g = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
  %is0 = arith.cmpi eq, %tx, %c0 : index
  scf.if %is0 {
    nvgpu.mbarrier.init %full[%c0], %c32 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
    nvgpu.mbarrier.init %empty[%c0], %c32 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
    nvgpu.mbarrier.init %g[%c0], %c32 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
    nvvm.fence.mbarrier.init
  }
  gpu.barrier
  %isp = arith.cmpi ult, %tx, %c32 : index
  %other = arith.subi %c31, %lane : index
  scf.for %tile = %c0 to %n step %c1 {
    scf.if %isp {
      scf.for %i = %c0 to %m step %c1 {
        memref.store %f, %buf[%lane] : memref<32xf32, #gpu.address_space<workgroup>>
        %t1 = nvgpu.mbarrier.arrive %full[%c0] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1> -> !nvgpu.mbarrier.token
        nvgpu.mbarrier.try_wait.parity %empty[%c0], %false, %t : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
        memref.store %f, %buf[%lane] : memref<32xf32, #gpu.address_space<workgroup>>
        %t2 = nvgpu.mbarrier.arrive %full[%c0] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1> -> !nvgpu.mbarrier.token
        nvgpu.mbarrier.try_wait.parity %empty[%c0], %true, %t : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
      }
    } else {
      %u = nvgpu.mbarrier.arrive %g[%c0] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1> -> !nvgpu.mbarrier.token
      nvgpu.mbarrier.try_wait.parity %g[%c0], %false, %t : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
      scf.for %i = %c0 to %m step %c1 {
        nvgpu.mbarrier.try_wait.parity %full[%c0], %false, %t : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
        %v = memref.load %buf[%other] : memref<32xf32, #gpu.address_space<workgroup>>
        memref.store %v, %out[%lane] : memref<32xf32>
        %t1 = nvgpu.mbarrier.arrive %empty[%c0] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1> -> !nvgpu.mbarrier.token
        nvgpu.mbarrier.try_wait.parity %full[%c0], %true, %t : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
        %v2 = memref.load %buf[%other] : memref<32xf32, #gpu.address_space<workgroup>>
        memref.store %v2, %out[%lane] : memref<32xf32>
        %t2 = nvgpu.mbarrier.arrive %empty[%c0] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 1> -> !nvgpu.mbarrier.token
      }
    }
  }
  gpu.return
}
}
func.func @main(%out: memref<32xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @k::@k blocks in (%c1,%c1,%c1) threads in (%c64,%c1,%c1) args(%out : memref<32xf32>, %n : index, %m : index)
  return
}
}
