// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-adopt-kernels)' --split-input-file | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-adopt-kernels)' --split-input-file -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-adopt-kernels)' --split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

// What stands beside kernels becomes part of their module; sizes and what is said of arguments are kept.
// CHECK-LABEL: gpu.module @kernels
// CHECK:       llvm.mlir.global internal @tile() {addr_space = 3 : i32}
// CHECK:       gpu.func @reverse(%[[P:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i32) kernel
// CHECK-SAME:  known_block_size = array<i32: 64, 1, 1>
// CHECK:       %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:       %[[LAST:.*]] = arith.constant 63 : i32
// CHECK:       %[[OTHER:.*]] = arith.subi %[[LAST]], %[[TID]] overflow<nsw> : i32
// CHECK:       arith.extsi %[[OTHER]] : i32 to i64
// CHECK:       nvvm.barrier{{$}}
// CHECK:       arith.cmpi slt, %[[TID]], %[[N]] : i32
// CHECK:       cf.cond_br
// CHECK:       llvm.store
// CHECK:       cf.br
// CHECK:       gpu.return
llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<64 x f32>
llvm.func @reverse(%p: !llvm.ptr {llvm.noalias, llvm.nocapture}, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %last = llvm.mlir.constant(63 : i32) : i32
  %other = llvm.sub %last, %tid overflow<nsw> : i32
  %from = llvm.zext nneg %other : i32 to i64
  %place = llvm.getelementptr %tile[%from] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
  %x = llvm.load %place : !llvm.ptr<3> -> f32
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%zero) : (i32) -> ()
  %in = llvm.icmp "slt" %tid, %n : i32
  llvm.cond_br %in, ^body, ^end
^body:
  llvm.store %x, %p : f32, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// -----

// In a gpu.module; the calling convention says so, too. Numbers that share no bits are added; vectors, floats and
// pointers are left, and so is a function that is no kernel.
// CHECK-LABEL: gpu.module @given
// CHECK:       llvm.func @helper
// CHECK:       llvm.add
// CHECK:       gpu.func @many(%{{.*}}: !llvm.ptr<1>, %[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: vector<2xi32>) kernel
// CHECK:       arith.addi %[[A]], %[[B]] overflow<nsw, nuw> : i32
// CHECK:       arith.ori
// CHECK:       arith.extui
// CHECK:       arith.minsi
// CHECK:       arith.select
// CHECK:       llvm.add %{{.*}} : vector<2xi32>
// CHECK:       llvm.icmp "eq" %{{.*}} : !llvm.ptr<1>
// CHECK:       cf.switch %[[A]] : i32, [
// CHECK-NEXT:  default: ^bb1
// CHECK-NEXT:  7: ^bb2
gpu.module @given {
  llvm.func @helper(%a: i32) -> i32 {
    %b = llvm.add %a, %a : i32
    llvm.return %b : i32
  }
  llvm.func ptx_kernelcc @many(%p: !llvm.ptr<1>, %a: i32, %b: i32, %v: vector<2xi32>) {
    %c = llvm.or disjoint %a, %b : i32
    %d = llvm.or %c, %b : i32
    %e = llvm.zext %d : i32 to i64
    %f = llvm.intr.smin(%a, %d) : (i32, i32) -> i32
    %g = llvm.icmp "ult" %f, %b : i32
    %h = llvm.select %g, %a, %f : i1, i32
    %i = llvm.add %v, %v : vector<2xi32>
    %j = llvm.icmp "eq" %p, %p : !llvm.ptr<1>
    llvm.switch %a : i32, ^one [
      7: ^two
    ]
  ^one:
    llvm.store %h, %p : i32, !llvm.ptr<1>
    llvm.br ^two
  ^two:
    llvm.return
  }
}

// -----

// Calls of intrinsics become the operations that they are.
// CHECK-LABEL: gpu.func @intrinsics
// CHECK-DAG:   %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:       nvvm.bar.warp.sync
// CHECK:       nvvm.barrier id = %[[ONE]] number_of_threads =
// CHECK:       nvvm.barrier.arrive
// CHECK:       nvvm.memory.barrier <gpu>
// CHECK:       nvvm.shfl.sync  bfly
// CHECK:       nvvm.vote.sync ballot
// CHECK:       nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK:       nvvm.cp.async.commit.group
// CHECK:       nvvm.cp.async.wait.group 2
// CHECK:       llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.all"
gpu.module @given {
  llvm.func @intrinsics(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>, %i: i1) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %warp = llvm.mlir.constant(-1 : i32) : i32
    %threads = llvm.mlir.constant(64 : i32) : i32
    llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%warp) : (i32) -> ()
    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%one, %threads) : (i32, i32) -> ()
    llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%one, %threads) : (i32, i32) -> ()
    llvm.call_intrinsic "llvm.nvvm.membar.gl"() : () -> ()
    %x = llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"(%warp, %one, %two, %one) : (i32, i32, i32, i32) -> i32
    %y = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%warp, %i) : (i32, i1) -> i32
    llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"(%s, %g) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
    llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%two) : (i32) -> ()
    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.all"(%one) : (i32) -> ()
    llvm.return
  }
}

// -----

// Barriers that count, and tell all threads what they found.
// CHECK-LABEL: gpu.func @reductions
// CHECK:       %[[A:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK:       %[[COUNT:.*]] = nvvm.barrier #nvvm.reduction<popc> %[[A]] -> i32
// CHECK:       %[[B:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK:       %[[ALL:.*]] = nvvm.barrier #nvvm.reduction<and> %[[B]] -> i32
// CHECK:       arith.trunci %[[ALL]] : i32 to i1
// CHECK:       llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.count"
// CHECK:       llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.all"
gpu.module @given {
  llvm.func @reductions(%p: !llvm.ptr, %i: i1) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %threads = llvm.mlir.constant(64 : i32) : i32
    %a = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.popc.aligned.all"(%zero, %i) : (i32, i1) -> i32
    %b = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.and.aligned.all"(%zero, %i) : (i32, i1) -> i1
    %c = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.count"(%one, %threads, %i) : (i32, i32, i1) -> i1
    %d = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.all"(%one, %i) : (i32, i1) -> i1
    llvm.store %a, %p : i32, !llvm.ptr
    llvm.store %b, %p : i1, !llvm.ptr
    llvm.store %c, %p : i1, !llvm.ptr
    llvm.store %d, %p : i1, !llvm.ptr
    llvm.return
  }
}

// -----

// Without kernels of LLVM nothing is changed, whatever the module is for.
// CHECK-LABEL: module attributes {llvm.target_triple = "x86_64-pc-linux-gnu"}
// CHECK:       llvm.func @host
// CHECK:       llvm.add
module attributes {llvm.target_triple = "x86_64-pc-linux-gnu"} {
  llvm.func @host(%a: i32) -> i32 {
    %b = llvm.add %a, %a : i32
    llvm.return %b : i32
  }
}

// -----

// Bounds of launches that upstream's import leaves as strings.
// CHECK-LABEL: gpu.func @bounds() kernel
// CHECK-SAME:  known_block_size = array<i32: 32, 4, 1>
// CHECK-SAME:  nvvm.maxnreg = 64 : i32
// CHECK-SAME:  nvvm.maxntid = array<i32: 128>
gpu.module @given {
  llvm.func ptx_kernelcc @bounds() attributes {passthrough = ["nofree", ["nvvm.reqntid", "32,4,1"], ["nvvm.maxntid", "128"], ["nvvm.maxnreg", "64"]]} {
    llvm.return
  }
}
