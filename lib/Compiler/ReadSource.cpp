//===- ReadSource.cpp - From text to a verified module
//---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadSource.h"
#include "Compiler/Plan/Guards.h"
#include "GivenLaunch.h"
#include "ReadLLVM.h"
#include "Target/LineTables.h"
#include "mlir/Parser/Parser.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

/// The parser says that a module that the text leaves out is in line 0.
static void locateAtFirstOp(ModuleOp module) {
  auto at = dyn_cast<FileLineColLoc>(module.getLoc());
  if (at && at.getLine() == 0 && !module.getBody()->empty())
    module->setLoc(module.getBody()->front().getLoc());
}

/// Gives what is in a region, and has no place, the place of the operation that
/// the region is of: the parser makes the bodies of named operations of linalg,
/// whose loads and stores are to be told by a place.
static void locateBodies(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (op->getParentOp() && getLocations(op->getLoc()).empty())
      op->setLoc(op->getParentOp()->getLoc());
  });
}

ReadModule readSource(const SourceText &source, const CompileOptions &options,
                      MLIRContext *context) {
  ParserConfig config(context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> parsed =
      isLLVM(source)
          ? readLLVM(source,
                     options.chip.empty() ? getDefaultChipName() : options.chip,
                     context)
          : parseSourceString<ModuleOp>(source.text, config, source.name);
  if (!parsed)
    return {};
  locateAtFirstOp(*parsed);
  locateBodies(*parsed);
  if (failed(verifyParsed(*parsed)))
    return {};
  splitViews(*parsed); // before anything upstream looks at them
  FailureOr<unsigned> numAdopted = adoptKernels(*parsed);
  if (failed(numAdopted) || failed(fixLaunchSizes(*parsed, options)))
    return {};
  bool isForeign = *numAdopted > 0;
  if (isForeign && failed(keepOneKernel(*parsed, options)))
    return {};
  return {std::move(parsed), isForeign};
}

} // namespace mlir::workgroup
