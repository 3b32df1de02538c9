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
    Gives host buffers that launches use memory on the device, with the fewest copies.

    No GPU can access a host buffer unless it is registered. A buffer becomes a `gpu.alloc` if
    the host only allocates, copies and frees it. Otherwise it gets a second copy on the device,
    its *mirror*, which launches use; `gpu.memcpy` keeps both consistent:

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

    **Copies.** At each point of the function, the pass knows which of the two copies is
    current. A `gpu.memcpy` is inserted where a launch, or the host, may need a copy that is
    not. A kernel that writes a buffer may leave part of it unchanged, so it needs the contents
    like a reader, unless they are undefined: buffers that are allocated and not yet written are
    not copied. Of all placements in sequences, branches and loops, the pass takes the one with
    the fewest copies in the deepest loops, then one level out, and so on. Copies leave loops in
    which only one side uses the buffer, and are then executed even if the loop has no
    iterations. Of equally cheap placements, the pass takes the latest.

    **Buffers** are followed through views, which are recreated on the mirror, through
    selections, and through loops and branches. If launches use a value that may be one of
    several buffers, as in loops that swap two, it is device memory on every path to it; the
    host accesses such a value through a copy. Arguments are memory of the caller, who finds the
    results in them. Globals of the host are mirrored in each function; constant globals are not
    copied back. Calls, and operations that do not declare their effects, may access what they
    are passed and everything that has escaped: inline them first. Calls of a declared function
    with `llvm.readonly` arguments, or of upstream's `printMemref*`, only read.

    Strided buffers with gaps between their rows are copied through a contiguous buffer of the
    host. Memory is freed after its last use, unless the program frees it.

    **Left unchanged** are `gpu.alloc`; arguments to which calls in the module pass one; memrefs
    with a memory space; and memory registered by `gpu.host_register`. Where the pass is not
    certain, a buffer is left unchanged with a remark that gives the reason: in asynchronous
    launches (run `gpu-async-region` afterwards, which `gpu-to-llvm` needs), in functions with
    branches between blocks of code, in parallel loops of the host, and for arguments that may
    overlap, if launches use both and write one. `assume-distinct-arguments`, or `llvm.noalias`,
    excludes overlap. With `strict`, such buffers are errors.

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

def AllocateDeviceMemory_Copied : Passed<"A buffer is copied, with the reason.">;
def AllocateDeviceMemory_LeftOnHost
    : Missed<"Launches go on using a buffer of the host.">;
def AllocateDeviceMemory_Mirrored
    : Passed<"A buffer got a mirror in device memory.">;
def AllocateDeviceMemory_Moved : Passed<"A buffer was moved to device memory.">;

#endif // WORKGROUP_TRANSFORMS_DEVICE
