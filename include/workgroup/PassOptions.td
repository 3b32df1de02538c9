//===- PassOptions.td - Options of several passes ----------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASS_OPTIONS
#define WORKGROUP_PASS_OPTIONS

include "mlir/Pass/PassBase.td"

/// An option that pipelines have, too (workgroup/PassOptions.h).
class SharedOption {
  string argument;
  string description;
}

def ChipOption
    : SharedOption, Option<"chip", "chip", "std::string", /*default=*/"\"\"",
             "The chip to compile for, as `sm_90a`; empty means the target of the "
             "gpu.module, else sm_80">;

def AssumeAlignmentOption
    : SharedOption, Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
             "Alignment in bytes that memref arguments of kernels and of the host "
             "may be assumed to have, a power of two; whoever launches must see to it">;

def AssumeDistinctArgumentsOption
    : SharedOption, Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
             /*default=*/"false",
             "Take different memref arguments of a function, and pointers, not to overlap">;

def TensorCoresOption
    : SharedOption, Option<"tensorCores", "tensor-cores", "bool", /*default=*/"true",
             "Compute contractions on tensor cores, where they have the types">;

def WarpGroupsOption
    : SharedOption, Option<"warpGroups", "warp-groups", "bool", /*default=*/"true",
             "Let the warp groups of sm_90a multiply tiles that TMA fills where they are">;

def StoreRingsOption
    : SharedOption, Option<"storeRings", "store-rings", "bool", /*default=*/"true",
             "Let TMA store the results of 16 bits that warp groups of sm_90a compute, from slots "
             "of each warp in workgroup memory">;

def TF32Option
    : SharedOption, Option<"tf32", "tf32", "bool", /*default=*/"false",
             "Round the factors of contractions in f32 to tf32, for tensor cores">;

def NarrowOption
    : SharedOption, Option<"narrow", "narrow", "bool", /*default=*/"false",
             "Round the weights of attention to the 16 bits of values, and scale sums of "
             "products in place of factors of bf16, for tensor cores">;

def MaxStaticBytesOption
    : Option<"maxStaticBytes", "max-static-bytes", "int64_t", /*default=*/"kMaxStaticWorkgroupBytes",
             "Largest number of bytes of static workgroup memory of a kernel">;

def MaxBytesOption
    : Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
             "Largest number of bytes of workgroup memory of a kernel, static and "
             "dynamic; 0 means that of the chip">;

def FromSpacesOption
    : SharedOption, ListOption<"fromSpaces", "from-spaces", "std::string",
                 "Memory spaces of other systems, each as N:workgroup, N:private "
                 "or N:global: memrefs in memory space N are respelled before "
                 "anything else">;

#endif // WORKGROUP_PASS_OPTIONS
