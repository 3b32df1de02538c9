//===- Device.td - Memory of the device for launches -------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_DEVICE
#define WORKGROUP_TRANSFORMS_DEVICE

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def AllocateDeviceMemoryPass
    : Pass<"workgroup-allocate-device-memory", "::mlir::ModuleOp"> {
  let summary = "Allocate device memory for buffers that launches use";
  let description = [{
    Launches of a program that was bufferized, or written by hand, use buffers of
    the host, which no GPU reaches unless they are registered. This pass gives each
    such buffer memory of the device: it becomes a `gpu.alloc` if the host does
    nothing with it but allocate, copy and free it; else it gets a second copy on the
    device, its mirror, that launches use, and both are kept of one mind by
    `gpu.memcpy`:

    ```mlir
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
    gpu.launch_func @kernels::@square ... args(%a : memref<?xf32>)
    gpu.launch_func @kernels::@square ... args(%a : memref<?xf32>)
    %y = memref.load %a[%i] : memref<?xf32>
    ```
    becomes
    ```mlir
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
    %d = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %d, %a : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@square ... args(%d : memref<?xf32>)
    gpu.launch_func @kernels::@square ... args(%d : memref<?xf32>)
    gpu.memcpy %a, %d : memref<?xf32>, memref<?xf32>
    gpu.dealloc %d : memref<?xf32>
    %y = memref.load %a[%i] : memref<?xf32>
    ```

    **Copies.** At each point of the function it is known which of both copies
    hold the newest contents; a `gpu.memcpy` stands where a launch, or the host, may
    need them where they are not. A kernel that writes to a buffer may leave some of
    it as it was, so that it needs the contents as one that reads does, unless they
    are undefined: what is allocated and not yet written is not copied. Of all
    placements in sequences, branches and loops, the pass takes the one with the
    fewest copies at the deepest level of loops, then at the level above, and so on;
    copies leave loops in which only one side uses the buffer, and of equally cheap
    placements it is the one that copies last. A copy that leaves a loop is done
    also if the loop has no iteration.

    **Buffers** are followed through views, which are made anew of the mirror beside
    those of the host, through selections, and through what loops and branches hand
    on. If launches use a value that may be one of several buffers, as in loops that
    swap two, it is memory of the device on every way to it; what the host does with
    such a value, it does with a copy of it. Arguments are memory of the caller, who
    finds the results in them; globals of the host are mirrored in each function, and
    constant ones are not copied back. Calls, and operations that do not tell
    what they access, may do anything to what they are passed, and to all that is
    known elsewhere: inline them first. Calls of a declared function with
    `llvm.readonly` arguments, or of upstream's `printMemref*`, read only.

    Strided buffers with gaps between their rows are copied by way of a contiguous
    buffer of the host. Memory is freed behind its last use, unless the program
    frees it.

    **What is left** as it is: `gpu.alloc`; arguments to which calls in the module
    pass it; memrefs with a memory space; memory that is registered by
    `gpu.host_register`. So are buffers of which the pass is not certain, with a
    remark that names the reason: in asynchronous launches (run `gpu-async-region`
    afterwards, which `gpu-to-llvm` needs), in functions with branches between
    blocks, in parallel loops of the host; arguments that may overlap, if launches
    use both and write to one. `assume-distinct-arguments`, or `llvm.noalias`, says
    that they do not. With `strict`, they are errors.

    Example: `test/Transforms/Device/allocate-device-memory.mlir`.
  }];
  let options = [
    AssumeDistinctArgumentsOption,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Fail where launches go on using memory of the host">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def AllocateDeviceMemory_Copied : Passed<"A buffer is copied, and what for.">;
def AllocateDeviceMemory_LeftOnHost
    : Missed<"Launches go on using a buffer of the host.">;
def AllocateDeviceMemory_Mirrored
    : Passed<"A buffer got a second copy in memory of the device.">;
def AllocateDeviceMemory_Moved : Passed<"A buffer is in memory of the device.">;

#endif // WORKGROUP_TRANSFORMS_DEVICE
