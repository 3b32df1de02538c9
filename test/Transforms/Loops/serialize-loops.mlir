// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(workgroup-serialize-loops)" --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(workgroup-serialize-loops{all=true})" | FileCheck %s --check-prefix=ALL

// Blocks and threads do it: it stays.
// CHECK-LABEL: func.func @kernel
// CHECK: scf.forall
// ALL-LABEL: func.func @kernel
// ALL-NOT: scf.forall
// ALL: scf.for
func.func @kernel(%x: memref<8xf32>, %f: f32) {
  scf.forall (%i) in (8) {
    memref.store %f, %x[%i] : memref<8xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[X:[^:% ]*]]: memref<?xf32>, %[[N:[^:]*]]: index, %[[F:.*]]: f32)
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[T:.*]] = %[[F]]) -> (f32) {
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK: %[[S:.*]] = arith.addf %[[T]], %[[V]]
// CHECK: scf.yield %[[S]]
// CHECK: return %[[R]]
func.func @sum(%x: memref<?xf32>, %n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-remark@+1 {{no kernel is made of this loop: its iterations reduce results}}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c2) init (%f) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        scf.reduce.return %c : f32
    }
  }
  return %r : f32
}

// -----

// The loop in it is one of the host then, and stays.
func.func private @callee(memref<8xf32>)
// CHECK-LABEL: func.func @call
// CHECK: scf.for
// CHECK: func.call @callee
// CHECK: scf.forall
// ALL-LABEL: func.func @call
// ALL-COUNT-2: scf.for
func.func @call(%x: memref<8xf32>, %f: f32) {
  // expected-remark@+1 {{no kernel is made of this loop: 'func.call' op calls a function}}
  scf.forall (%i) in (4) {
    func.call @callee(%x) : (memref<8xf32>) -> ()
    scf.forall (%j) in (8) {
      memref.store %f, %x[%j] : memref<8xf32>
    }
  }
  return
}

// -----

// Each iteration has its own part of the result, and of anything else what was there before.
func.func private @number() -> f32
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[O:.*]] = %[[X]])
// CHECK: tensor.extract %[[X]]
// CHECK: tensor.extract_slice %[[O]][%[[I]]] [1] [1]
// CHECK: %[[P:.*]] = tensor.insert_slice %{{.*}} into %[[O]][%[[I]]] [1] [1]
// CHECK: scf.yield %[[P]]
// CHECK: return %[[R]]
func.func @parts(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  // expected-remark@+1 {{no kernel is made of this loop: 'func.call' op calls a function}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %n = func.call @number() : () -> f32
    %first = tensor.extract %o[%c0] : tensor<8xf32>
    %own = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %v = arith.addf %n, %first : f32
    %t = tensor.insert %v into %own[%c0] : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// A block has no memory for it; a thread has none of a size that only the launch knows.
// CHECK-LABEL: func.func @memory
// CHECK-COUNT-3: scf.for
func.func @memory(%x: memref<8x64x64x8xf32>, %y: memref<?xf32>, %n: index, %f: f32) {
  // expected-remark@+1 {{no kernel is made of this loop: its iterations need more memory than a block has}}
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<64x64x8xf32>
    linalg.fill ins(%f : f32) outs(%a : memref<64x64x8xf32>)
  }
  // expected-remark@+1 {{no kernel is made of this loop: 'memref.alloc' op makes memory of a size that is not known to be small}}
  scf.forall (%i) in (8) {
    %a = memref.alloc(%n) : memref<?xf32>
    memref.store %f, %a[%i] : memref<?xf32>
  }
  // expected-remark@+1 {{no kernel is made of this loop: its iterations need more memory than a thread has}}
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<1000xf32>
    memref.store %f, %a[%i] : memref<1000xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: scf.for %
// CHECK: }
// CHECK-NEXT: memref.store
// CHECK-NEXT: return
func.func @others(%x: memref<8xf32>, %u: memref<*xf32>, %v: vector<4xf32>, %f: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  // expected-remark@+1 {{no kernel is made of this loop: 'cf.assert' op is not done by kernels of such loops}}
  scf.forall (%i) in (8) {
    cf.assert %c, "no"
    memref.store %f, %x[%i] : memref<8xf32>
  }
  // expected-remark@+1 {{no kernel is made of this loop: it uses a value of type vector<4xf32>}}
  scf.forall (%i) in (2) {
    vector.store %v, %x[%i] : memref<8xf32>, vector<4xf32>
  }
  // expected-remark@+1 {{no kernel is made of this loop: it uses a value of type memref<*xf32>}}
  scf.forall (%i) in (2) {
    %m = memref.cast %u : memref<*xf32> to memref<8xf32>
    memref.store %f, %m[%i] : memref<8xf32>
  }
  // expected-remark@+1 {{no kernel is made of this loop: it has 0 dimensions}}
  scf.forall () in () {
    memref.store %f, %x[%c0] : memref<8xf32>
  }
  return
}

// -----

// Constants of the program are named before the loop, and are arguments of its kernel.
memref.global "private" constant @table : memref<8xf32> = dense<1.0>
// CHECK-LABEL: func.func @global
// CHECK-NEXT: memref.get_global @table
// CHECK-NEXT: scf.forall
func.func @global(%x: memref<8xf32>) {
  scf.forall (%i) in (8) {
    %t = memref.get_global @table : memref<8xf32>
    %v = memref.load %t[%i] : memref<8xf32>
    memref.store %v, %x[%i] : memref<8xf32>
  }
  return
}
