// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=4 max-bytes=4096})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Which copies join a ring and which do not, and why.

#wg = #gpu.address_space<workgroup>

gpu.module @kernels {
  gpu.func @joins(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{[Passed] FormedRing | Category:workgroup-form-rings | Function=joins | Remark="copies of a loop made a ring", Slots=4, Tiles=1}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @written_source(%a: memref<512xf32>, %b: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{[Missed] NotInRing | Category:workgroup-form-rings | Function=written_source | Reason="'memref.store' of line }}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @atomic(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'memref.atomic_rmw' of line }}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      %old = memref.atomic_rmw addf %v, %b[%x] : (f32, memref<64xf32>) -> f32
    }
    gpu.return
  }
  gpu.func @carried_source(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    %last = scf.for %k = %c0 to %c64 step %c3 iter_args(%at = %c0) -> (index) {
      %s = memref.subview %a[%at] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="its source depends on more than the iteration"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
      %next = arith.addi %at, %c3 : index
      scf.yield %next : index
    }
    gpu.return
  }
  gpu.func @read_before(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'memref.load' of line }}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @used_after(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'memref.load' of line }}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
    }
    %v = memref.load %w[%x] : memref<64xf32, #wg>
    memref.store %v, %b[%x] : memref<64xf32>
    gpu.return
  }
  gpu.func @written_by_others(%a: memref<512xf32>, %f: f32, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'memref.store' of line }}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      memref.store %f, %w[%x] : memref<64xf32, #wg>
      gpu.barrier
      %v = memref.load %w[%c0] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @unread(%a: memref<512xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="nothing reads its buffer"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @part(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [32] [1] : memref<512xf32> to memref<32xf32, strided<[1], offset: ?>>
      %p = memref.subview %w[0] [32] [1] : memref<64xf32, #wg> to memref<32xf32, strided<[1]>, #wg>
      // expected-remark @+1 {{Reason="it fills only a part of its buffer"}}
      memref.copy %s, %p : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1]>, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @not_zero(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %f = arith.constant 1.0 : f32
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [32] [1] : memref<512xf32> to memref<32xf32, strided<[1], offset: ?>>
      %p = memref.subview %w[0] [32] [1] : memref<64xf32, #wg> to memref<32xf32, strided<[1]>, #wg>
      linalg.fill ins(%f : f32) outs(%w : memref<64xf32, #wg>)
      // expected-remark @+1 {{Reason="'linalg.fill' of line }}
      memref.copy %s, %p : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1]>, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @divergent(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %x step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="not all threads of the block execute it together with the same operands"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @one_iteration(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c64 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="the loop has no two iterations", Remark="copies that do not run ahead of their loop"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @too_large(%a: memref<8192xf32>, %b: memref<640xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c640 = arith.constant 640 : index
    %c6400 = arith.constant 6400 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<640xf32, #wg>
    scf.for %k = %c0 to %c6400 step %c640 {
      %s = memref.subview %a[%k] [640] [1] : memref<8192xf32> to memref<640xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="two slots take more workgroup memory than there is"}}
      memref.copy %s, %w : memref<640xf32, strided<[1], offset: ?>> to memref<640xf32, #wg>
      %v = memref.load %w[%x] : memref<640xf32, #wg>
      memref.store %v, %b[%x] : memref<640xf32>
    }
    gpu.return
  }
  gpu.func @fewer_slots(%a: memref<8192xf32>, %b: memref<320xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c320 = arith.constant 320 : index
    %c6400 = arith.constant 6400 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<320xf32, #wg>
    scf.for %k = %c0 to %c6400 step %c320 {
      %s = memref.subview %a[%k] [320] [1] : memref<8192xf32> to memref<320xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Slots=3, Tiles=1}}
      memref.copy %s, %w : memref<320xf32, strided<[1], offset: ?>> to memref<320xf32, #wg>
      %v = memref.load %w[%x] : memref<320xf32, #wg>
      memref.store %v, %b[%x] : memref<320xf32>
    }
    gpu.return
  }
  gpu.func @conversion(%a: memref<512xf16>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf16> to memref<64xf16, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="it converts elements"}}
      linalg.copy ins(%s : memref<64xf16, strided<[1], offset: ?>>) outs(%w : memref<64xf32, #wg>)
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @dynamic(%a: memref<512xf32>, %n: index, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc(%n) : memref<?xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [%n] [1] : memref<512xf32> to memref<?xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="its target is no row-major buffer of the kernel of constant extents"}}
      memref.copy %s, %w : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, #wg>
      %v = memref.load %w[%x] : memref<?xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @aligned(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() {alignment = 128 : i64} : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="its buffer asks for more alignment than 16 bytes"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @ragged_vectors(%a: memref<8x64xvector<4xf32>>, %n: index, %b: memref<64xvector<4xf32>> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<8x16xvector<4xf32>, #wg>
    scf.for %k = %c0 to %c64 step %c16 {
      %s = memref.subview %a[0, %k] [%n, 16] [1, 1] : memref<8x64xvector<4xf32>> to memref<?x16xvector<4xf32>, strided<[64, 1], offset: ?>>
      %p = memref.subview %w[0, 0] [%n, 16] [1, 1] : memref<8x16xvector<4xf32>, #wg> to memref<?x16xvector<4xf32>, strided<[16, 1]>, #wg>
      linalg.fill ins(%zero : vector<4xf32>) outs(%w : memref<8x16xvector<4xf32>, #wg>)
      // expected-remark @+1 {{Reason="only tiles of numbers can be filled with zeros"}}
      memref.copy %s, %p : memref<?x16xvector<4xf32>, strided<[64, 1], offset: ?>> to memref<?x16xvector<4xf32>, strided<[16, 1]>, #wg>
      %v = memref.load %w[%c0, %x] : memref<8x16xvector<4xf32>, #wg>
      memref.store %v, %b[%x] : memref<64xvector<4xf32>>
    }
    gpu.return
  }
  // All of the tile is copied: nothing is left to be filled.
  gpu.func @whole_vectors(%a: memref<512xvector<4xf32>>, %b: memref<64xvector<4xf32>> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<16xvector<4xf32>, #wg>
    scf.for %k = %c0 to %c64 step %c16 {
      %s = memref.subview %a[%k] [16] [1] : memref<512xvector<4xf32>> to memref<16xvector<4xf32>, strided<[1], offset: ?>>
      linalg.fill ins(%zero : vector<4xf32>) outs(%w : memref<16xvector<4xf32>, #wg>)
      // expected-remark @+1 {{Slots=4, Tiles=1}}
      memref.copy %s, %w : memref<16xvector<4xf32>, strided<[1], offset: ?>> to memref<16xvector<4xf32>, #wg>
      %v = memref.load %w[%x] : memref<16xvector<4xf32>, #wg>
      memref.store %v, %b[%x] : memref<64xvector<4xf32>>
    }
    gpu.return
  }
  // Threads of the block alone meet at barriers, none of which writes a source; fences may be
  // how one block waits for another.
  gpu.func @barriers(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{FormedRing}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      gpu.barrier
      %all = arith.constant -1 : i32
      nvvm.bar.warp.sync %all : i32
      %id = arith.constant 1 : i32
      %count = arith.constant 64 : i32
      nvvm.barrier id = %id number_of_threads = %count
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @fence(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'llvm.fence' of line}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      llvm.fence syncscope("agent") seq_cst
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @memory_barrier(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'nvvm.memory.barrier' of line}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      nvvm.memory.barrier <gpu>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @proxy_fence(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'nvvm.fence.proxy' of line}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @cluster(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'nvvm.cluster.wait' of line}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      nvvm.cluster.wait
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @called(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="'func.call' of line}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      func.call @function() : () -> ()
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @sometimes(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      %is_first = arith.cmpi eq, %k, %c0 : index
      scf.if %is_first {
        // expected-remark @+1 {{Reason="it stands in 'scf.if' of line }}
        memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      }
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
  func.func private @function()
}
