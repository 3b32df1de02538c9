//-- sm_80+
%w = memref.alloc() : memref<64x64xf32, #gpu.address_space<workgroup>>
%t = nvgpu.device_async_copy %m32[%x, %x], %w[%x, %x], 4 : memref<64x64xf32> to memref<64x64xf32, #gpu.address_space<workgroup>>
nvgpu.device_async_wait %t
//-- sm_80+
%w = memref.alloc() : memref<64x64xf32, #gpu.address_space<workgroup>>
%t = nvgpu.device_async_copy %m32[%x, %x0], %w[%x, %x0], 4, %x {bypassL1} : memref<64x64xf32> to memref<64x64xf32, #gpu.address_space<workgroup>>
%g = nvgpu.device_async_create_group %t
nvgpu.device_async_wait %g {numGroups = 1 : i32}
//-- all
%w = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
%f = nvgpu.ldmatrix %w[%x, %x0] {numTiles = 4 : i32, transpose = false} : memref<64x64xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
%row = vector.extract %f[0] : vector<2xf16> from vector<4x2xf16>
vector.store %row, %m16[%x, %x0] : memref<64x64xf16>, vector<2xf16>
//-- all
%w = memref.alloc() : memref<64x64xi8, 3>
%f = nvgpu.ldmatrix %w[%x, %x0] {numTiles = 2 : i32, transpose = false} : memref<64x64xi8, 3> -> vector<2x4xi8>
%row = vector.extract %f[0] : vector<4xi8> from vector<2x4xi8>
vector.store %row, %m8[%x, %x0] : memref<64x64xi8>, vector<4xi8>
//-- all
%a = vector.broadcast %h : f16 to vector<2x2xf16>
%b = vector.broadcast %h : f16 to vector<1x2xf16>
%d = nvgpu.mma.sync(%a, %b, %a) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
%row = vector.extract %d[0] : vector<2xf16> from vector<2x2xf16>
vector.store %row, %m16[%x, %x] : memref<64x64xf16>, vector<2xf16>
//-- sm_80+
%a = vector.broadcast %h : f16 to vector<4x2xf16>
%b = vector.broadcast %h : f16 to vector<2x2xf16>
%d = nvgpu.mma.sync(%a, %b, %b) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
%row = vector.extract %d[0] : vector<2xf16> from vector<2x2xf16>
vector.store %row, %m16[%x, %x] : memref<64x64xf16>, vector<2xf16>
//-- sm_80+
%a = vector.broadcast %h : f16 to vector<4x2xf16>
%b = vector.broadcast %h : f16 to vector<2x2xf16>
%c = vector.broadcast %f32 : f32 to vector<2x2xf32>
%d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
%row = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
vector.store %row, %m32[%x, %x] : memref<64x64xf32>, vector<2xf32>
//-- none
%a = vector.broadcast %bf : bf16 to vector<4x2xbf16>
%b = vector.broadcast %bf : bf16 to vector<2x2xbf16>
%c = vector.broadcast %f32 : f32 to vector<2x2xf32>
%d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
%row = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
vector.store %row, %m32[%x, %x] : memref<64x64xf32>, vector<2xf32>
//-- sm_80+
%a = vector.broadcast %f32 : f32 to vector<4x1xf32>
%b = vector.broadcast %f32 : f32 to vector<2x1xf32>
%c = vector.broadcast %f32 : f32 to vector<2x2xf32>
%d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
%row = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
vector.store %row, %m32[%x, %x] : memref<64x64xf32>, vector<2xf32>
//-- none
%a = vector.broadcast %f32 : f32 to vector<4x1xf32>
%b = vector.broadcast %f32 : f32 to vector<2x1xf32>
%c = vector.broadcast %f32 : f32 to vector<2x2xf32>
%d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
%row = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
vector.store %row, %m32[%x, %x] : memref<64x64xf32>, vector<2xf32>
//-- sm_80+
%a = vector.broadcast %f64 : f64 to vector<1x1xf64>
%c = vector.broadcast %f64 : f64 to vector<1x2xf64>
%d = nvgpu.mma.sync(%a, %a, %c) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
%row = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
vector.store %row, %m64[%x, %x] : memref<64x64xf64>, vector<2xf64>
//-- sm_80+
%a = vector.broadcast %i8 : i8 to vector<4x4xi8>
%b = vector.broadcast %i8 : i8 to vector<2x4xi8>
%c = vector.broadcast %i32 : i32 to vector<2x2xi32>
%d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
%row = vector.extract %d[0] : vector<2xi32> from vector<2x2xi32>
vector.store %row, %mi32[%x, %x] : memref<64x64xi32>, vector<2xi32>
//-- sm_80+
%a = vector.broadcast %h : f16 to vector<4x2xf16>
%b = vector.broadcast %h : f16 to vector<4x2xf16>
%c = vector.broadcast %h : f16 to vector<2x2xf16>
%e = arith.constant dense<0> : vector<2xi16>
%d = nvgpu.mma.sp.sync(%a, %b, %c) metadata(%e) {mmaShape = [16, 8, 32]} : (vector<4x2xf16>, vector<4x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
%row = vector.extract %d[0] : vector<2xf16> from vector<2x2xf16>
vector.store %row, %m16[%x, %x] : memref<64x64xf16>, vector<2xf16>
//-- none
%a = vector.broadcast %bf : bf16 to vector<4x2xbf16>
%b = vector.broadcast %bf : bf16 to vector<4x2xbf16>
%c = vector.broadcast %f32 : f32 to vector<2x2xf32>
%e = arith.constant dense<0> : vector<2xi16>
%d = nvgpu.mma.sp.sync(%a, %b, %c) metadata(%e) {mmaShape = [16, 8, 32]} : (vector<4x2xbf16>, vector<4x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
%row = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
vector.store %row, %m32[%x, %x] : memref<64x64xf32>, vector<2xf32>
//-- sm_80+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
nvgpu.mbarrier.init %b[%x], %x : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
//-- sm_80+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
nvgpu.mbarrier.init %b[%x], %x, predicate = %i1 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
//-- all
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
%r = nvgpu.mbarrier.get %b[%x] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2> -> i64
//-- sm_80+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
%t = nvgpu.mbarrier.arrive %b[%x] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
%r = nvgpu.mbarrier.test.wait %b[%x], %t : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token
keep %r : i1
//-- sm_80+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
%t = nvgpu.mbarrier.arrive.nocomplete %b[%x], %x : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
%r = nvgpu.mbarrier.test.wait %b[%x], %t : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token
keep %r : i1
//-- sm_90+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
nvgpu.mbarrier.arrive.expect_tx %b[%x], %x : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
//-- sm_90+
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
nvgpu.mbarrier.try_wait.parity %b[%x], %i1, %x : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
//-- sm_90+
nvgpu.tma.prefetch.descriptor %map : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
//-- sm_90+
nvgpu.tma.fence.descriptor %map : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
//-- sm_90+
%w = memref.alloc() {alignment = 128 : i64} : memref<64x64xf32, #gpu.address_space<workgroup>>
%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
nvgpu.tma.async.load %map[%x, %x], %b[%x] to %w : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> memref<64x64xf32, #gpu.address_space<workgroup>>
//-- sm_90+
%w = memref.alloc() {alignment = 128 : i64} : memref<64x64xf32, #gpu.address_space<workgroup>>
nvgpu.tma.async.store %w to %map[%x, %x] : memref<64x64xf32, #gpu.address_space<workgroup>> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
nvvm.cp.async.bulk.commit.group
nvvm.cp.async.bulk.wait_group 0
//-- none
%u = memref.cast %m32 : memref<64x64xf32> to memref<*xf32>
%e = nvgpu.tma.create.descriptor %u box[%x, %x] : memref<*xf32> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
nvgpu.tma.prefetch.descriptor %e : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
//-- sm_90a
%w = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #gpu.address_space<workgroup>>
%a = nvgpu.warpgroup.generate.descriptor %w, %map128 : memref<64x64xf16, #gpu.address_space<workgroup>>, !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>
%z = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
%d = nvgpu.warpgroup.mma %a, %a, %z {transposeB} : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>, !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>, !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
nvgpu.warpgroup.mma.store %d, %m32 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> to memref<64x64xf32>
//-- all
%v = vector.load %m32[%x, %x] : memref<64x64xf32>, vector<4xf32>
%d = nvgpu.rcp %v {rounding = approx, ftz} : vector<4xf32>
vector.store %d, %m32[%x, %x] : memref<64x64xf32>, vector<4xf32>
