// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-persist-grid{blocks=6},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-persist-grid{blocks=6})' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-persist-grid,canonicalize,cse)' | FileCheck %s --check-prefix=ASKED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(canonicalize,cse)' -o %t.none
// RUN: mlir-opt %t.none --pass-pipeline='builtin.module(workgroup-persist-grid{blocks=200})' -o %t.many
// RUN: FileCheck %s --input-file=%t.many --check-prefix=MANY

// 3 columns of 17 rows, which are no equal groups: row by row.
// CHECK-LABEL: func @groups
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 6 : index
// CHECK-DAG:     %[[TILES:.+]] = arith.constant 51 : index
// CHECK-DAG:     %[[COLUMNS:.+]] = arith.constant 3 : index
// CHECK:         gpu.launch blocks(%[[BLOCK:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[BLOCKS]], %{{.+}} = %[[ONE]], %{{.+}} = %[[ONE]])
// CHECK:           workgroup.specialize {{.*}} consumer {
// CHECK:             scf.for %[[TILE:.+]] = %[[BLOCK]] to %[[TILES]] step %[[BLOCKS]] {
// CHECK-DAG:           %[[X:.+]] = arith.remui %[[TILE]], %[[COLUMNS]]
// CHECK-DAG:           %[[Y:.+]] = arith.divui %[[TILE]], %[[COLUMNS]]
// CHECK:               memref.store %[[X]], %{{.+}}[%[[Y]]]
// CHECK:           } producer {
// CHECK:             scf.for %{{.+}} = %[[BLOCK]] to %[[TILES]] step %[[BLOCKS]] {
// CHECK:               %[[COLUMN:.+]] = arith.remui %{{.+}}, %[[COLUMNS]]
// CHECK:               memref.store %[[COLUMN]]
//
// Without a ring that asks for it, and with enough blocks, it stays.
// ASKED-LABEL: func @groups
// ASKED-NOT:     scf.for
// MANY-LABEL:  func @groups
// MANY-NOT:      scf.for
func.func @groups(%out: memref<17xindex>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c3, %gy = %c17, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%y] : memref<17xindex>
    } producer {
      %id = gpu.block_id x
      memref.store %id, %out[%y] : memref<17xindex>
    }
    gpu.terminator
  }
  return
}

// 18 rows are two groups of 9.
// CHECK-LABEL: func @even
// CHECK-DAG:     %[[NINE:.+]] = arith.constant 9 : index
// CHECK-DAG:     %[[COLUMNS:.+]] = arith.constant 3 : index
// CHECK:         scf.for %[[TILE:.+]] =
// CHECK-DAG:       %[[ROW:.+]] = arith.remui %[[TILE]], %[[NINE]]
// CHECK-DAG:       %[[REST:.+]] = arith.divui %[[TILE]], %[[NINE]]
// CHECK-DAG:       %[[X:.+]] = arith.remui %[[REST]], %[[COLUMNS]]
// CHECK-DAG:       %[[GROUP:.+]] = arith.divui %[[REST]], %[[COLUMNS]]
// CHECK-DAG:       %[[FIRST:.+]] = arith.muli %[[GROUP]], %[[NINE]]
// CHECK-DAG:       %[[Y:.+]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK:           memref.store %[[X]], %{{.+}}[%[[Y]]]
func.func @even(%out: memref<18xindex>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c18 = arith.constant 18 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c3, %gy = %c18, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%y] : memref<18xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}

// 19 columns of 17 rows: column by column.
// CHECK-LABEL: func @wide
// CHECK-DAG:     %[[ROWS:.+]] = arith.constant 17 : index
// CHECK:         scf.for %[[TILE:.+]] =
// CHECK-DAG:       %[[Y:.+]] = arith.remui %[[TILE]], %[[ROWS]]
// CHECK-DAG:       %[[X:.+]] = arith.divui %[[TILE]], %[[ROWS]]
// CHECK:           memref.store %[[X]], %{{.+}}[%[[Y]]]
// MANY-LABEL:  func @wide
// MANY:          scf.for
func.func @wide(%out: memref<17xindex>) {
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  %c19 = arith.constant 19 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c19, %gy = %c17, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%y] : memref<17xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}

// A ring asks for 5 blocks. Rows are one group, and batches come last.
// ASKED-LABEL: func @batches
// ASKED-DAG:     %[[FIVE:.+]] = arith.constant 5 : index
// ASKED-DAG:     %[[TILES:.+]] = arith.constant 60 : index
// ASKED-DAG:     %[[ROWS:.+]] = arith.constant 4 : index
// ASKED-DAG:     %[[COLUMNS:.+]] = arith.constant 3 : index
// ASKED:         gpu.launch blocks(%[[BLOCK:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[FIVE]],
// ASKED:           workgroup.ring {blocks = 5 : i64, producers = 32 : i64}
// ASKED:           scf.for %[[TILE:.+]] = %[[BLOCK]] to %[[TILES]] step %[[FIVE]] {
// ASKED-DAG:         %[[Y:.+]] = arith.remui %[[TILE]], %[[ROWS]]
// ASKED-DAG:         %[[REST:.+]] = arith.divui %[[TILE]], %[[ROWS]]
// ASKED-DAG:         %[[X:.+]] = arith.remui %[[REST]], %[[COLUMNS]]
// ASKED-DAG:         %[[Z:.+]] = arith.divui %[[REST]], %[[COLUMNS]]
// ASKED:             memref.store %[[X]], %{{.+}}[%[[Y]], %[[Z]], %[[COLUMNS]]]
// CHECK-LABEL: func @batches
// CHECK:         step %c6 {
func.func @batches(%out: memref<4x5x4xindex>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c3, %gy = %c4, %gz = %c5)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring {blocks = 5 : i64, producers = 32 : i64} : !workgroup.ring<2 slots of memref<64xf32, #gpu.address_space<workgroup>>>
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      %width = gpu.grid_dim x
      %id = gpu.block_id z
      memref.store %x, %out[%y, %id, %width] : memref<4x5x4xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}

// 24 columns of 17 rows: groups of 8 columns, row by row.
// CHECK-LABEL: func @columns
// CHECK-DAG:     %[[EIGHT:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[ROWS:.+]] = arith.constant 17 : index
// CHECK:         scf.for %[[TILE:.+]] =
// CHECK-DAG:       %[[COLUMN:.+]] = arith.remui %[[TILE]], %[[EIGHT]]
// CHECK-DAG:       %[[REST:.+]] = arith.divui %[[TILE]], %[[EIGHT]]
// CHECK-DAG:       %[[Y:.+]] = arith.remui %[[REST]], %[[ROWS]]
// CHECK-DAG:       %[[GROUP:.+]] = arith.divui %[[REST]], %[[ROWS]]
// CHECK-DAG:       %[[FIRST:.+]] = arith.muli %[[GROUP]], %[[EIGHT]]
// CHECK-DAG:       %[[X:.+]] = arith.addi %[[FIRST]], %[[COLUMN]]
// CHECK:           memref.store %[[X]], %{{.+}}[%[[Y]]]
func.func @columns(%out: memref<17xindex>) {
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  %c24 = arith.constant 24 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c24, %gy = %c17, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%y] : memref<17xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}

// Of tiles of which the host knows the number, some blocks may have none.
// CHECK-LABEL: func @dynamic
// CHECK-SAME:    %{{.+}}: memref<?xindex>, %[[COUNT:.+]]: index
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 6 : index
// CHECK-DAG:     %[[MOST:.+]] = arith.constant 2147483641 : index
// CHECK:         gpu.launch blocks(%[[BLOCK:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[BLOCKS]],
// CHECK:               %[[TILES:.+]] = arith.minsi %[[COUNT]], %[[MOST]]
// CHECK:               scf.for %[[TILE:.+]] = %[[BLOCK]] to %[[TILES]] step %[[BLOCKS]] {
// CHECK:                 memref.store %[[TILE]], %{{.+}}[%[[TILE]]]
// MANY-LABEL:  func @dynamic
// MANY:          arith.minsi
// MANY:          scf.for
func.func @dynamic(%out: memref<?xindex>, %count: index) {
  %c1 = arith.constant 1 : index
  %c160 = arith.constant 160 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %count, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%x] : memref<?xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}
