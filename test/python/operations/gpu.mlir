//-- all
%r = gpu.thread_id x
keep %r : index
//-- all
%r = gpu.block_id y
keep %r : index
//-- all
%r = gpu.block_dim z
keep %r : index
//-- all
%r = gpu.grid_dim x
keep %r : index
//-- all
%r = gpu.global_id x
keep %r : index
//-- all
%r = gpu.lane_id
keep %r : index
//-- all
%r = gpu.subgroup_id : index
keep %r : index
//-- all
%r = gpu.subgroup_size : index
keep %r : index
//-- all
%r = gpu.num_subgroups : index
keep %r : index
//-- sm_90+
%r = gpu.cluster_id x
keep %r : index
//-- sm_90+
%r = gpu.cluster_dim y
keep %r : index
//-- sm_90+
%r = gpu.cluster_dim_blocks x
keep %r : index
//-- sm_90+
%r = gpu.cluster_block_id x
keep %r : index
//-- all
gpu.barrier
//-- all
%r = gpu.all_reduce add %f32 uniform {} : (f32) -> f32
//-- all
%r = gpu.all_reduce xor %i32 uniform {} : (i32) -> i32
//-- all
%r = gpu.subgroup_reduce add %f32 : (f32) -> f32
//-- all
%r = gpu.subgroup_reduce add %i32 uniform : (i32) -> i32
//-- all
%r = gpu.subgroup_reduce maxsi %i32 uniform cluster(size = 8) : (i32) -> i32
//-- all
%r = gpu.subgroup_reduce mul %h : (f16) -> f16
keep %r : f16
//-- all
%r, %v = gpu.shuffle xor %f32, %i32, %i32 : f32
keep %r : f32
//-- all
%w = arith.constant 32 : i32
%r, %v = gpu.shuffle idx %i32, %i32, %w : i32
keep %r : i32
//-- all
%w = arith.constant 32 : i32
%r, %v = gpu.shuffle up %i64, %i32, %w : i64
keep %r : i64
//-- none
%r, %v = gpu.rotate %f32, 5, 16 : f32
keep %r : f32
//-- none
%r = gpu.subgroup_broadcast %f32, first_active_lane : f32
//-- none
%r = gpu.subgroup_broadcast %f32, specific_lane %i32 : f32
//-- all
gpu.printf "%f\n", %f64 : f64
//-- none
%lane = gpu.lane_id
gpu.warp_execute_on_lane_0(%lane)[32] {
  memref.store %f32, %m32[%x, %x] : memref<64x64xf32>
}
//-- all
%b = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
%v = memref.view %b[%x][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
memref.store %f32, %v[%x] : memref<4xf32, #gpu.address_space<workgroup>>
//-- none
%b = gpu.alloc() : memref<16xf32, 1>
memref.store %f32, %b[%x] : memref<16xf32, 1>
//-- none
gpu.dealloc %m32 : memref<64x64xf32>
//-- none
gpu.memcpy %m32, %n32 : memref<64x64xf32>, memref<64x64xf32>
//-- none
gpu.memset %m32, %f32 : memref<64x64xf32>, f32
//-- all
gpu.wait
//-- none
gpu.set_default_device %i32
//-- none
%u = memref.cast %m32 : memref<64x64xf32> to memref<*xf32>
gpu.host_register %u : memref<*xf32>
//-- none
%u = memref.cast %m32 : memref<64x64xf32> to memref<*xf32>
gpu.host_unregister %u : memref<*xf32>
