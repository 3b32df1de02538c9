//===- Bindings.h - The parts of the extension ---------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The extension `_native` is one module in several sources, so that each
// compiles on its own; each adds its functions to the module by one of these.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_BINDINGS_H
#define PIPELINE_BINDINGS_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

/// Lets records be copied and pickled that consist of `members`.
template <typename Record, typename... Members>
void makePicklable(nanobind::class_<Record> &record,
                   Members Record::*...members) {
  record.def("__getstate__", [=](const Record &self) {
    return std::make_tuple(self.*members...);
  });
  record.def("__setstate__",
             [=](Record &self, const std::tuple<Members...> &state) {
               new (&self) Record();
               std::tie(self.*members...) = state;
             });
}

void bindEmulator(nanobind::module_ &m);
void bindKernelFunctions(nanobind::module_ &m);

#endif // PIPELINE_BINDINGS_H
