//-- all
nvvm.bar.warp.sync %i32 : i32
//-- all
%r = nvvm.shfl.sync bfly %i32, %i32, %i32, %i32 : i32 -> i32
//-- all
%r = nvvm.shfl.sync down %i32, %f32, %i32, %i32 : f32 -> f32
//-- all
%r = nvvm.shfl.sync idx %i32, %f32, %i32, %i32 {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>
//-- all
%r = nvvm.vote.sync ballot %i32, %i1 -> i32
//-- all
%r = nvvm.vote.sync any %i32, %i1 -> i1
//-- all
%r = nvvm.vote.sync all %i32, %i1 -> i1
//-- all
%r = nvvm.vote.sync uni %i32, %i1 -> i1
//-- all
%r = nvvm.match.sync any %i32, %i32 : i32 -> i32
//-- all
%r = nvvm.match.sync all %i32, %i64 : i64 -> !llvm.struct<(i32, i1)>
//-- sm_90+
%r = nvvm.elect.sync -> i1
//-- sm_90+
%r = nvvm.elect.sync %i32 -> i1
//-- sm_80+
%r = nvvm.redux.sync add %i32, %i32 : i32 -> i32
//-- sm_80+
%r = nvvm.redux.sync umax %i32, %i32 : i32 -> i32
//-- sm_80+
%r = nvvm.redux.sync xor %i32, %i32 : i32 -> i32
//-- none
%r = nvvm.redux.sync fmin %f32, %i32 : f32 -> f32
//-- none
%r = nvvm.redux.sync fmax %f32, %i32 {abs = true, nan = true} : f32 -> f32
//-- all
nvvm.barrier0
//-- all
nvvm.barrier
//-- all
nvvm.barrier id = %i32 number_of_threads = %i32
//-- all
%r = nvvm.barrier #nvvm.reduction<popc> %i32 -> i32
//-- all
%r = nvvm.barrier #nvvm.reduction<and> %i32 -> i32
//-- all
%r = nvvm.barrier #nvvm.reduction<or> %i32 -> i32
//-- none
%r = "nvvm.barrier"(%i32, %i32, %i32) <{operandSegmentSizes = array<i32: 1, 1, 1>, reductionOp = #nvvm.reduction<or>}> : (i32, i32, i32) -> i32
//-- none
%r = nvvm.barrier id = %i32 -> i32
//-- all
nvvm.barrier.arrive id = %i32 number_of_threads = %i32
//-- sm_90+
nvvm.cluster.arrive
//-- sm_90+
nvvm.cluster.arrive {aligned}
//-- sm_90+
nvvm.cluster.arrive.relaxed
//-- sm_90+
nvvm.cluster.arrive.relaxed {aligned}
//-- sm_90+
nvvm.cluster.wait
//-- sm_90+
nvvm.cluster.wait {aligned}
//-- all
nvvm.memory.barrier #nvvm.mem_scope<cta>
//-- all
nvvm.memory.barrier #nvvm.mem_scope<gpu>
//-- all
nvvm.memory.barrier #nvvm.mem_scope<sys>
//-- sm_90+
nvvm.memory.barrier #nvvm.mem_scope<cluster>
//-- sm_90+
nvvm.fence.mbarrier.init
//-- all
nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
//-- sm_90+
nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
//-- sm_90+
nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
//-- sm_90+
nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
//-- sm_90+
nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cluster>}
//-- sm_90+
%c = llvm.mlir.constant(128 : i32) : i32
nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %c
//-- sm_90+
%c = llvm.mlir.constant(128 : i32) : i32
nvvm.fence.proxy.acquire #nvvm.mem_scope<cluster> %p, %c from_proxy = #nvvm.proxy_kind<generic> to_proxy = #nvvm.proxy_kind<tensormap>
//-- none
nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %i32
//-- sm_90+
nvvm.fence.proxy.release #nvvm.mem_scope<cta>
//-- sm_90+
nvvm.fence.proxy.sync_restrict {order = #nvvm.mem_order<acquire>}
//-- sm_90+
nvvm.fence.proxy.sync_restrict {order = #nvvm.mem_order<release>}
//-- sm_90+
nvvm.fence.sc.cluster
//-- sm_90+
nvvm.fence.sync_restrict {order = #nvvm.mem_order<acquire>}
//-- sm_90+
nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}
//-- sm_80+
nvvm.mbarrier.init %s, %i32 : !llvm.ptr<3>, i32
//-- sm_80+
nvvm.mbarrier.init %p, %i32 : !llvm.ptr, i32
//-- sm_80+
nvvm.mbarrier.init %s, %i32, predicate = %i1 : !llvm.ptr<3>, i32, i1
//-- sm_80+
nvvm.mbarrier.inval %s : !llvm.ptr<3>
//-- sm_80+
nvvm.mbarrier.inval %p : !llvm.ptr
//-- sm_80+
%r = nvvm.mbarrier.arrive %s : !llvm.ptr<3> -> i64
//-- sm_80+
%r = nvvm.mbarrier.arrive %p : !llvm.ptr -> i64
//-- sm_90+
%r = nvvm.mbarrier.arrive %s, %i32 : !llvm.ptr<3> -> i64
//-- sm_90+
%r = nvvm.mbarrier.arrive %s, %i32 {relaxed = true} : !llvm.ptr<3> -> i64
//-- sm_90+
%r = nvvm.mbarrier.arrive %s {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3> -> i64
//-- sm_90+
nvvm.mbarrier.arrive %d : !llvm.ptr<7>
//-- sm_80+
%r = nvvm.mbarrier.arrive.nocomplete %s, %i32 : !llvm.ptr<3>, i32 -> i64
//-- sm_80+
%r = nvvm.mbarrier.arrive.nocomplete %p, %i32 : !llvm.ptr, i32 -> i64
//-- sm_90+
nvvm.mbarrier.arrive.expect_tx %s, %i32 : !llvm.ptr<3>, i32
//-- sm_90+
%r = nvvm.mbarrier.arrive.expect_tx %s, %i32 : !llvm.ptr<3>, i32 -> i64
//-- sm_90+
nvvm.mbarrier.arrive.expect_tx %s, %i32, predicate = %i1 : !llvm.ptr<3>, i32, i1
//-- sm_90+
nvvm.mbarrier.arrive.expect_tx %p, %i32 : !llvm.ptr, i32
//-- sm_90+
nvvm.mbarrier.arrive.expect_tx %d, %i32 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
//-- sm_90+
%r = nvvm.mbarrier.arrive_drop %s : !llvm.ptr<3> -> i64
//-- sm_90+
%r = nvvm.mbarrier.arrive_drop %s, %i32 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3> -> i64
//-- sm_90+
nvvm.mbarrier.arrive_drop %d : !llvm.ptr<7>
//-- sm_90+
%r = nvvm.mbarrier.arrive_drop.expect_tx %s, %i32 : !llvm.ptr<3>, i32 -> i64
//-- sm_90+
nvvm.mbarrier.arrive_drop.expect_tx %d, %i32 {relaxed = true} : !llvm.ptr<7>, i32
//-- sm_80+
%r = nvvm.mbarrier.arrive_drop.nocomplete %s, %i32 : !llvm.ptr<3>, i32 -> i64
//-- sm_90+
nvvm.mbarrier.expect_tx %s, %i32 : !llvm.ptr<3>, i32
//-- sm_90+
nvvm.mbarrier.expect_tx %d, %i32 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
//-- sm_90+
nvvm.mbarrier.complete_tx %s, %i32 : !llvm.ptr<3>, i32
//-- sm_90+
nvvm.mbarrier.complete_tx %d, %i32 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
//-- sm_80+
%r = nvvm.mbarrier.test.wait %s, %i64 : !llvm.ptr<3>, i64 -> i1
//-- sm_80+
%r = nvvm.mbarrier.test.wait %p, %i64 : !llvm.ptr, i64 -> i1
//-- sm_80+
%r = nvvm.mbarrier.test.wait %s, %i32 : !llvm.ptr<3>, i32 -> i1
//-- sm_90+
%r = nvvm.mbarrier.test.wait %s, %i64 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i64 -> i1
//-- sm_90+
%r = nvvm.mbarrier.test.wait %s, %i64 {relaxed = true} : !llvm.ptr<3>, i64 -> i1
//-- sm_90+
%r = nvvm.mbarrier.try_wait %s, %i64 : !llvm.ptr<3>, i64 -> i1
//-- sm_90+
%r = nvvm.mbarrier.try_wait %s, %i32, %i32 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32, i32 -> i1
//-- sm_90+
nvvm.mbarrier.try_wait.parity %s, %i32, %i32 : !llvm.ptr<3>, i32, i32
//-- sm_90+
nvvm.mbarrier.try_wait.parity %p, %i32, %i32 : !llvm.ptr, i32, i32
//-- sm_80+
nvvm.cp.async.shared.global %s, %g, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
//-- sm_80+
nvvm.cp.async.shared.global %s, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
//-- sm_80+
nvvm.cp.async.shared.global %s, %g, 16, cache = cg, %i32 : !llvm.ptr<3>, !llvm.ptr<1>, i32
//-- sm_80+
nvvm.cp.async.commit.group
//-- sm_80+
nvvm.cp.async.wait.group 1
//-- sm_80+
nvvm.cp.async.mbarrier.arrive %s : !llvm.ptr<3>
//-- sm_80+
nvvm.cp.async.mbarrier.arrive %p {noinc = true} : !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.commit.group
//-- sm_90+
nvvm.cp.async.bulk.wait_group 0
//-- sm_90+
nvvm.cp.async.bulk.wait_group 0 {read}
//-- sm_90+
nvvm.cp.async.bulk.global.shared.cta %g, %s, %i32 : !llvm.ptr<1>, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.global.shared.cta %g, %s, %i32 l2_cache_hint = %i64 : !llvm.ptr<1>, !llvm.ptr<3>
//-- sm_100+
nvvm.cp.async.bulk.global.shared.cta %g, %s, %i32 byte_mask = %i16 : !llvm.ptr<1>, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.prefetch %g, %i32 : !llvm.ptr<1>
//-- sm_90+
nvvm.cp.async.bulk.shared.cluster.global %d, %g, %s, %i32 : !llvm.ptr<7>, !llvm.ptr<1>
//-- sm_90+
nvvm.cp.async.bulk.shared.cluster.global %d, %g, %s, %i32 multicast_mask = %i16 l2_cache_hint = %i64 : !llvm.ptr<7>, !llvm.ptr<1>
//-- sm_90+
nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %i32 : !llvm.ptr<3>, !llvm.ptr<1>
//-- sm_90+
nvvm.cp.async.bulk.shared.cluster.shared.cta %d, %s, %s, %i32 : !llvm.ptr<7>, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[%i32, %i32] : !llvm.ptr, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[%i32, %i32], predicate = %i1 : !llvm.ptr, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[%i32, %i32, %i32] {mode = #nvvm.tma_store_mode<im2col>} : !llvm.ptr, !llvm.ptr<3>
//-- none
nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[%i32, %i32, %i32, %i32, %i32] {mode = #nvvm.tma_store_mode<tile_scatter4>} : !llvm.ptr, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.prefetch %p, box[%i32, %i32] : !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.prefetch %p, box[%i32, %i32, %i32] im2col[%i16] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.prefetch %p, box[%i32, %i32, %i32] im2col[%i16, %i16] {mode = #nvvm.tma_load_mode<im2col_w>} : !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.prefetch %p, box[%i32, %i32, %i32, %i32, %i32] {mode = #nvvm.tma_load_mode<tile_gather4>} : !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.reduce %p, %s, box[%i32, %i32] {redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.reduce %p, %s, box[%i32, %i32] l2_cache_hint = %i64 {redKind = #nvvm.tma_redux_kind<xor>} : !llvm.ptr, !llvm.ptr<3>
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32] : !llvm.ptr<7>, !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32] predicate = %i1 : !llvm.ptr<7>, !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32] multicast_mask = %i16 l2_cache_hint = %i64 : !llvm.ptr<7>, !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i32, %i32] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i32, %i32, %i32] im2col[%i16] {isCTAOnly = true, mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<3>, !llvm.ptr
//-- sm_100+
nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i32, %i32, %i32] im2col[%i16, %i16] {isCTAOnly = true, mode = #nvvm.tma_load_mode<im2col_w>} : !llvm.ptr<3>, !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i32, %i32, %i32] im2col[%i16, %i16] {isCTAOnly = true, mode = #nvvm.tma_load_mode<im2col_w_128>} : !llvm.ptr<3>, !llvm.ptr
//-- sm_100+
nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i32, %i32, %i32, %i32, %i32] {isCTAOnly = true, mode = #nvvm.tma_load_mode<tile_gather4>} : !llvm.ptr<3>, !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32] {group = #nvvm.cta_group<cta_2>} : !llvm.ptr<7>, !llvm.ptr
//-- sm_90+
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32, %i32] im2col[%i16] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32, %i32] im2col[%i16, %i16] {mode = #nvvm.tma_load_mode<im2col_w>} : !llvm.ptr<7>, !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32, %i32] im2col[%i16, %i16] {mode = #nvvm.tma_load_mode<im2col_w_128>} : !llvm.ptr<7>, !llvm.ptr
//-- none
nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %p, %s, box[%i32, %i32, %i32, %i32, %i32] {mode = #nvvm.tma_load_mode<tile_gather4>} : !llvm.ptr<7>, !llvm.ptr
//-- sm_90+
nvvm.prefetch level = L1, %g : !llvm.ptr<1>
//-- sm_90+
nvvm.prefetch level = L2, %p : !llvm.ptr
//-- sm_90+
nvvm.prefetch level = L1, %l : !llvm.ptr<5>
//-- sm_90+
nvvm.prefetch level = L1 uniform, %p : !llvm.ptr
//-- sm_90+
nvvm.prefetch level = L2, evict_priority = evict_last, %g : !llvm.ptr<1>
//-- sm_90+
nvvm.prefetch level = L2, evict_priority = evict_normal, %g : !llvm.ptr<1>
//-- sm_90+
nvvm.prefetch tensormap, %p : !llvm.ptr
//-- sm_90+
nvvm.prefetch tensormap, %p, predicate = %i1 : !llvm.ptr, i1
//-- sm_90+
nvvm.prefetch tensormap, %c : !llvm.ptr<4>
//-- sm_90+
%r = nvvm.mapa %s, %i32 : !llvm.ptr<3> -> !llvm.ptr<7>
//-- sm_90+
%r = nvvm.mapa %p, %i32 : !llvm.ptr -> !llvm.ptr
//-- sm_100+
nvvm.clusterlaunchcontrol.try.cancel %s, %s
//-- none
nvvm.clusterlaunchcontrol.try.cancel multicast, %s, %s
//-- sm_100+
%r = nvvm.clusterlaunchcontrol.query.cancel query = is_canceled, %i128 : i1
//-- sm_100+
%r = nvvm.clusterlaunchcontrol.query.cancel query = get_first_cta_id_x, %i128 : i32
//-- sm_90+
nvvm.griddepcontrol wait
//-- sm_90+
nvvm.griddepcontrol launch_dependents
//-- sm_90a
nvvm.setmaxregister increase 232
//-- sm_90a
nvvm.setmaxregister decrease 40
//-- all
nvvm.nanosleep %i32
//-- all
nvvm.pmevent id = 3
//-- all
nvvm.pmevent mask = 5
//-- all
nvvm.breakpoint
//-- all
nvvm.exit
//-- sm_100+
nvvm.st.bulk %s, size = %i64 : !llvm.ptr<3>
//-- sm_100+
nvvm.st.bulk %p, size = %i64, init = 0 : !llvm.ptr
//-- all
nvvm.inline_ptx "membar.gl;"
//-- all
%r = nvvm.rcp.approx.ftz.f %f32 : f32
//-- all
%r = nvvm.prmt #nvvm.permute_mode<default> %i32, %i32, %i32 : i32
//-- all
%r = nvvm.prmt #nvvm.permute_mode<rc16> %i32, %i32 : i32
//-- all
%a = llvm.bitcast %i32 : i32 to vector<4xi8>
%r = nvvm.dot.accumulate.4way %a <signed>, %a <unsigned>, %i32 : vector<4xi8>, vector<4xi8>
keep %r : i32
//-- all
%a = llvm.bitcast %i32 : i32 to vector<2xi16>
%b = llvm.bitcast %i32 : i32 to vector<4xi8>
%r = nvvm.dot.accumulate.2way %a <signed>, %b <unsigned>, %i32 {b_hi = false} : vector<2xi16>, vector<4xi8>
keep %r : i32
//-- sm_80+
%r = nvvm.convert.float.to.tf32 %f32 {rnd = #nvvm.fp_rnd_mode<rna>}
keep %r : i32
//-- sm_90+
%r = nvvm.convert.float.to.tf32 %f32 {rnd = #nvvm.fp_rnd_mode<rn>}
keep %r : i32
//-- sm_90+
%r = nvvm.convert.float.to.tf32 %f32 {rnd = #nvvm.fp_rnd_mode<rn>, relu = true}
keep %r : i32
//-- sm_80+
%r = nvvm.convert.float.to.tf32 %f32 {rnd = #nvvm.fp_rnd_mode<rna>, sat = #nvvm.sat_mode<satfinite>}
keep %r : i32
//-- sm_100+
%r = nvvm.convert.float.to.tf32 %f32 {rnd = #nvvm.fp_rnd_mode<rz>, sat = #nvvm.sat_mode<satfinite>}
keep %r : i32
//-- sm_89+
%r = nvvm.convert.f32x2.to.f8x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16 (f8E4M3FN)
keep %r : i16
//-- sm_89+
%r = nvvm.convert.f32x2.to.f8x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xi8> (f8E5M2)
keep %r : vector<2xi8>
//-- none
%r = nvvm.convert.f32x2.to.f8x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rp>, sat = #nvvm.sat_mode<satfinite>} : i16 (f8E8M0FNU)
keep %r : i16
//-- none
%r = nvvm.convert.f32x2.to.f6x2 %f32, %f32 : i16 (f6E2M3FN)
keep %r : i16
//-- none
%r = nvvm.convert.f32x2.to.f6x2 %f32, %f32 {relu = true} : i16 (f6E3M2FN)
keep %r : i16
//-- none
%r = nvvm.convert.f32x2.to.f4x2 %f32, %f32 : i8 (f4E2M1FN)
keep %r : i8
//-- sm_89+
%v = llvm.bitcast %i32 : i32 to vector<2xf16>
%r = nvvm.convert.f16x2.to.f8x2 %v : vector<2xf16> -> i16 (f8E4M3FN)
keep %r : i16
//-- none
%v = llvm.bitcast %i32 : i32 to vector<2xbf16>
%r = nvvm.convert.bf16x2.to.f8x2 %v {rnd = #nvvm.fp_rnd_mode<rz>} : vector<2xbf16> -> i16 (f8E8M0FNU)
keep %r : i16
//-- sm_89+
%v = llvm.bitcast %i16 : i16 to vector<2xi8>
%r = nvvm.convert.f8x2.to.f16x2 %v : vector<2xi8> (f8E4M3FN) -> vector<2xf16>
//-- none
%v = llvm.bitcast %i16 : i16 to vector<2xi8>
%r = nvvm.convert.f8x2.to.bf16x2 %v : vector<2xi8> (f8E8M0FNU) -> vector<2xbf16>
//-- none
%v = llvm.bitcast %i16 : i16 to vector<2xi8>
%r = nvvm.convert.f6x2.to.f16x2 %v : vector<2xi8> (f6E2M3FN) -> vector<2xf16>
//-- none
%v = llvm.trunc %i16 : i16 to i8
%r = nvvm.convert.f4x2.to.f16x2 %v : i8 (f4E2M1FN) -> vector<2xf16>
//-- sm_80+
%r = nvvm.convert.f32x2.to.f16x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xf16>
//-- sm_80+
%r = nvvm.convert.f32x2.to.f16x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rz>, relu = true} : vector<2xf16>
//-- sm_80+
%r = nvvm.convert.f32x2.to.f16x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xf16>
//-- none
%r = nvvm.convert.f32x2.to.f16x2 %f32, %f32, %i32 {rnd = #nvvm.fp_rnd_mode<rs>} : vector<2xf16>
//-- sm_80+
%r = nvvm.convert.f32x2.to.bf16x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
//-- sm_80+
%r = nvvm.convert.f32x2.to.bf16x2 %f32, %f32 {rnd = #nvvm.fp_rnd_mode<rz>, sat = #nvvm.sat_mode<satfinite>} : vector<2xbf16>
//-- none
%r = nvvm.convert.f32x2.to.bf16x2 %f32, %f32, %i32 {rnd = #nvvm.fp_rnd_mode<rs>} : vector<2xbf16>
//-- none
%v = llvm.mlir.undef : vector<4xf32>
%r = nvvm.convert.f32x4.to.f8x4 %v, %i32 : vector<4xf32> -> vector<4xi8> (f8E4M3FN)
keep %r : vector<4xi8>
//-- none
%v = llvm.mlir.undef : vector<4xf32>
%r = nvvm.convert.f32x4.to.f6x4 %v, %i32 : vector<4xf32> -> vector<4xi8> (f6E2M3FN)
keep %r : vector<4xi8>
//-- none
%v = llvm.mlir.undef : vector<4xf32>
%r = nvvm.convert.f32x4.to.f4x4 %v, %i32 : vector<4xf32> -> i16 (f4E2M1FN)
keep %r : i16
//-- all
%r = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> i32
//-- all
%r = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
//-- none
%r = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
//-- none
%r = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b6x16_p32>, layout = #nvvm.mma_layout<row>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 16>} : (!llvm.ptr<3>) -> i32
//-- none
%r = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b4x16_p64>, layout = #nvvm.mma_layout<col>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
//-- sm_90+
nvvm.stmatrix %s, %i32 {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32
//-- none
nvvm.stmatrix %s, %i32, %i32 {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 8>} : !llvm.ptr<3>, i32, i32
//-- sm_90a
nvvm.wgmma.fence.aligned
//-- sm_90a
nvvm.wgmma.commit.group.sync.aligned
//-- sm_90a
nvvm.wgmma.wait.group.sync.aligned 0
//-- sm_90a
%u = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
%r = nvvm.wgmma.mma_async %i64, %i64, %u, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<zero>], A [<f16>, #nvvm.wgmma_scale_in<neg>, <col>], B [<f16>, #nvvm.wgmma_scale_in<neg>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
//-- sm_90a
%u = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32)>
%r = nvvm.wgmma.mma_async %i64, %i64, %u, #nvvm.shape<m = 64, n = 8, k = 32>, D [<s32>, #nvvm.wgmma_scale_out<one>], A [<s8>, #nvvm.wgmma_scale_in<one>, <row>], B [<u8>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32)>
//-- sm_90a
%u = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
%r = nvvm.wgmma.mma_async %i64, %i64, %u, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
//-- none
nvvm.tcgen05.alloc %s, %i32 : !llvm.ptr<3>, i32
//-- none
nvvm.tcgen05.dealloc %t, %i32 : !llvm.ptr<6>, i32
//-- none
nvvm.tcgen05.relinquish_alloc_permit
//-- none
nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>
//-- none
nvvm.tcgen05.wait #nvvm.tcgen05_wait<load>
//-- none
nvvm.tcgen05.commit %s : !llvm.ptr<3>
//-- none
nvvm.tcgen05.shift %t : !llvm.ptr<6>
//-- none
nvvm.tcgen05.cp %t, %i64 {shape = #nvvm.tcgen05_cp_shape<shape_128x256b>}
//-- none
%r = nvvm.tcgen05.ld %t {shape = #nvvm.tcgen05_ldst_shape<shape_16x64b>} : vector<2xi32>
//-- none
%v = llvm.mlir.undef : vector<2xi32>
nvvm.tcgen05.st %t, %v {shape = #nvvm.tcgen05_ldst_shape<shape_16x64b>} : vector<2xi32>
//-- none
nvvm.tcgen05.mma %t, %t, %i64, %i32, %i1 {kind = #nvvm.tcgen05_mma_kind<f16>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1)
//-- none
nvvm.tcgen05.mma.sp %t, %t, %i64, %i32, %i1, %t {kind = #nvvm.tcgen05_mma_kind<f16>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1, !llvm.ptr<6>)
//-- none
nvvm.tcgen05.mma.block_scale %t, %t, %i64, %i32, %i1, %t, %t {kind = #nvvm.block_scale_kind<mxf8f6f4>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)
//-- none
nvvm.tcgen05.mma.sp.block_scale %t, %t, %i64, %i32, %i1, %t, %t, %t {kind = #nvvm.block_scale_kind<mxf8f6f4>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>, !llvm.ptr<6>)
//-- none
nvvm.tcgen05.mma.ws %t, %t, %i64, %i32, %i1 {kind = #nvvm.tcgen05_mma_kind<f16>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1)
//-- none
nvvm.tcgen05.mma.ws.sp %t, %t, %i64, %i32, %i1, %t {kind = #nvvm.tcgen05_mma_kind<f16>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1, !llvm.ptr<6>)
//-- all
%b = llvm.mlir.constant(0 : i8) : i8
%r = nvvm.tcgen05.mma_smem_desc (%i32, %i32, %i32, %b, %i1, %b) : (i32, i32, i32, i8, i1, i8) -> i64
