// RUN: mlir-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// Which memory an access may be of: every edge that a memref takes is followed.

gpu.module @views_upstream_loses {
  gpu.func @reinterpret_cast() workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %v = memref.reinterpret_cast %A to offset: [4], sizes: [8, 8], strides: [8, 1] : memref<128xf32, 3> to memref<8x8xf32, strided<[8, 1], offset: 4>, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 36*%thread_id_x + 16, 4 long; 0 <= %thread_id_x < 8}}
    %r = memref.load %v[%i, %i] : memref<8x8xf32, strided<[8, 1], offset: 4>, 3>
    // It counts from the buffer, not from where the view begins.
    %u = memref.subview %A[64] [64] [1] : memref<128xf32, 3> to memref<64xf32, strided<[1], offset: 64>, 3>
    %w = memref.reinterpret_cast %u to offset: [%i], sizes: [8], strides: [1] : memref<64xf32, strided<[1], offset: 64>, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 8*%thread_id_x, 4 long; 0 <= %thread_id_x < 8}}
    %s = memref.load %w[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
    gpu.return
  }
  gpu.func @select(%c: i1) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %v = arith.select %c, %A, %B : memref<128xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 or %arg2 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %r = memref.load %v[%i] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @memory_space_cast() workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %v = memref.memory_space_cast %A : memref<128xf32, 3> to memref<128xf32>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %r = memref.load %v[%i] : memref<128xf32>
    gpu.return
  }
  gpu.func @extract_strided_metadata() workgroup(%A: memref<128xf32, #gpu.address_space<workgroup>>) kernel {
    %i = gpu.thread_id x
    %u = memref.subview %A[%i] [8] [1] : memref<128xf32, #gpu.address_space<workgroup>> to memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %base, %offset, %size, %stride = memref.extract_strided_metadata %u : memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>> -> memref<f32, #gpu.address_space<workgroup>>, index, index, index
    %v = memref.reinterpret_cast %base to offset: [%offset], sizes: [8], strides: [1] : memref<f32, #gpu.address_space<workgroup>> to memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 4*%offset + 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128; 0 <= %thread_id_x + 7 < 128; 0 <= %thread_id_x < 8}}
    %r = memref.load %v[%i] : memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    gpu.return
  }
  gpu.func @assume_alignment() workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %v = memref.assume_alignment %A, 16 : memref<128xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %r = memref.load %v[%i] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @if(%c: i1) workgroup(%A: memref<128xf32, 3>, %B: memref<64xf32, 3>) kernel {
    %i = gpu.thread_id x
    %v = scf.if %c -> memref<?xf32, 3> {
      %a = memref.cast %A : memref<128xf32, 3> to memref<?xf32, 3>
      scf.yield %a : memref<?xf32, 3>
    } else {
      %b = memref.cast %B : memref<64xf32, 3> to memref<?xf32, 3>
      scf.yield %b : memref<?xf32, 3>
    }
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 or %arg2 at 4*%thread_id_x, 4 long}}
    %r = memref.load %v[%i] : memref<?xf32, 3>
    gpu.return
  }
}

gpu.module @loops {
  // Two buffers that change places: in either one, at the same place.
  gpu.func @swap(%n: index) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.thread_id x
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %A, %y = %B) -> (memref<128xf32, 3>, memref<128xf32, 3>) {
      // expected-remark @+1 {{thread reads workgroup memory of %arg1 or %arg2 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
      %v = memref.load %x[%i] : memref<128xf32, 3>
      scf.yield %y, %x : memref<128xf32, 3>, memref<128xf32, 3>
    }
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 or %arg2 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %v = memref.load %r#0[%i] : memref<128xf32, 3>
    gpu.return
  }
  // A view that moves on from iteration to iteration may be anywhere.
  gpu.func @moving(%n: index) workgroup(%A: memref<128xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.thread_id x
    %first = memref.subview %A[%n] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %first) -> (memref<8xf32, strided<[1], offset: ?>, 3>) {
      // expected-remark @+1 {{thread reads workgroup memory of %arg1 somewhere}}
      %v = memref.load %x[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
      %next = memref.subview %A[%k] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
      // This one is made in the same iteration.
      // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 4*%arg2 + 4*%thread_id_x, 4 long; 0 <= %arg2 < 128; 0 <= %arg2 + 7 < 128; 0 <= %thread_id_x < 8}}
      %w = memref.load %next[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
      scf.yield %next : memref<8xf32, strided<[1], offset: ?>, 3>
    }
    gpu.return
  }
  // The last view of the loop before it: its number means nothing out here.
  gpu.func @while(%n: index) workgroup(%A: memref<128xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.thread_id x
    %r:2 = scf.while (%k = %c0) : (index) -> (index, memref<8xf32, strided<[1], offset: ?>, 3>) {
      %go = arith.cmpi ult, %k, %n : index
      %view = memref.subview %A[%k] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
      scf.condition(%go) %k, %view : index, memref<8xf32, strided<[1], offset: ?>, 3>
    } do {
    ^bb0(%k: index, %view: memref<8xf32, strided<[1], offset: ?>, 3>):
      // expected-remark @+1 {{thread reads workgroup memory of %arg1 somewhere}}
      %v = memref.load %view[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 somewhere}}
    %v = memref.load %r#1[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
    gpu.return
  }
  gpu.func @switch(%n: index) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>, %C: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %r = scf.index_switch %n -> memref<128xf32, 3>
    case 0 {
      scf.yield %A : memref<128xf32, 3>
    }
    default {
      scf.yield %C : memref<128xf32, 3>
    }
    // expected-remark @+1 {{thread reads workgroup memory of %arg3 or %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %v = memref.load %r[%i] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @branches(%c: i1, %n: index) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    cf.br ^loop(%c0, %A : index, memref<128xf32, 3>)
  ^loop(%k: index, %x: memref<128xf32, 3>):
    // expected-remark @+1 {{thread reads workgroup memory of %arg2 or %arg3 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %v = memref.load %x[%i] : memref<128xf32, 3>
    %next = arith.addi %k, %c1 : index
    %go = arith.cmpi ult, %next, %n : index
    cf.cond_br %go, ^loop(%next, %B : index, memref<128xf32, 3>), ^exit(%x : memref<128xf32, 3>)
  ^exit(%y: memref<128xf32, 3>):
    // expected-remark @+1 {{thread reads workgroup memory of %arg2 or %arg3 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %w = memref.load %y[%i] : memref<128xf32, 3>
    gpu.return
  }
  // From the loop around, the number is known; from the iteration before, it is another.
  gpu.func @number_of_the_loop(%c: i1) workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    cf.br ^outer(%c1 : index)
  ^outer(%k: index):
    %view = memref.subview %A[%k] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    cf.br ^inner(%view : memref<8xf32, strided<[1], offset: ?>, 3>)
  ^inner(%x: memref<8xf32, strided<[1], offset: ?>, 3>):
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 4*%0 + 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 8}}
    %v = memref.load %x[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
    cf.cond_br %c, ^inner(%view : memref<8xf32, strided<[1], offset: ?>, 3>), ^latch
  ^latch:
    %next = arith.addi %k, %c1 : index
    cf.cond_br %c, ^outer(%next : index), ^exit
  ^exit:
    gpu.return
  }
  gpu.func @number_of_the_block(%c: i1) workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    cf.br ^bb1(%c1 : index)
  ^bb1(%k: index):
    %view = memref.subview %A[%k] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    cf.br ^bb2(%k, %view : index, memref<8xf32, strided<[1], offset: ?>, 3>)
  ^bb2(%l: index, %x: memref<8xf32, strided<[1], offset: ?>, 3>):
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 somewhere}}
    %v = memref.load %x[%i] : memref<8xf32, strided<[1], offset: ?>, 3>
    %again = memref.subview %A[%l] [8] [1] : memref<128xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    %next = arith.addi %l, %c1 : index
    cf.cond_br %c, ^bb2(%next, %again : index, memref<8xf32, strided<[1], offset: ?>, 3>), ^exit
  ^exit:
    gpu.return
  }
}

gpu.module @unknown {
  gpu.func @operations() workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    // expected-remark @+2 {{thread reads any memory of anything somewhere}}
    // expected-remark @+1 {{thread writes any memory of anything somewhere}}
    %v = "who.knows"(%A) : (memref<128xf32, 3>) -> memref<128xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of anything somewhere}}
    %r = memref.load %v[%i] : memref<128xf32, 3>
    // expected-remark @+2 {{thread reads any memory of anything somewhere}}
    // expected-remark @+1 {{thread writes any memory of anything somewhere}}
    %w = "who.knows"() : () -> memref<128xf32>
    // expected-remark @+1 {{thread reads any memory of anything somewhere}}
    %s = memref.load %w[%i] : memref<128xf32>
    %c = builtin.unrealized_conversion_cast %A : memref<128xf32, 3> to memref<64xf64, 3>
    // expected-remark @+1 {{thread reads workgroup memory of anything somewhere}}
    %t = memref.load %c[%i] : memref<64xf64, 3>
    gpu.return
  }
  gpu.func @memrefs_in_memory(%m: memref<4xmemref<16xf32>>) kernel {
    %i = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 somewhere}}
    %a = memref.load %m[%i] : memref<4xmemref<16xf32>>
    // expected-remark @+1 {{thread reads any memory of anything somewhere}}
    %r = memref.load %a[%i] : memref<16xf32>
    gpu.return
  }
  gpu.func @regions() workgroup(%A: memref<128xf32, 3>) kernel {
    %i = gpu.thread_id x
    // expected-remark @+2 {{thread reads any memory of anything somewhere}}
    // expected-remark @+1 {{thread writes any memory of anything somewhere}}
    "who.knows"(%A) ({
    ^bb0(%x: memref<128xf32, 3>):
      // expected-remark @+1 {{thread reads workgroup memory of anything somewhere}}
      %r = memref.load %x[%i] : memref<128xf32, 3>
      // expected-remark @+2 {{thread reads any memory of anything somewhere}}
      // expected-remark @+1 {{thread writes any memory of anything somewhere}}
      "who.ends"() : () -> ()
    }) : (memref<128xf32, 3>) -> ()
    gpu.return
  }
  // The caller's, whatever memory that is.
  // expected-remark @+1 {{%arg0 and %arg1 may overlap}}
  gpu.func @device_function(%a: memref<128xf32>, %s: memref<128xf32, 3>) {
    %i = gpu.thread_id x
    // expected-remark @+1 {{thread reads any memory of %arg0 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %r = memref.load %a[%i] : memref<128xf32>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %w = memref.load %s[%i] : memref<128xf32, 3>
    gpu.return
  }
}

gpu.module @globals {
  memref.global "private" @g : memref<64xf32, 3> = uninitialized
  memref.global "private" constant @constant : memref<4xf32, 4> = dense<1.0>

  gpu.func @named_twice() kernel {
    %i = gpu.thread_id x
    %a = memref.get_global @g : memref<64xf32, 3>
    %b = memref.get_global @g : memref<64xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of @g at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
    %v = memref.load %a[%i] : memref<64xf32, 3>
    // expected-remark @+1 {{thread writes workgroup memory of @g at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
    memref.store %v, %b[%i] : memref<64xf32, 3>
    %c = memref.get_global @constant : memref<4xf32, 4>
    %w = memref.load %c[%i] : memref<4xf32, 4>
    gpu.return
  }
  gpu.func @dynamic_memory() kernel {
    %c64 = arith.constant 64 : index
    %i = gpu.thread_id x
    %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %b = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.view %a[%c64][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{thread reads workgroup memory of %0 at 4*%thread_id_x + 64, 4 long; 0 <= %thread_id_x < 16}}
    %r = memref.load %v[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{thread reads workgroup memory of %0 at %thread_id_x, 1 long}}
    %s = memref.load %b[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
