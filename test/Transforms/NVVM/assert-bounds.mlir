// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-assert-bounds))' | FileCheck %s

// CHECK-LABEL: gpu.func @accesses
// CHECK:         %[[T:.*]] = gpu.thread_id x
// CHECK:         cf.assert %{{.*}}, "'memref.load' op: {{.*}}out-of-bounds
// CHECK:         memref.load
// CHECK:         cf.assert %{{.*}}, "'memref.subview' op: {{.*}}out-of-bounds
// CHECK:         memref.subview
// CHECK:         cf.assert %{{.*}}, "'memref.store' op: {{.*}}out-of-bounds
// CHECK:         memref.store
gpu.module @kernels {
  gpu.func @accesses(%x: memref<?x8xf32>, %n: index) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t, %n] : memref<?x8xf32>
    %row = memref.subview %x[%t, 0] [1, %n] [1, 1] : memref<?x8xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.store %v, %row[%t] : memref<?xf32, strided<[1], offset: ?>>
    gpu.return
  }

  // The first element of a vector, both ends of a transfer that says so, and nothing of what may be outside.
  // CHECK-LABEL: gpu.func @vectors
  // CHECK:         cf.assert %{{.*}}, "'vector.load' op: index of dimension 0 is out of bounds"
  // CHECK:         %[[C4:.*]] = arith.constant 8 : index
  // CHECK:         cf.assert %{{.*}}, "'vector.load' op: index of dimension 1 is out of bounds"
  // CHECK-NEXT:    vector.load
  // CHECK:         cf.assert %{{.*}}, "'vector.transfer_read' op: index of dimension 0 is out of bounds"
  // CHECK:         cf.assert %{{.*}}, "'vector.transfer_read' op: index of dimension 1 or of its last element is out of bounds"
  // CHECK-NEXT:    vector.transfer_read
  // CHECK:         cf.assert %{{.*}}, "'vector.transfer_read' op: index of dimension 0 is out of bounds"
  // CHECK-NOT:     cf.assert
  // CHECK:         vector.transfer_read
  // CHECK-NOT:     cf.assert
  // CHECK:         gpu.return
  gpu.func @vectors(%x: memref<?x8xf32>, %n: index, %pad: f32, %m: vector<4xi1>) kernel {
    %a = vector.load %x[%n, %n] : memref<?x8xf32>, vector<4xf32>
    %b = vector.transfer_read %x[%n, %n], %pad {in_bounds = [true]} : memref<?x8xf32>, vector<4xf32>
    %c = vector.transfer_read %x[%n, %n], %pad : memref<?x8xf32>, vector<4xf32>
    %d = vector.transfer_read %x[%n, %n], %pad, %m : memref<?x8xf32>, vector<4xf32>
    gpu.return
  }

  // Rows of which nobody knows how far they are apart are taken to hold their vectors.
  // CHECK-LABEL: gpu.func @rows
  // CHECK:         cf.assert %{{.*}}, "'vector.store' op: index of dimension 0 is out of bounds"
  // CHECK:         cf.assert %{{.*}}, "'vector.store' op: index of dimension 1 or of its last element is out of bounds"
  // CHECK-NEXT:    vector.store
  gpu.func @rows(%x: memref<?x?xf32>, %n: index, %v: vector<4xf32>) kernel {
    vector.store %v, %x[%n, %n] : memref<?x?xf32>, vector<4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @nothing
  // CHECK-NEXT:    gpu.return
  gpu.func @nothing() kernel {
    gpu.return
  }
}
