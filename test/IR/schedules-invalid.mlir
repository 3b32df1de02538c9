// RUN: mlir-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a thread computes at least one element, not 0x8}}
func.func private @none() attributes {a = #workgroup.schedule<simt thread 0x8>}

// -----

// expected-error @+1 {{a thread has no registers for 16x16 elements; give it 240 at most}}
func.func private @many() attributes {a = #workgroup.schedule<simt thread 16x16>}

// -----

// expected-error @+1 {{a thread has no registers for 4294967296x4294967296 elements; give it 240 at most}}
func.func private @wraps() attributes {a = #workgroup.schedule<simt thread 4294967296x4294967296>}

// -----

// expected-error @+1 {{expected two extents, as in 64x32}}
func.func private @one() attributes {a = #workgroup.schedule<simt thread 8>}

// -----

// expected-error @+1 {{expected 'simt'}}
func.func private @kind() attributes {a = #workgroup.schedule<magic thread 8x8>}

// -----

func.func @kind_of_attribute(%a: memref<8x8xf32>) {
  // expected-error @+1 {{'linalg.matmul' op attribute 'workgroup.schedule' has to be a #workgroup.schedule, not "simt"}}
  linalg.matmul {workgroup.schedule = "simt"}
    ins(%a, %a : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'workgroup.schedule' belongs on a linalg operation}}
func.func private @place() attributes {workgroup.schedule = #workgroup.schedule<simt thread 8x8>}
