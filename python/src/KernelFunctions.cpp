//===- KernelFunctions.cpp - Python bindings of what becomes kernels ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The records of workgroup/Compiler/KernelFunctions.h, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Compiler/KernelFunctions.h"
#include "Bindings.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir::workgroup;

void bindKernelFunctions(nb::module_ &m) {
  nb::class_<KernelOperandRecord>(m, "KernelOperand")
      .def_ro("element_type", &KernelOperandRecord::elementType)
      .def_ro("bits", &KernelOperandRecord::bits)
      .def_ro("shape", &KernelOperandRecord::shape)
      .def_ro("loops", &KernelOperandRecord::loops);
  nb::class_<ContractionRecord>(m, "Contraction")
      .def_ro("batch", &ContractionRecord::batch)
      .def_ro("m", &ContractionRecord::m)
      .def_ro("n", &ContractionRecord::n)
      .def_ro("k", &ContractionRecord::k);
  nb::class_<KernelOpRecord>(m, "KernelOp")
      .def_ro("kind", &KernelOpRecord::kind)
      .def_ro("location", &KernelOpRecord::location)
      .def_ro("parallel", &KernelOpRecord::isParallel)
      .def_ro("extents", &KernelOpRecord::extents)
      .def_ro("rows", &KernelOpRecord::rows)
      .def_ro("inputs", &KernelOpRecord::inputs)
      .def_ro("results", &KernelOpRecord::results)
      .def_ro("body_ops", &KernelOpRecord::numBodyOps)
      .def_ro("is_copy", &KernelOpRecord::isCopy)
      .def_ro("is_combinable", &KernelOpRecord::isCombinable)
      .def_ro("is_splittable", &KernelOpRecord::isSplittable)
      .def_ro("contraction", &KernelOpRecord::contraction);
  nb::class_<KernelChainRecord>(m, "KernelChain")
      .def_ro("first", &KernelChainRecord::first)
      .def_ro("second", &KernelChainRecord::second)
      .def_ro("row", &KernelChainRecord::row)
      .def_ro("row_bytes", &KernelChainRecord::rowBytes)
      .def_ro("tile_bytes", &KernelChainRecord::tileBytes)
      .def_ro("stream_row_bytes", &KernelChainRecord::streamRowBytes)
      .def_ro("stream_tile_bytes", &KernelChainRecord::streamTileBytes);
  nb::class_<KernelFunctionRecord>(m, "KernelFunction")
      .def_ro("name", &KernelFunctionRecord::name)
      .def_ro("symbol", &KernelFunctionRecord::symbol)
      .def_ro("kind", &KernelFunctionRecord::kind)
      .def_ro("ops", &KernelFunctionRecord::ops)
      .def_ro("shared", &KernelFunctionRecord::isShared)
      .def_ro("chain", &KernelFunctionRecord::chain);
}
