// Each barrier says what it orders, and why there are no fewer.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics=only-expected -o /dev/null

gpu.module @m {
  gpu.func @loop(%n: index, %x: f32, %out: memref<?x128xf32> {llvm.noalias})
      workgroup(%S: memref<128xf32, 3>, %T: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark-re @+2 {{ExplainedBarrier | Category:workgroup-insert-barriers | Function=loop | Remark="{"barriers":2,"certificate":{{.+}},"needed":2,"optimal":true,"pairs":[{"byte":[{{[0-9]+}}],"first":{"column":{{[0-9]+}},"file":"{{.+}}","line":{{[0-9]+}},"op":"memref.load"},"later_iteration":true,}}
      // expected-remark-re @+1 {{Barriers=2, Certificate="'memref.load' of line 19 before 'memref.store' of line 16 in a later iteration (thread ({{[0-9]+}}, 0, 0) and thread ({{[0-9]+}}, 0, 0) at byte {{[0-9]+}})", Hazards=2, Needed=2, Optimal=true, Remark="barrier orders 'memref.load' of line 19 before 'memref.store' of line 16 in a later iteration (thread {{.+}}), 'memref.load' of line 20 before 'memref.store' of line 17 in a later iteration (thread {{.+}} at byte {{.+}})"}}
      memref.store %x, %S[%t] : memref<128xf32, 3>
      memref.store %x, %T[%t] : memref<128xf32, 3>
      // expected-remark-re @+1 {{Remark="barrier orders 'memref.store' of line 16 before 'memref.load' of line 19 (thread {{.+}}), 'memref.store' of line 17 before 'memref.load' of line 20 (thread {{.+}})"}}
      %v = memref.load %S[%u] : memref<128xf32, 3>
      %w = memref.load %T[%u] : memref<128xf32, 3>
      %z = arith.addf %v, %w : f32
      memref.store %z, %out[%i, %t] : memref<?x128xf32>
    }
    gpu.return
  }

  // What is only possible says why, and one barrier suffices for five.
  gpu.func @many(%i: memref<128xindex> {llvm.noalias}, %x: f32, %out: memref<?xf32> {llvm.noalias})
      workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %j = memref.load %i[%t] : memref<128xindex>
    memref.store %x, %S[%t] : memref<128xf32, 3>
    // expected-remark-re @+1 {{Barriers=1, {{.+}} Hazards=5, Needed=1, Optimal=true, Remark="barrier orders 'memref.store' of line 32 before 'memref.load' of line 34 (possibly: nothing is known of the result of 'memref.load' that it depends on), {{.+}} and 1 more"}}
    %a = memref.load %S[%j] : memref<128xf32, 3>
    %b = memref.load %S[%j] : memref<128xf32, 3>
    %c = memref.load %S[%j] : memref<128xf32, 3>
    %d = memref.load %S[%j] : memref<128xf32, 3>
    %e = memref.load %S[%j] : memref<128xf32, 3>
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    %abcd = arith.addf %abc, %d : f32
    %all = arith.addf %abcd, %e : f32
    memref.store %all, %out[%t] : memref<?xf32>
    gpu.return
  }
}
