// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-copies)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What stays in the loop, and why; the first one does not.

#wg = #gpu.address_space<workgroup>

gpu.module @kernels {
  gpu.func @hoisted(%a: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{[Passed] Hoisted | Category:workgroup-hoist-copies | Function=hoisted | Remark="copy hoisted out of a loop that does not change its source"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @written_source(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{[Missed] NotHoisted | Category:workgroup-hoist-copies | Function=written_source | Reason="the loop may write its source", Remark="copy of the same elements in every iteration of a loop"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      memref.store %x, %b[%i] : memref<64xf32>
    }
    gpu.return
  }
  gpu.func @written_by_linalg(%a: memref<64xf32>, %b: memref<64xf16>, %n: index)
      workgroup(%v: memref<64xf32, #wg>, %w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write its source"}}
      memref.copy %a, %v : memref<64xf32> to memref<64xf32, #wg>
      linalg.copy ins(%v : memref<64xf32, #wg>) outs(%b : memref<64xf16>)
    }
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      linalg.fill ins(%zero : f32) outs(%w : memref<64xf32, #wg>)
    }
    gpu.return
  }
  gpu.func @unknown(%a: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="there is an atomic or an unknown operation in the loop"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      func.call @anything() : () -> ()
    }
    gpu.return
  }
  func.func private @anything()
  gpu.func @barrier_before(%a: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      // expected-remark @+1 {{Reason="a barrier comes before it in the iteration"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @atomic_before(%a: memref<64xf32>, %flags: memref<64xi32> {llvm.noalias}, %one: i32, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %0 = memref.atomic_rmw addi %one, %flags[%i] : (i32, memref<64xi32>) -> i32
      // expected-remark @+1 {{Reason="there is an atomic or an unknown operation in the loop"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @written_buffer(%a: memref<64xf32>, %x: f32, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %part = memref.subview %w[8] [8] [1] : memref<64xf32, #wg> to memref<8xf32, strided<[1], offset: 8>, #wg>
      memref.store %x, %part[%i] : memref<8xf32, strided<[1], offset: 8>, #wg>
    }
    gpu.return
  }
  gpu.func @two_copies(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %b, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @read_before(%a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %w[%i] : memref<64xf32, #wg>
      memref.store %x, %out[%i] : memref<64xf32>
      // expected-remark @+1 {{Reason="the loop may read its buffer before"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  // An atomic after it is before the next iteration, and may let in what others wrote.
  gpu.func @atomic_after(%a: memref<64xf32>, %flags: memref<64xi32> {llvm.noalias}, %one: i32, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="there is an atomic or an unknown operation in the loop"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %0 = memref.atomic_rmw addi %one, %flags[%i] : (i32, memref<64xi32>) -> i32
    }
    gpu.return
  }
  // Other names of the buffer: the same global, a selection, what a call returns.
  memref.global "private" @table : memref<64xf32, #wg> = uninitialized
  gpu.func @same_global(%a: memref<64xf32>, %x: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %w = memref.get_global @table : memref<64xf32, #wg>
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %v = memref.get_global @table : memref<64xf32, #wg>
      memref.store %x, %v[%i] : memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @read_of_global(%a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %w = memref.get_global @table : memref<64xf32, #wg>
      %x = memref.load %w[%i] : memref<64xf32, #wg>
      memref.store %x, %out[%i] : memref<64xf32>
      // expected-remark @+1 {{Reason="the loop may read its buffer before"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @selected(%a: memref<64xf32>, %x: f32, %n: index, %c: i1)
      workgroup(%u: memref<64xf32, #wg>, %v: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %w = arith.select %c, %u, %v : memref<64xf32, #wg>
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write to its buffer"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      memref.store %x, %u[%i] : memref<64xf32, #wg>
    }
    gpu.return
  }
  func.func private @same(%w: memref<64xf32, #wg>) -> memref<64xf32, #wg> {
    return %w : memref<64xf32, #wg>
  }
  gpu.func @returned(%a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %u = func.call @same(%w) : (memref<64xf32, #wg>) -> memref<64xf32, #wg>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %u[%i] : memref<64xf32, #wg>
      memref.store %x, %out[%i] : memref<64xf32>
      // expected-remark @+1 {{Reason="the loop may read its buffer before"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @stored(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %box = memref.alloca() : memref<1xmemref<64xf32, #wg>>
    scf.for %i = %c0 to %n step %c1 {
      %w = memref.alloc() : memref<64xf32, #wg>
      // expected-remark @+1 {{Reason="the loop hands its buffer on to a later iteration"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      memref.store %w, %box[%c0] : memref<1xmemref<64xf32, #wg>>
    }
    gpu.return
  }
  gpu.func @deallocated_view(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %w = memref.alloc() : memref<64xf32, #wg>
      // expected-remark @+1 {{Reason="the loop deallocates its buffer by another name, or not in every iteration"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %v = memref.cast %w : memref<64xf32, #wg> to memref<?xf32, #wg>
      memref.dealloc %v : memref<?xf32, #wg>
    }
    gpu.return
  }
  // What might trap is not computed where the loop has no iteration.
  gpu.func @quotient(%a: memref<?xf32>, %n: index) workgroup(%w: memref<8xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %n step %c1 {
      %q = arith.divui %c64, %n : index
      %s = memref.subview %a[%q] [8] [1] : memref<?xf32> to memref<8xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="computing its operands may trap, and the loop may have no iteration"}}
      memref.copy %s, %w : memref<8xf32, strided<[1], offset: ?>> to memref<8xf32, #wg>
    }
    gpu.return
  }
  gpu.func @loaded(%a: memref<640xf32>, %x: memref<1xindex>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %q = memref.load %x[%c0] : memref<1xindex>
      %s = memref.subview %a[%q] [64] [1] : memref<640xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{Reason="an operand is loaded in the loop"}}
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
    }
    gpu.return
  }

  // Only loops that count are known to have iterations before they begin, ...
  gpu.func @while(%a: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.while (%i = %c0) : (index) -> index {
      %k = arith.cmpi ult, %i, %n : index
      scf.condition(%k) %i : index
    } do {
    ^bb0(%i: index):
      // expected-remark @+1 {{Reason="the loop is not one that counts"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %j = arith.addi %i, %c1 : index
      scf.yield %j : index
    }
    gpu.return
  }

  // ... and only branches that do nothing else can go along.
  gpu.func @branches(%a: memref<64xf32>, %b: memref<64xf32> {llvm.noalias}, %n: index, %c: i1)
      workgroup(%w: memref<64xf32, #wg>, %v: memref<64xf32, #wg>, %u: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = arith.constant 1.0 : f32
    scf.for %i = %c0 to %n step %c1 {
      scf.if %c {
        // expected-remark @+1 {{Reason="it is not executed in every iteration"}}
        memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
        memref.store %x, %b[%i] : memref<64xf32>
      }
      scf.if %c {
        // expected-remark @+1 {{Reason="it is not executed in every iteration"}}
        memref.copy %a, %v : memref<64xf32> to memref<64xf32, #wg>
      } else {
        memref.store %x, %b[%i] : memref<64xf32>
      }
      // Not the same in all iterations.
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
      }
    }
    gpu.return
  }

  // Iterations for different threads are no iterations.
  gpu.func @processors(%a: memref<64xf32>) workgroup(%w: memref<64xf32, #wg>) kernel {
    scf.forall (%i) in (64) {
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }

  gpu.func @handed_on(%a: memref<64xf32>, %n: index) workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %w) -> memref<64xf32, #wg> {
      %own = memref.alloc() : memref<64xf32, #wg>
      // expected-remark @+1 {{Reason="the loop hands its buffer on to a later iteration"}}
      memref.copy %a, %own : memref<64xf32> to memref<64xf32, #wg>
      scf.yield %own : memref<64xf32, #wg>
    }
    gpu.return
  }
  gpu.func @private(%n: index, %v: f32) workgroup(%w: memref<64xf32, #wg>) private(%p: memref<64xf32, #gpu.address_space<private>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Reason="the loop may write its source"}}
      memref.copy %w, %p : memref<64xf32, #wg> to memref<64xf32, #gpu.address_space<private>>
      memref.store %v, %w[%i] : memref<64xf32, #wg>
    }
    gpu.return
  }
  // 60000 bytes each: as long as they share, they may fit; side by side they do not.
  gpu.func @too_much(%a: memref<15000xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.alloc() : memref<15000xf32, #wg>
      // expected-remark @+1 {{Reason="its buffer would live longer than the memory allows"}}
      memref.copy %a, %u : memref<15000xf32> to memref<15000xf32, #wg>
      %v = memref.alloc() : memref<15000xf32, #wg>
      // expected-remark @+1 {{Reason="its buffer would live longer than the memory allows"}}
      memref.copy %a, %v : memref<15000xf32> to memref<15000xf32, #wg>
      %w = memref.alloc() : memref<15000xf32, #wg>
      // expected-remark @+1 {{Reason="its buffer would live longer than the memory allows"}}
      memref.copy %a, %w : memref<15000xf32> to memref<15000xf32, #wg>
    }
    gpu.return
  }
}
