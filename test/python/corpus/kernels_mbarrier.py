"""Kernels whose threads meet at mbarriers, without copies and with those of cp.async."""

from __future__ import annotations

from corpus.kernels_case import Case, eighths, function, module, whole

BARRIERS = "!nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = {}>"
ONE, TWO = BARRIERS.format(1), BARRIERS.format(2)

# A barrier in two parts: each thread arrives, does something else, and waits for the others.
SPLIT = module(
    function(
        "split",
        "%a: memref<2x?x64xi32>, %out: memref<2x?x64xi32>",
        f"""
    %n = memref.dim %a, %c1 : memref<2x?x64xi32>
    %first = arith.cmpi eq, %tx, %c0 : index
    %b = nvgpu.mbarrier.create -> {TWO}
    scf.if %first {{
      nvgpu.mbarrier.init %b[%c0], %c64 : {TWO}
      nvgpu.mbarrier.init %b[%c1], %c64 : {TWO}
    }}
    gpu.barrier
    %other = arith.subi %c63, %tx : index
    scf.for %k = %c0 to %n step %c1 {{
      %x = memref.load %a[%bx, %k, %tx] : memref<2x?x64xi32>
      memref.store %x, %w[%tx] : memref<64xi32, #wg>
      %written = nvgpu.mbarrier.arrive %b[%c0] : {TWO} -> !nvgpu.mbarrier.token
      %bit = arith.remui %k, %c2 : index
      %parity = arith.index_cast %bit : index to i1
      %ticks = arith.constant 10000 : index
      nvgpu.mbarrier.try_wait.parity %b[%c0], %parity, %ticks : {TWO}
      %y = memref.load %w[%other] : memref<64xi32, #wg>
      %z = arith.addi %x, %y : i32
      memref.store %z, %out[%bx, %k, %tx] : memref<2x?x64xi32>
      %read = nvgpu.mbarrier.arrive %b[%c1] : {TWO} -> !nvgpu.mbarrier.token
      nvgpu.mbarrier.try_wait.parity %b[%c1], %parity, %ticks : {TWO}
    }}
""",
        block=(64, 1, 1),
        buffers="%w: memref<64xi32, #wg>",
    )
)

# The forms that ask again and again: by the state that the arrival gave, and by parity; with
# counts, bytes that are told of by hand, and a barrier that becomes another.
ASKING = module(
    function(
        "asking",
        "%a: memref<2x96xi32>, %out: memref<2x96xi32>",
        """
    %first = arith.cmpi eq, %tx, %c0 : index
    %n = arith.constant 96 : i32
    %zeroth = arith.constant 0 : i32
    %ticks = arith.constant 100 : i32
    %two = arith.constant 2 : i32
    %amount = arith.constant 32 : i32
    %pointer = memref.extract_aligned_pointer_as_index %bar : memref<2xi64, #wg> -> index
    %integer = arith.index_cast %pointer : index to i64
    %b = llvm.inttoptr %integer : i64 to !llvm.ptr<3>
    %g = llvm.addrspacecast %b : !llvm.ptr<3> to !llvm.ptr
    %c = llvm.getelementptr %b[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    scf.if %first {
      %all = arith.constant 98 : i32
      nvvm.mbarrier.init %g, %n : !llvm.ptr, i32
      nvvm.mbarrier.init %c, %all : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %x = memref.load %a[%bx, %tx] : memref<2x96xi32>
    memref.store %x, %w[%tx] : memref<96xi32, #wg>
    %state = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %b, %state : !llvm.ptr<3>, i64 -> i1
      %true = arith.constant true
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    %other = arith.subi %c95, %tx : index
    %y = memref.load %w[%other] : memref<96xi32, #wg>
    scf.if %first {
      %s0 = nvvm.mbarrier.arrive.nocomplete %c, %two : !llvm.ptr<3>, i32 -> i64
      nvvm.mbarrier.expect_tx %c, %two : !llvm.ptr<3>, i32
      nvvm.mbarrier.complete_tx %c, %two : !llvm.ptr<3>, i32
      %s1 = nvvm.mbarrier.arrive.expect_tx %c, %amount : !llvm.ptr<3>, i32 -> i64
    }
    %drops = arith.cmpi eq, %tx, %c1 : index
    scf.if %drops {
      %s2 = nvvm.mbarrier.arrive_drop %c : !llvm.ptr<3> -> i64
      nvvm.mbarrier.complete_tx %c, %amount : !llvm.ptr<3>, i32
    }
    %rest = arith.cmpi ugt, %tx, %c2 : index
    scf.if %rest {
      %s3 = nvvm.mbarrier.arrive %c : !llvm.ptr<3> -> i64
    }
    %third = arith.cmpi eq, %tx, %c2 : index
    scf.if %third {
      %one = arith.constant 1 : i32
      %s4 = nvvm.mbarrier.arrive %c, %one : !llvm.ptr<3> -> i64
    }
    scf.while : () -> () {
      %done = nvvm.mbarrier.test.wait %c, %zeroth : !llvm.ptr<3>, i32 -> i1
      %true = arith.constant true
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    scf.if %first {
      nvvm.mbarrier.inval %b : !llvm.ptr<3>
      nvvm.mbarrier.init %b, %n : !llvm.ptr<3>, i32
    }
    gpu.barrier
    memref.store %y, %w[%tx] : memref<96xi32, #wg>
    %s5 = nvvm.mbarrier.arrive %g : !llvm.ptr -> i64
    nvvm.mbarrier.try_wait.parity %g, %zeroth, %ticks : !llvm.ptr, i32, i32
    %z = memref.load %w[%other] : memref<96xi32, #wg>
    %sum = arith.addi %x, %z : i32
    memref.store %sum, %out[%bx, %tx] : memref<2x96xi32>
""",
        block=(96, 1, 1),
        buffers="%w: memref<96xi32, #wg>, %bar: memref<2xi64, #wg>",
    )
)

# Copies by cp.async that an mbarrier tracks: one that counts all of them from the beginning, and
# one that counts them as they come.
TRACKED = module(
    function(
        "tracked",
        "%a: memref<2x2x256xf32>, %out: memref<2x2x256xf32>",
        f"""
    %first = arith.cmpi eq, %tx, %c0 : index
    %b = nvgpu.mbarrier.create -> {TWO}
    nvgpu.mbarrier.init %b[%c0], %c64, predicate = %first : {TWO}
    nvgpu.mbarrier.init %b[%c1], %c64, predicate = %first : {TWO}
    gpu.barrier
    %zeroth = arith.constant false
    %ticks = arith.constant 10000 : index
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %other = affine.apply affine_map<(t) -> (252 - t * 4)>(%tx)
    %p0 = nvgpu.mbarrier.get %b[%c0] : {TWO} -> i32
    %p1 = nvgpu.mbarrier.get %b[%c1] : {TWO} -> i32
    %b0 = llvm.inttoptr %p0 : i32 to !llvm.ptr<3>
    %b1 = llvm.inttoptr %p1 : i32 to !llvm.ptr<3>
    %t0 = nvgpu.device_async_copy %a[%bx, %c0, %i], %u[%i], 4
        : memref<2x2x256xf32> to memref<256xf32, #wg>
    nvvm.cp.async.mbarrier.arrive %b0 {{noinc = true}} : !llvm.ptr<3>
    %t1 = nvgpu.device_async_copy %a[%bx, %c1, %i], %v[%i], 4
        : memref<2x2x256xf32> to memref<256xf32, #wg>
    nvvm.cp.async.mbarrier.arrive %b1 : !llvm.ptr<3>
    %token = nvgpu.mbarrier.arrive %b[%c1] : {TWO} -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {TWO}
    %x = vector.load %u[%other] : memref<256xf32, #wg>, vector<4xf32>
    vector.store %x, %out[%bx, %c0, %i] : memref<2x2x256xf32>, vector<4xf32>
    nvgpu.mbarrier.try_wait.parity %b[%c1], %zeroth, %ticks : {TWO}
    %y = vector.load %v[%other] : memref<256xf32, #wg>, vector<4xf32>
    vector.store %y, %out[%bx, %c1, %i] : memref<2x2x256xf32>, vector<4xf32>
""",
        block=(64, 1, 1),
        buffers="%u: memref<256xf32, #wg>, %v: memref<256xf32, #wg>",
    )
)

CASES = (
    Case(
        "barrier in two parts",
        SPLIT,
        "split",
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [whole(rng, (2, 5, 64)), whole(rng, (2, 5, 64))],
        expect=lambda x: {1: x[0] + x[0][:, :, ::-1]},
        chip="sm_90",
    ),
    Case(
        "mbarriers that are asked",
        ASKING,
        "asking",
        grid=(2, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [whole(rng, (2, 96)), whole(rng, (2, 96))],
        expect=lambda x: {1: 2 * x[0]},
        chip="sm_90",
    ),
    Case(
        "copies that an mbarrier tracks",
        TRACKED,
        "tracked",
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [eighths(rng, (2, 2, 256)), eighths(rng, (2, 2, 256))],
        expect=lambda x: {1: x[0].reshape(2, 2, 64, 4)[:, :, ::-1].reshape(2, 2, 256)},
        chip="sm_90",
    ),
)
