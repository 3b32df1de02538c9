// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,2 counts=1,3})' | FileCheck %s --check-prefix=CYCLIC
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,2 counts=1,3 strategy=guarded})' | FileCheck %s --check-prefix=GUARDED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,2 counts=1,3 strategy=exact})' | FileCheck %s --check-prefix=EXACT
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,2 counts=1,3 strategy=block,block-cyclic chunk=4})' | FileCheck %s --check-prefix=BLOCK

// The use cases of the thread: processors that the caller tells the function of. No kernel is needed.

// Use case 1: any number of iterations.
// CYCLIC-LABEL: func.func @distribute(
// CYCLIC-SAME:    %[[Y:.+]]: index, %[[NY:.+]]: index, %[[X:.+]]: index, %[[NX:.+]]: index, %[[LB:.+]]: index, %[[UB:.+]]: index, %[[STEP:.+]]: index
// CYCLIC:         %[[AT:.+]] = arith.muli %[[Y]], %[[STEP]]
// CYCLIC:         %[[FROM:.+]] = arith.addi %[[LB]], %[[AT]]
// CYCLIC:         %[[BY:.+]] = arith.muli %[[NY]], %[[STEP]]
// CYCLIC:         scf.for %[[I:.+]] = %[[FROM]] to %[[UB]] step %[[BY]]
// CYCLIC:           arith.muli %[[X]], %[[STEP]]
// CYCLIC:           %[[BY:.+]] = arith.muli %[[NX]], %[[STEP]]
// CYCLIC:           scf.for %[[J:.+]] = %{{.+}} to %[[UB]] step %[[BY]]
// CYCLIC:             memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]

// Of the processors along x, to which no dimension goes, only the first does something.
// CYCLIC-LABEL: func.func @one_dimension(
// CYCLIC-SAME:    %{{.+}}: index, %{{.+}}: index, %[[X:.+]]: index, %{{.+}}: index, %[[M:.+]]: memref
// CYCLIC:         %[[IS:.+]] = arith.cmpi eq, %[[X]], %{{.+}}
// CYCLIC-NEXT:    scf.if %[[IS]]
// CYCLIC:           scf.for
// CYCLIC:             memref.store

// Use case 2: no more than processors.
// GUARDED-LABEL: func.func @distribute(
// GUARDED-SAME:    %[[Y:.+]]: index, %{{.+}}: index, %[[X:.+]]: index, %{{.+}}: index, %[[LB:.+]]: index, %[[UB:.+]]: index, %[[STEP:.+]]: index
// GUARDED:         %[[AT:.+]] = arith.muli %[[Y]], %[[STEP]]
// GUARDED:         %[[I:.+]] = arith.addi %[[LB]], %[[AT]]
// GUARDED:         %[[IS:.+]] = arith.cmpi slt, %[[I]], %[[UB]]
// GUARDED:         scf.if %[[IS]]
// GUARDED:           %[[J:.+]] = arith.addi
// GUARDED:           scf.if
// GUARDED:             memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
// GUARDED-NOT:     scf.for

// Use case 3: as many as processors.
// EXACT-LABEL: func.func @distribute(
// EXACT-NOT:     scf.
// EXACT:         memref.store
// EXACT-NOT:     scf.
// EXACT:         return

// BLOCK-LABEL: func.func @distribute(
// BLOCK:         arith.maxsi
// BLOCK:         arith.minsi
// BLOCK:         scf.for
// BLOCK:           scf.for
// BLOCK:             arith.minsi
// BLOCK:             scf.for
// BLOCK:               memref.store


func.func @distribute(%y: index, %ny: index, %x: index, %nx: index, %lb: index, %ub: index, %step: index, %m: memref<?x?xf32>, %f: f32) {
  scf.parallel (%i, %j) = (%lb, %lb) to (%ub, %ub) step (%step, %step) {
    memref.store %f, %m[%i, %j] : memref<?x?xf32>
  }
  return
}
func.func @one_dimension(%y: index, %ny: index, %x: index, %nx: index, %m: memref<64xf32>, %f: f32) {
  scf.forall (%i) in (64) {
    memref.store %f, %m[%i] : memref<64xf32>
  }
  return
}
