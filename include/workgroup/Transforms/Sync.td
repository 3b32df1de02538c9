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
    Removes barriers that order nothing.

    The pass keeps the fewest barriers, of the block and of warps, that order everything that
    the present barriers order. Pairs of accesses that are not known to be ordered otherwise
    keep their barrier. Functions that kernels call, and kernels with a barrier in divergent
    control flow, keep all barriers. A barrier of the block that only orders accesses of threads
    of one warp becomes an `nvvm.bar.warp.sync`. A barrier between atomic updates of the same
    bytes stays if their order matters, and so does one that returns a reduction over threads.
  }];
  let dependentDialects = ["NVVM::NVVMDialect", "arith::ArithDialect"];
  let options = [AssumeDistinctArgumentsOption];
}

def EliminateBarriers_KeptBarriers : Missed<"No barrier of a kernel was removed.">;
def EliminateBarriers_RemovedBarrier
    : Passed<"A barrier that orders nothing was removed.">;
def EliminateBarriers_WeakenedBarrier
    : Passed<"A barrier of the block became a barrier of each warp.">;

def InsertBarriersPass : Pass<"workgroup-insert-barriers"> {
  let summary = "Insert the fewest barriers that order accesses of threads";
  let description = [{
    Inserts the fewest barriers that order conflicting accesses of different threads.

    The pass inserts a `gpu.barrier` where threads of different warps may access the same bytes
    without an order between them, and an `nvvm.bar.warp.sync` where only threads of one warp
    may. Two threads are compared symbolically, by their ids, their loop iterations and the
    conditions around the accesses. What cannot be decided counts as a conflict. Existing
    barriers are taken as given.

    The result has the fewest barriers in the deepest loops, among those the fewest one level
    out, and so on (Darte and Schreiber, "A linear-time algorithm for optimal barrier
    placement", PPoPP 2005). Each barrier stands as late as possible, and only where all threads
    pass. A second run changes nothing. The remarks `InsertedBarrier` and `ExplainedBarrier`
    name the accesses that a barrier orders. In a kernel of more than 64 accesses, or of fewer
    in nested loops, they leave out pairs that other ordered pairs lie between.

    Control flow may consist of branches between blocks of code: loops with one exit and any
    number of back edges, and branches that rejoin. A barrier on an edge, such as the entry
    edges of a loop, gets a new block of code.

    Collective operations (copies, fills and other linalg operations that all threads execute
    with the same operands) count as work of the whole block: however they are distributed
    later, other accesses have to wait for them.

    **Asynchronous copies.** Before barriers, the pass inserts waits for `cp.async` copies
    (`nvgpu.device_async_copy`, `nvvm.cp.async.shared.global`) whose bytes are accessed before
    anything waits for them. The wait is `nvgpu.device_async_wait`, or
    `nvvm.cp.async.wait.group` if no token is available, preceded by a commit of the group if
    there is none. It stands before the barrier that publishes the copy to other threads, or
    otherwise right before the access, and leaves as many groups in flight as possible. Existing
    waits are taken as given.

    **Proxies.** Where threads access bytes that TMA accesses afterwards, and no fence stands in
    between, the pass inserts `nvvm.fence.proxy`: before the barrier in between, or otherwise
    right before the TMA operation.

    The remarks `InsertedWait` and `InsertedFence` report these. Nothing is inserted if a wait
    or a fence does not help, or if a copy is waited for in a way that the analysis does not
    follow, such as by an mbarrier. The conflict is then reported.

    **Other waits.** Where threads may wait for others by a lock, a flag, a barrier of some
    threads, or a phase, no barrier is inserted after that point, as it could block those
    others. Conflicts that it would order are reported.

    With `named-barriers`, accesses in one branch region of an `scf.if` are ordered there by an
    `nvvm.barrier` with a number of its own (1 to 15). This requires that always the same warps,
    with all of their lanes, take that region.

    Fails, and changes nothing in that kernel, if a barrier stands where not all threads arrive
    (`barrier in divergent control flow`), or if two accesses race that no barrier can separate:
    accesses by one operation, or in a region that only some threads execute
    (`cannot synchronize`, with both accesses and threads). If that is not certain, it is a
    warning (`possible data race on`), or an error with `strict`.

    Source: thread "Synchronization after distribution". `docs/design/barriers.md` describes the
    analysis.
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

def InsertBarriers_ExplainedBarrier : Analysis<"The accesses that a barrier orders, as JSON.">;
def InsertBarriers_InsertedBarrier
    : Passed<"A barrier was inserted, with the accesses that it orders.">;
def InsertBarriers_InsertedFence : Passed<"A fence of the asynchronous proxy was inserted.">;
def InsertBarriers_InsertedWait : Passed<"A wait for asynchronous copies was inserted.">;

def PrintAccessesPass : Pass<"workgroup-print-accesses"> {
  let summary = "Print who accesses which memory";
  let description = [{
    Prints a remark for each access to memory that threads share.

    Changes nothing. Each remark stands at its operation and says

    - what the access does: `reads`, `writes` or `updates`; `async` if it may happen later;
    - who does it: `thread`, `warp` or `block`;
    - which memory it may access, or `anything` if nothing is known of it;
    - where: `long` and `apart` in bytes from the start of the buffer or, with indices in
      brackets, in elements of a memref whose strides are not constants;
    - the bounds that the access promises.

    A remark at the kernel names each pair of buffers that may overlap. Values have the names
    under which the IR is printed.

    The synchronisation passes use exactly these facts. Example: `test/Analysis/accesses.mlir`.
  }];
}

def PrintUniformityPass : Pass<"workgroup-print-uniformity"> {
  let summary = "Print what the threads of a block, and of a warp, agree on";
  let description = [{
    Prints what the threads of a block, and of a warp, agree on.

    Changes nothing. A remark at every operation in device code says who executes it together,
    and who gets the same results: `block`, `warp` (32 threads, in the order of x, y, z) or
    `thread`. What cannot be decided counts as `thread`. Other passes use these facts to
    distribute work over a block and to place barriers.

    Example: `test/Analysis/uniformity.mlir`. Source: Karrenberg and Hack, "Improving
    Performance of OpenCL on CPUs" (CC 2012).
  }];
}

def VerifySyncPass : Pass<"workgroup-verify-sync"> {
  let summary = "Prove that threads do not race";
  let description = [{
    Proves that the threads of a kernel do not race, or reports where they may.

    Changes nothing. The pass reports two accesses of different threads to the same byte, at
    least one of them a write, if no barrier separates them on every path from one to the other.
    Threads may be of one block or of two:

    - `data race on`: an error that names the two threads and their accesses.
    - `cannot synchronize`: an error where no barrier would help. Between two blocks, none does.
    - `barrier in divergent control flow`: an error. Not all threads of the block arrive
      together or, for an `nvvm.bar.warp.sync` of all lanes, not all of a warp.
    - `possible data race on`: a warning, or an error with `strict`, with the reason why it
      could not be decided.

    Without a report there is no race, for any launch. This assumes that

    - indices are in bounds;
    - arguments overlap only as `llvm.noalias` and `assume-distinct-arguments` permit;
    - the grid has one block along each dimension whose block id the kernel does not read.
  }];
  let options = [AssumeDistinctArgumentsOption, StrictOption];
}

def VerifySync_SameValue : Analysis<"Threads write the same value to the same bytes.">;

#endif // WORKGROUP_TRANSFORMS_SYNC
