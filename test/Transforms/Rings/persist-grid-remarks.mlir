// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-persist-grid{blocks=4})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

func.func @persistent() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{[Passed] Persistent | Category:workgroup-persist-grid | Function=persistent | Blocks=4, Remark="blocks of a kernel go through several tiles", Tiles=25}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c5, %gy = %c5, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
    } producer {
    }
    gpu.terminator
  }
  return
}

func.func @few() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{[Missed] NotPersistent | Category:workgroup-persist-grid | Function=few | Reason="4 tiles are no more than blocks", Remark="blocks of a kernel have one tile each"}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
    } producer {
    }
    gpu.terminator
  }
  return
}

func.func @barrier() {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{Reason="'gpu.barrier' of line 37 is for all warps"}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c9, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    gpu.barrier
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
    } producer {
    }
    gpu.terminator
  }
  return
}

func.func @ids() {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{Reason="'gpu.global_id' of line 53 may tell blocks apart"}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c9, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      %id = gpu.global_id x
    } producer {
    }
    gpu.terminator
  }
  return
}

func.func @clusters() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{Reason="blocks are in clusters"}}
  gpu.launch clusters(%cx, %cy, %cz) in (%sx = %c2, %sy = %c1, %sz = %c1) blocks(%x, %y, %z) in (%gx = %c10, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
    } producer {
    }
    gpu.terminator
  }
  return
}

func.func private @dev(index)

func.func @call() {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{Reason="'func.call' of line 85 may tell blocks apart"}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c9, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      func.call @dev(%c1) : (index) -> ()
    } producer {
    }
    gpu.terminator
  }
  return
}

// Each block has an element of its own; whether tiles of tiles do is not known,
// as a size may be below zero.
func.func @unproved(%out: memref<?x?xindex>, %m: index, %n: index) {
  %c1 = arith.constant 1 : index
  %c160 = arith.constant 160 : index
  // expected-remark @+1 {{[Missed] NotPersistent | Category:workgroup-persist-grid | Function=unproved | Reason="it is not proved that blocks with several tiles write different elements", Remark="blocks of a kernel have one tile each"}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %n, %gy = %m, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c160, %by = %c1, %bz = %c1) {
    workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
      memref.store %x, %out[%y, %x] : memref<?x?xindex>
    } producer {
    }
    gpu.terminator
  }
  return
}
