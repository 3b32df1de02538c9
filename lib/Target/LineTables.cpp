//===- LineTables.cpp - Source lines in LLVM IR ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Target/LineTables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

namespace mlir::workgroup {

/// Where `loc` points to: the innermost file and line in it, if any.
static FileLineColLoc findFileLoc(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location part) {
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static LLVM::DICompileUnitAttr makeCompileUnit(MLIRContext *context,
                                               LLVM::DIFileAttr file) {
  return LLVM::DICompileUnitAttr::get(
      DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C,
      file, StringAttr::get(context, "mlir-workgroup"),
      /*isOptimized=*/true, LLVM::DIEmissionKind::LineTablesOnly);
}

static void addScope(LLVM::LLVMFuncOp function) {
  using Scope = FusedLocWith<LLVM::DISubprogramAttr>;
  Location loc = function.getLoc();
  if (function.isExternal() || loc->findInstanceOf<Scope>())
    return;
  MLIRContext *context = function.getContext();
  FileLineColLoc place = findFileLoc(loc);
  auto file = LLVM::DIFileAttr::get(
      context, place ? place.getFilename().getValue() : "<unknown>", "");
  unsigned line = place ? place.getLine() : 0;
  auto scope = LLVM::DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)),
      makeCompileUnit(context, file), file, function.getNameAttr(),
      function.getNameAttr(), file, line, line,
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
      LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {}),
      /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(FusedLoc::get(context, {loc}, scope));
}

void addLineTables(gpu::GPUModuleOp kernels) {
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    addScope(function);
}

} // namespace mlir::workgroup
