module attributes {gpu.container_module} {
  func.func @main(%arg0: memref<320x448xf16>, %arg1: memref<448x192xf16>) -> memref<320x192xf32> {
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c3 = arith.constant 3 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c448 = arith.constant 448 : index
    %c64 = arith.constant 64 : index
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<320x192xf32>
    %c160 = arith.constant 160 : index
    %c15 = arith.constant 15 : index
    %c4 = arith.constant 4 : index
    %c1_0 = arith.constant 1 : index
    %cast = memref.cast %arg0 : memref<320x448xf16> to memref<*xf16>
    %c64_1 = arith.constant 64 : index
    %c64_2 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c64_1, %c64_2] : memref<*xf16> -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_3 = memref.cast %arg1 : memref<448x192xf16> to memref<*xf16>
    %c64_4 = arith.constant 64 : index
    %c64_5 = arith.constant 64 : index
    %1 = nvgpu.tma.create.descriptor %cast_3 box[%c64_4, %c64_5] : memref<*xf16> -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %c65536_i32 = arith.constant 65536 : i32
    gpu.launch_func  @main_kernel::@main_kernel blocks in (%c4, %c1_0, %c1_0) threads in (%c160, %c1, %c1)  dynamic_shared_memory_size %c65536_i32 args(%arg0 : memref<320x448xf16>, %arg1 : memref<448x192xf16>, %alloc : memref<320x192xf32>, %0 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>)
    return %alloc : memref<320x192xf32>
  }
  gpu.module @main_kernel [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @main_kernel(%arg0: memref<320x448xf16>, %arg1: memref<448x192xf16>, %arg2: memref<320x192xf32>, %arg3: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg4: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>) kernel attributes {known_block_size = array<i32: 160, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c-3_i32 = arith.constant -3 : i32
      %c-1_i32 = arith.constant -1 : i32
      %cst = arith.constant dense<0.000000e+00> : vector<2x2xf32>
      %c16384 = arith.constant 16384 : index
      %c1_i32 = arith.constant 1 : i32
      %c3_i32 = arith.constant 3 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8192 = arith.constant 8192 : index
      %c10000000 = arith.constant 10000000 : index
      %c64_i32 = arith.constant 64 : i32
      %c448_i32 = arith.constant 448 : i32
      %c56 = arith.constant 56 : index
      %c48 = arith.constant 48 : index
      %c40 = arith.constant 40 : index
      %c24 = arith.constant 24 : index
      %c16 = arith.constant 16 : index
      %c8 = arith.constant 8 : index
      %c5 = arith.constant 5 : index
      %c32 = arith.constant 32 : index
      %c128 = arith.constant 128 : index
      %true = arith.constant true
      %false = arith.constant false
      %c0_i32 = arith.constant 0 : i32
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c448 = arith.constant 448 : index
      %c15 = arith.constant 15 : index
      %c64 = arith.constant 64 : index
      %c32768 = arith.constant 32768 : index
      %c0 = arith.constant 0 : index
      %0 = memref.get_global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %reinterpret_cast = memref.reinterpret_cast %0 to offset: [0], sizes: [65536], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<65536xi8, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id  x
      %1 = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      %thread_id_x = gpu.thread_id  x
      %2 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %2 {
        nvgpu.mbarrier.init %1[%c0], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %1[%c1], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %1[%c2], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %1[%c3], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvvm.fence.mbarrier.init
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      }
      %3 = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      scf.if %2 {
        nvgpu.mbarrier.init %3[%c0], %c4 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %3[%c1], %c4 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %3[%c2], %c4 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvgpu.mbarrier.init %3[%c3], %c4 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        nvvm.fence.mbarrier.init
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      }
      gpu.barrier
      %view = memref.view %reinterpret_cast[%c0][] : memref<65536xi8, #gpu.address_space<workgroup>> to memref<32768xi8, #gpu.address_space<workgroup>>
      %view_0 = memref.view %reinterpret_cast[%c32768][] : memref<65536xi8, #gpu.address_space<workgroup>> to memref<32768xi8, #gpu.address_space<workgroup>>
      %4 = arith.cmpi ult, %thread_id_x, %c128 : index
      scf.if %4 {
        %5 = arith.remui %thread_id_x, %c32 : index
        %6 = arith.cmpi eq, %5, %c0 : index
        %7:3 = scf.for %arg5 = %block_id_x to %c15 step %c4 iter_args(%arg6 = %c0_i32, %arg7 = %false, %arg8 = %false) -> (i32, i1, i1) {
          %8 = arith.remui %arg5, %c5 : index
          %9 = arith.divui %arg5, %c5 : index
          %10 = arith.muli %9, %c64 overflow<nsw> : index
          %11 = arith.muli %8, %c64 overflow<nsw> : index
          %subview = memref.subview %arg2[%11, %10] [64, 64] [1, 1] : memref<320x192xf32> to memref<64x64xf32, strided<[192, 1], offset: ?>>
          %12 = arith.remui %thread_id_x, %c4 : index
          %13 = arith.divui %thread_id_x, %c4 : index
          %14 = arith.remui %13, %c8 : index
          %15 = arith.divui %13, %c8 : index
          %16 = arith.muli %15, %c16 overflow<nsw, nuw> : index
          %17 = arith.addi %16, %14 overflow<nsw, nuw> : index
          %18 = arith.muli %12, %c2 overflow<nsw, nuw> : index
          %19 = arith.addi %17, %c8 overflow<nsw, nuw> : index
          %20 = arith.addi %18, %c8 overflow<nsw, nuw> : index
          %21 = arith.addi %18, %c16 overflow<nsw, nuw> : index
          %22 = arith.addi %18, %c24 overflow<nsw, nuw> : index
          %23 = arith.addi %18, %c32 overflow<nsw, nuw> : index
          %24 = arith.addi %18, %c40 overflow<nsw, nuw> : index
          %25 = arith.addi %18, %c48 overflow<nsw, nuw> : index
          %26 = arith.addi %18, %c56 overflow<nsw, nuw> : index
          %27:11 = scf.for %arg9 = %c0_i32 to %c448_i32 step %c64_i32 iter_args(%arg10 = %cst, %arg11 = %cst, %arg12 = %cst, %arg13 = %cst, %arg14 = %cst, %arg15 = %cst, %arg16 = %cst, %arg17 = %cst, %arg18 = %arg6, %arg19 = %arg7, %arg20 = %arg8) -> (vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, i32, i1, i1)  : i32 {
            %45 = arith.index_castui %arg18 : i32 to index
            nvgpu.mbarrier.try_wait.parity %1[%45], %arg19, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            %46 = arith.muli %45, %c8192 overflow<nsw, nuw> : index
            %view_1 = memref.view %view[%46][] : memref<32768xi8, #gpu.address_space<workgroup>> to memref<4096xf16, #gpu.address_space<workgroup>>
            %view_2 = memref.view %view_0[%46][] : memref<32768xi8, #gpu.address_space<workgroup>> to memref<4096xf16, #gpu.address_space<workgroup>>
            %47:8 = workgroup.group_product %view_1[%c0] in <64x64 by 64, chunk 8, xor 0, 7, 0>, %view_2[%c0] in <64x64 by 64, chunk 8, xor 0, 7, 0> to %arg10, %arg11, %arg12, %arg13, %arg14, %arg15, %arg16, %arg17 {pending = 1 : i64} : memref<4096xf16, #gpu.address_space<workgroup>>, memref<4096xf16, #gpu.address_space<workgroup>> to vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>
            %48 = arith.addi %arg18, %c3_i32 overflow<nsw, nuw> : i32
            %49 = arith.addi %arg18, %c-1_i32 : i32
            %50 = arith.cmpi ult, %48, %c4_i32 : i32
            %51 = arith.select %50, %48, %49 : i32
            %52 = arith.index_castui %51 : i32 to index
            scf.if %arg20 {
              %59 = nvgpu.mbarrier.arrive %3[%52] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
            }
            %53 = arith.cmpi eq, %arg18, %c3_i32 : i32
            %54 = arith.xori %arg19, %53 : i1
            %55 = arith.addi %arg18, %c1_i32 overflow<nsw, nuw> : i32
            %56 = arith.addi %arg18, %c-3_i32 : i32
            %57 = arith.cmpi ult, %55, %c4_i32 : i32
            %58 = arith.select %57, %55, %56 : i32
            scf.yield %47#0, %47#1, %47#2, %47#3, %47#4, %47#5, %47#6, %47#7, %58, %54, %6 : vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, i32, i1, i1
          }
          %28:8 = workgroup.await_products %27#0, %27#1, %27#2, %27#3, %27#4, %27#5, %27#6, %27#7 : vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>
          %29 = vector.extract %28#0[0] : vector<2xf32> from vector<2x2xf32>
          %30 = vector.extract %28#1[0] : vector<2xf32> from vector<2x2xf32>
          %31 = vector.extract %28#2[0] : vector<2xf32> from vector<2x2xf32>
          %32 = vector.extract %28#3[0] : vector<2xf32> from vector<2x2xf32>
          %33 = vector.extract %28#4[0] : vector<2xf32> from vector<2x2xf32>
          %34 = vector.extract %28#5[0] : vector<2xf32> from vector<2x2xf32>
          %35 = vector.extract %28#6[0] : vector<2xf32> from vector<2x2xf32>
          %36 = vector.extract %28#7[0] : vector<2xf32> from vector<2x2xf32>
          %37 = vector.extract %28#0[1] : vector<2xf32> from vector<2x2xf32>
          %38 = vector.extract %28#1[1] : vector<2xf32> from vector<2x2xf32>
          %39 = vector.extract %28#2[1] : vector<2xf32> from vector<2x2xf32>
          %40 = vector.extract %28#3[1] : vector<2xf32> from vector<2x2xf32>
          %41 = vector.extract %28#4[1] : vector<2xf32> from vector<2x2xf32>
          %42 = vector.extract %28#5[1] : vector<2xf32> from vector<2x2xf32>
          %43 = vector.extract %28#6[1] : vector<2xf32> from vector<2x2xf32>
          %44 = vector.extract %28#7[1] : vector<2xf32> from vector<2x2xf32>
          vector.store %29, %subview[%17, %18] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %30, %subview[%17, %20] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %31, %subview[%17, %21] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %32, %subview[%17, %22] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %33, %subview[%17, %23] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %34, %subview[%17, %24] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %35, %subview[%17, %25] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %36, %subview[%17, %26] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %37, %subview[%19, %18] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %38, %subview[%19, %20] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %39, %subview[%19, %21] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %40, %subview[%19, %22] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %41, %subview[%19, %23] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %42, %subview[%19, %24] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %43, %subview[%19, %25] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          vector.store %44, %subview[%19, %26] {alignment = 8 : i64} : memref<64x64xf32, strided<[192, 1], offset: ?>>, vector<2xf32>
          scf.yield %27#8, %27#9, %27#10 : i32, i1, i1
        }
      } else {
        %5 = nvvm.elect.sync -> i1
        scf.if %5 {
          %6:3 = scf.for %arg5 = %block_id_x to %c15 step %c4 iter_args(%arg6 = %c0_i32, %arg7 = %true, %zz = %c0) -> (i32, i1, index) {
            %7 = arith.remui %arg5, %c5 : index
            %8 = arith.divui %arg5, %c5 : index
            %9 = arith.muli %8, %c64 overflow<nsw> : index
            %10 = arith.muli %7, %c64 overflow<nsw> : index
            %11:2 = scf.for %arg8 = %c0 to %c448 step %c64 iter_args(%arg9 = %arg6, %arg10 = %arg7) -> (i32, i1) {
              %12 = arith.index_castui %arg9 : i32 to index
              nvgpu.mbarrier.try_wait.parity %3[%12], %arg10, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
              %q = arith.addi %12, %zz : index
              %r = arith.remui %q, %c4 : index
              %13 = arith.muli %r, %c8192 overflow<nsw, nuw> : index
              %view_1 = memref.view %view[%13][] : memref<32768xi8, #gpu.address_space<workgroup>> to memref<4096xf16, #gpu.address_space<workgroup>>
              %view_2 = memref.view %view_0[%13][] : memref<32768xi8, #gpu.address_space<workgroup>> to memref<4096xf16, #gpu.address_space<workgroup>>
              nvgpu.mbarrier.arrive.expect_tx %1[%12], %c16384 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
              %expand_shape = memref.expand_shape %view_1 [[0, 1]] output_shape [64, 64] : memref<4096xf16, #gpu.address_space<workgroup>> into memref<64x64xf16, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg3[%arg8, %10], %1[%12] to %expand_shape : <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xf16, #gpu.address_space<workgroup>>
              %expand_shape_3 = memref.expand_shape %view_2 [[0, 1]] output_shape [64, 64] : memref<4096xf16, #gpu.address_space<workgroup>> into memref<64x64xf16, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg4[%9, %arg8], %1[%12] to %expand_shape_3 : <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xf16, #gpu.address_space<workgroup>>
              %14 = arith.cmpi eq, %arg9, %c3_i32 : i32
              %15 = arith.xori %arg10, %14 : i1
              %16 = arith.addi %arg9, %c1_i32 overflow<nsw, nuw> : i32
              %17 = arith.addi %arg9, %c-3_i32 : i32
              %18 = arith.cmpi ult, %16, %c4_i32 : i32
              %19 = arith.select %18, %16, %17 : i32
              scf.yield %19, %15 : i32, i1
            }
            %zn = arith.addi %zz, %c1 : index
            scf.yield %11#0, %11#1, %zn : i32, i1, index
          }
        }
      }
      gpu.return
    }
  }
}
