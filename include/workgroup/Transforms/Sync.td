//===- Sync.td - Barriers in, out, and proved --------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_SYNC
#define WORKGROUP_TRANSFORMS_SYNC

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def StrictOption
    : Option<"strict", "strict", "bool", /*default=*/"false",
             "Reject what is not known to be free of data races">;

def EliminateBarriersPass : Pass<"workgroup-eliminate-barriers"> {
  let summary = "Remove barriers that order nothing";
  let description = [{
    Keeps the fewest barriers of a kernel, of the block and of warps, that order all
    that its barriers ordered before, and removes the others. What is not known to
    be ordered without a barrier keeps it; so does a function that kernels call, and
    a kernel one of whose barriers stands in divergent control flow. A barrier of the
    block that is needed only for what threads of one warp do to each other becomes
    a `nvvm.bar.warp.sync`. Between atomic updates of the same bytes one stays where
    their order makes a difference, and so does one that returns a sum of what
    threads bring.
  }];
  let dependentDialects = ["NVVM::NVVMDialect", "arith::ArithDialect"];
  let options = [AssumeDistinctArgumentsOption];
}

def EliminateBarriers_KeptBarriers : Missed<"No barrier of a kernel was removed.">;
def EliminateBarriers_RemovedBarrier
    : Passed<"A barrier that orders nothing was removed.">;
def EliminateBarriers_WeakenedBarrier
    : Passed<"A barrier of the block became one of each warp.">;

def InsertBarriersPass : Pass<"workgroup-insert-barriers"> {
  let summary = "Order accesses of different threads by the fewest barriers";
  let description = [{
    Inserts `gpu.barrier` where threads of different warps may touch the same bytes
    with nothing between them, and `nvvm.bar.warp.sync` where threads of one warp
    may. Two threads are compared symbolically: their ids, the iterations of the loops
    they are in and the conditions around decide whether they can meet; what cannot
    be decided counts as if they could. Barriers that are there already are taken as
    given.

    The result has the fewest barriers in the deepest loops, among those the fewest
    one level out, and so on (Darte and Schreiber, "A linear-time algorithm for
    optimal barrier placement", PPoPP 2005); a barrier stands as late as it can, and
    only where all threads pass. A second run changes nothing. The remarks
    `InsertedBarrier` and `ExplainedBarrier` say which accesses a barrier orders; in
    a kernel of more than 64 accesses, or of fewer in nested loops, only those that
    no others are between which have to be ordered, too.

    Control flow may be branches between blocks: loops with one way out, which may
    have several paths back, and branches that meet again. A barrier on edges, such
    as those into the first block of a loop, stands in a new block.

    Collective operations (copies, fills and other linalg operations that all
    threads execute with the same operands) are taken for the work of the block:
    whatever threads they will be spread over, others have to wait for them.

    Before that, waits are inserted for copies by `cp.async`
    (`nvgpu.device_async_copy`, `nvvm.cp.async.shared.global`) that are touched
    before anything waits for them: `nvgpu.device_async_wait`, or
    `nvvm.cp.async.wait.group` where no token is at hand, and what commits the group
    of the copies where nothing does. A wait stands before the barrier that tells
    other threads, if there is one, or else right before who touches the bytes, and
    leaves as many groups under way as it may. Waits that are there are taken as
    they are. And `nvvm.fence.proxy` is inserted where threads touch what TMA touches
    behind that, and no fence tells it: before the barrier between, or else right
    before TMA. The remarks `InsertedWait` and `InsertedFence` tell of them. Where
    that does not help, or a copy is waited for in a way that is not followed, such
    as by an mbarrier, nothing is inserted, and what is left is reported.

    Where threads may wait for others in another way (for a lock or a flag, at a
    barrier of some threads, for a phase that only some wait for) no barrier is
    inserted behind it, as it could hold those others up; what it would order is
    reported.

    With `named-barriers`, what threads do to each other in a branch region of an `scf.if` is
    ordered there by an `nvvm.barrier` with a number of its own (1 to 15), if always
    the same warps take that branch region, and all of their lanes.

    Fails, and changes nothing in that kernel, if a barrier stands where not all
    threads get to (`barrier in divergent control flow`), and if two accesses race
    that no barrier can separate: by one operation, or in a region that only some
    threads execute (`cannot synchronize`, with both accesses and threads). If that
    is not certain, it is a warning (`possible data race on`), or an error with
    `strict`.

    Answers thread "Synchronization after distribution"; docs/design/barriers.md
    says how it decides.
  }];
  let dependentDialects = ["gpu::GPUDialect", "NVVM::NVVMDialect",
                           "arith::ArithDialect"];
  let options = [AssumeDistinctArgumentsOption, StrictOption,
    Option<"warns", "warn", "bool", /*default=*/"true",
           "Warn of what may race and no barrier can order">,
    Option<"refuses", "refuse", "bool", /*default=*/"true",
           "Fail where no barrier can order; otherwise only warn">,
    Option<"namedBarriers", "named-barriers", "bool", /*default=*/"false",
           "Let warps that take a branch region on their own meet at a "
           "barrier of their own">];
}

def InsertBarriers_ExplainedBarrier : Analysis<"What a barrier orders, as JSON.">;
def InsertBarriers_InsertedBarrier
    : Passed<"A barrier was inserted, and what it orders.">;
def InsertBarriers_InsertedFence : Passed<"A fence of the async proxy was inserted.">;
def InsertBarriers_InsertedWait : Passed<"A wait for asynchronous copies was inserted.">;

def PrintAccessesPass : Pass<"workgroup-print-accesses"> {
  let summary = "Say who touches which memory";
  let description = [{
    Changes nothing. Emits a remark for each access to memory that threads share, at
    its operation: what it does (`reads`, `writes` or `updates`, `async` if it may
    happen later), who does it (`thread`, `warp` or `block`), which memory it may be,
    and where in it: `long` and `apart` in bytes from where the buffer begins or,
    with indices in brackets, in elements of a memref whose strides are not
    constants. `anything` is memory of which nothing is known. What follows are the
    bounds that the access promises. At the kernel, a remark for each two buffers that
    may overlap. Values have the names that the IR is printed with.

    This is what the synchronisation passes go by. Example:
    `test/Analysis/accesses.mlir`.
  }];
}

def PrintUniformityPass : Pass<"workgroup-print-uniformity"> {
  let summary = "Say what the threads of a block, and of a warp, agree on";
  let description = [{
    Changes nothing. Emits a remark at every operation in device code: who executes
    it together, and who holds the same results, `block`, `warp` (32 threads, in the
    order of x, y, z) or `thread`. What cannot be decided counts as `thread`. This is
    what the other passes go by when they spread work over a block or place a
    barrier.

    Example: `test/Analysis/uniformity.mlir`. Source: Karrenberg and Hack, "Improving
    Performance of OpenCL on CPUs" (CC 2012).
  }];
}

def VerifySyncPass : Pass<"workgroup-verify-sync"> {
  let summary = "Prove that threads do not race";
  let description = [{
    Changes nothing. Reports accesses of two threads of a block to the same byte,
    one of which writes, that no barrier on every path from the one to the other
    separates; and those of threads of two blocks:

    - `data race on`: an error. The two threads and what they do are named.
    - `cannot synchronize`: an error, where no barrier could help either: of two
      blocks none can.
    - `barrier in divergent control flow`: an error. Not all threads of the block get
      to it together or, of a `nvvm.bar.warp.sync` of all lanes, of a warp.
    - `possible data race on`: a warning, or an error with `strict`, where it could
      not be decided; with the reason.

    Where it says nothing, there is no race, whatever the kernel is launched with,
    provided that indices are in bounds, that arguments overlap only as
    `llvm.noalias` and `assume-distinct-arguments` let them, and that the grid has
    one block along the dimensions in which the kernel does not ask for its place.
  }];
  let options = [AssumeDistinctArgumentsOption, StrictOption];
}

def VerifySync_SameValue : Analysis<"Threads write the same value to the same bytes.">;

#endif // WORKGROUP_TRANSFORMS_SYNC
