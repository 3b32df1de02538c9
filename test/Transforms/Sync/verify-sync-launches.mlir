// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// What is known at the launches holds in the kernel: how many threads there are ...
module attributes {gpu.container_module} {
func.func @main(%x: f32) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @sizes::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : f32)
  return
}
gpu.module @sizes {
  gpu.func @k(%x: f32) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %u = arith.addi %t, %c32 : index
    memref.store %x, %S[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %x, %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// ... which two launches have to agree about ...
module attributes {gpu.container_module} {
func.func @main(%x: f32) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @sizes::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : f32)
  gpu.launch_func @sizes::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : f32)
  return
}
gpu.module @sizes {
  gpu.func @k(%x: f32) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %u = arith.addi %t, %c32 : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-warning @+1 {{possible data race on workgroup memory}}
    memref.store %x, %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// ... and what memory arguments are: here no other.
module attributes {gpu.container_module} {
func.func @main(%a: memref<128xf32> {llvm.noalias}, %b: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c = gpu.alloc () : memref<128xf32>
  gpu.launch_func @aliases::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%a : memref<128xf32>, %b : memref<128xf32>)
  gpu.launch_func @aliases::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%c : memref<128xf32>, %b : memref<128xf32>)
  return
}
gpu.module @aliases {
  gpu.func @k(%in: memref<128xf32>, %out: memref<128xf32>) kernel {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %x = memref.load %in[%t] : memref<128xf32>
    memref.store %x, %out[%u] : memref<128xf32>
    gpu.return
  }
}
}

// -----

// One launch with the same memory for both is enough for a race.
module attributes {gpu.container_module} {
func.func @main(%a: memref<128xf32> {llvm.noalias}, %b: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch_func @aliases::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%a : memref<128xf32>, %b : memref<128xf32>)
  gpu.launch_func @aliases::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%b : memref<128xf32>, %b : memref<128xf32>)
  return
}
gpu.module @aliases {
  gpu.func @k(%in: memref<128xf32>, %out: memref<128xf32>) kernel {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    %x = memref.load %in[%t] : memref<128xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    memref.store %x, %out[%u] : memref<128xf32>
    gpu.return
  }
}
}

// -----

// A tensor map is the memory that it is made of.
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
func.func @main(%a: memref<128xf32> {llvm.noalias}, %b: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %whole = memref.cast %a : memref<128xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %whole box[%c128] : memref<*xf32> -> !map
  gpu.launch_func @maps::@other blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%map : !map, %b : memref<128xf32>)
  gpu.launch_func @maps::@same blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%map : !map, %a : memref<128xf32>)
  return
}
gpu.module @maps {
  gpu.func @other(%map: !map, %out: memref<128xf32>)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %is0 = arith.cmpi eq, %t, %c0 : index
    %bars = nvgpu.mbarrier.create -> !bars
    nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is0 : !bars
    nvvm.fence.mbarrier.init
    gpu.barrier
    scf.if %is0 {
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c512 : !bars
      nvgpu.tma.async.load %map[%c0], %bars[%c0] to %S : !map, !bars -> memref<128xf32, #gpu.address_space<workgroup>>
    }
    memref.store %f, %out[%t] : memref<128xf32>
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    gpu.return
  }
  gpu.func @same(%map: !map, %out: memref<128xf32>)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %is0 = arith.cmpi eq, %t, %c0 : index
    %bars = nvgpu.mbarrier.create -> !bars
    nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is0 : !bars
    nvvm.fence.mbarrier.init
    gpu.barrier
    scf.if %is0 {
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c512 : !bars
      // expected-note @+1 {{the other access}}
      nvgpu.tma.async.load %map[%c0], %bars[%c0] to %S : !map, !bars -> memref<128xf32, #gpu.address_space<workgroup>>
    }
    // expected-warning @+1 {{possible data race on global memory}}
    memref.store %f, %out[%t] : memref<128xf32>
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    gpu.return
  }
}
}

// -----

// Who launches chooses both numbers ...
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @chosen::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<64xf32>, %n : index, %m : index)
  return
}
gpu.module @chosen {
  gpu.func @k(%out: memref<64xf32>, %n: index, %m: index) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %x = memref.load %out[%t] : memref<64xf32>
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %isMore = arith.cmpi sgt, %m, %n : index
    scf.if %isMore {
      // expected-error @+1 {{data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xf32>
    }
    gpu.return
  }
}
}

// -----

// ... or the host computes one, which may be less than the other.
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %half = arith.divui %n, %c2 : index
  gpu.launch_func @computed::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<64xf32>, %n : index, %half : index)
  return
}
gpu.module @computed {
  gpu.func @k(%out: memref<64xf32>, %n: index, %m: index) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %x = memref.load %out[%t] : memref<64xf32>
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %isMore = arith.cmpi sgt, %m, %n : index
    scf.if %isMore {
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xf32>
    }
    gpu.return
  }
}
}

// -----

// ... or passes the same one twice.
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @twice::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<64xf32>, %n : index, %n : index)
  return
}
gpu.module @twice {
  gpu.func @k(%out: memref<64xf32>, %n: index, %m: index) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %x = memref.load %out[%t] : memref<64xf32>
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %isMore = arith.cmpi sgt, %m, %n : index
    scf.if %isMore {
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xf32>
    }
    gpu.return
  }
}
}

// -----

// What was allocated later is no other buffer that was there before, wherever that comes from.
module attributes {gpu.container_module} {
func.func @main(%a: memref<128xf32>, %from: i1) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %b = scf.if %from -> memref<128xf32> {
    %new = memref.alloc() : memref<128xf32>
    scf.yield %new : memref<128xf32>
  } else {
    scf.yield %a : memref<128xf32>
  }
  %c = memref.alloc() : memref<128xf32>
  gpu.launch_func @newer::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%b : memref<128xf32>, %c : memref<128xf32>)
  return
}
gpu.module @newer {
  gpu.func @k(%a: memref<128xf32>, %b: memref<128xf32>) kernel {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %v = memref.load %a[%u] : memref<128xf32>
    memref.store %v, %b[%t] : memref<128xf32>
    gpu.return
  }
}
}

// -----

// One that was allocated before may be it.
module attributes {gpu.container_module} {
func.func @main(%a: memref<128xf32>, %from: i1) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c = memref.alloc() : memref<128xf32>
  %b = scf.if %from -> memref<128xf32> {
    scf.yield %c : memref<128xf32>
  } else {
    scf.yield %a : memref<128xf32>
  }
  gpu.launch_func @older::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%b : memref<128xf32>, %c : memref<128xf32>)
  return
}
gpu.module @older {
  gpu.func @k(%a: memref<128xf32>, %b: memref<128xf32>) kernel {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %a[%u] : memref<128xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    memref.store %v, %b[%t] : memref<128xf32>
    gpu.return
  }
}
}

// -----

// Nobody writes to a constant by another name.
module attributes {gpu.container_module} {
memref.global "private" constant @table : memref<128xf32> = dense<1.0>
func.func @main(%a: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %b = memref.get_global @table : memref<128xf32>
  gpu.launch_func @constant::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%b : memref<128xf32>, %a : memref<128xf32>)
  return
}
gpu.module @constant {
  gpu.func @k(%a: memref<128xf32>, %b: memref<128xf32>) kernel {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %v = memref.load %a[%u] : memref<128xf32>
    memref.store %v, %b[%t] : memref<128xf32>
    gpu.return
  }
}
}

// -----

// Nobody asks for y, but the launch, of a number of threads that is not known
// along x, has four of them there,
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch_func @four::@k blocks in (%c1, %c1, %c1) threads in (%n, %c4, %c1) args(%out : memref<64xf32>)
  return
}
gpu.module @four {
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %v = memref.load %out[%t] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    // expected-warning @+2 {{possible data race on}}
    // expected-note @+1 {{the other access}}
    memref.store %w, %out[%t] : memref<64xf32>
    gpu.return
  }
}
}

// -----

// or as many as the host says,
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @any::@k blocks in (%c1, %c1, %c1) threads in (%n, %m, %c1) args(%out : memref<64xf32>)
  return
}
gpu.module @any {
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %c = arith.constant 1.0 : f32
    // expected-note @+1 {{the other access}}
    %v = memref.load %out[%t] : memref<64xf32>
    %w = arith.addf %v, %c : f32
    // expected-warning @+2 {{it takes a block of 1 x 2 x 1 threads or more}}
    // expected-note @+1 {{the other access}}
    memref.store %w, %out[%t] : memref<64xf32>
    gpu.return
  }
}
}

// -----

// or one launch of two has four. Blocks likewise: here it is certain.
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @blocks::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64xf32>)
  gpu.launch_func @blocks::@k blocks in (%n, %c4, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64xf32>)
  gpu.launch_func @blocks_of_one::@k blocks in (%n, %c4, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64xf32>)
  gpu.launch_func @one::@k blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%out : memref<64xf32>)
  return
}
gpu.module @blocks {
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %v = memref.load %out[%t] : memref<64xf32>
    // expected-warning @+2 {{it takes several blocks along}}
    // expected-note @+1 {{the other access}}
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}
gpu.module @blocks_of_one {
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %v = memref.load %out[%t] : memref<64xf32>
    // expected-error @+2 {{cannot synchronize}}
    // expected-note @+1 {{the other access}}
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}
// One there is what all launches say.
gpu.module @one {
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %out[%t] : memref<64xf32>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}
}

// -----

// The same before outlining.
func.func @main(%out: memref<64xf32>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %n, %dy = %m, %dz = %c1) {
    // expected-note @+1 {{the other access}}
    %v = memref.load %out[%tx] : memref<64xf32>
    // expected-warning @+2 {{it takes a block of 1 x 2 x 1 threads or more}}
    // expected-note @+1 {{the other access}}
    memref.store %v, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// The most blocks of all launches are too few.
module attributes {gpu.container_module} {
func.func @main(%out: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @few::@k blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64xf32>, %x : f32)
  gpu.launch_func @few::@k blocks in (%c8, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64xf32>, %x : f32)
  return
}
gpu.module @few {
  gpu.func @k(%out: memref<64xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %b = gpu.block_id x
    %is = arith.cmpi uge, %b, %c8 : index
    scf.if %is {
      memref.store %x, %out[%c0] : memref<64xf32>
      %v = memref.load %out[%c0] : memref<64xf32>
      memref.store %v, %out[%c8] : memref<64xf32>
    }
    gpu.return
  }
}
}

// -----

// Constants that all launches pass are known in the kernel: how far a loop goes, by which steps, and where it writes ...
module attributes {gpu.container_module} {
func.func @main(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @constants::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %c0 : index, %c64 : index, %c32 : index)
  gpu.launch_func @constants::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %c0 : index, %c64 : index, %c32 : index)
  return
}
gpu.module @constants {
  gpu.func @k(%x: memref<32xf32> {llvm.noalias}, %from: index, %to: index, %step: index) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    scf.for %i = %from to %to step %step {
      %u = arith.addi %i, %t : index
      %v = memref.load %x[%t] : memref<32xf32>
      memref.store %v, %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
}

// -----

// ... but not if one of them passes another.
module attributes {gpu.container_module} {
func.func @main(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @constants::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %c0 : index, %c64 : index, %c32 : index)
  gpu.launch_func @constants::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %c0 : index, %c64 : index, %c31 : index)
  return
}
gpu.module @constants {
  gpu.func @k(%x: memref<32xf32> {llvm.noalias}, %from: index, %to: index, %step: index) workgroup(%S: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    scf.for %i = %from to %to step %step {
      %u = arith.addi %i, %t : index
      %v = memref.load %x[%t] : memref<32xf32>
      // expected-note @below {{the other access}}
      // expected-warning @below {{possible data race on workgroup memory}}
      memref.store %v, %S[%u] : memref<64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
}
