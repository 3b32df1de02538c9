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
#include "llvm/IR/DebugInfoMetadata.h"

namespace mlir::workgroup {

/// What tells a scope of further places from others.
static constexpr unsigned kFurther = 1;

/// Places, each of which is where something starts.
using Places = llvm::SmallSetVector<FileLineColRange, 2>;

/// Adds the places that `loc` points to: the innermost file and line, or those
/// of all parts of a fused location.
static void collectPlaces(Location loc, Places &places) {
  if (auto range = dyn_cast<FileLineColRange>(loc)) {
    places.insert(FileLineColLoc::get(range.getFilename(), range.getStartLine(),
                                      range.getStartColumn()));
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    size_t before = places.size();
    collectPlaces(call.getCallee(), places);
    if (places.size() == before)
      collectPlaces(call.getCaller(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectPlaces(part, places);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    collectPlaces(name.getChildLoc(), places);
  } else if (auto opaque = dyn_cast<OpaqueLoc>(loc)) {
    collectPlaces(opaque.getFallbackLocation(), places);
  }
}

SmallVector<FileLineColRange> getPlaces(Location loc) {
  Places places;
  collectPlaces(loc, places);
  return places.takeVector();
}

/// Where `loc` points to: the innermost file and line in it, if any.
static FileLineColRange findFileLoc(Location loc) {
  SmallVector<FileLineColRange> places = getPlaces(loc);
  return places.empty() ? FileLineColRange() : places.front();
}

static LLVM::DICompileUnitAttr makeCompileUnit(MLIRContext *context,
                                               LLVM::DIFileAttr file) {
  return LLVM::DICompileUnitAttr::get(
      DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C,
      file, StringAttr::get(context, "mlir-workgroup"),
      /*isOptimized=*/true, LLVM::DIEmissionKind::LineTablesOnly);
}

/// `place` as one of the function that `scope` is of.
static Location makePlace(FileLineColRange place, LLVM::DISubprogramAttr scope,
                          bool isFurther) {
  MLIRContext *context = place.getContext();
  auto file =
      LLVM::DIFileAttr::get(context, place.getFilename().getValue(), "");
  if (!isFurther && file == scope.getFile())
    return FusedLoc::get(context, {place}, scope);
  return FusedLoc::get(
      context, {place},
      LLVM::DILexicalBlockFileAttr::get(scope, file, isFurther ? kFurther : 0));
}

/// What `loc` is translated as. Locations that have a scope are of programs
/// that were compiled with one, and keep it.
static Location translate(Location loc, LLVM::DISubprogramAttr scope) {
  using Scope = FusedLocWith<LLVM::DILocalScopeAttr>;
  SmallVector<FileLineColRange> places = getPlaces(loc);
  if (places.empty() || loc->findInstanceOf<Scope>())
    return loc;
  if (places.size() == 1 &&
      places.front().getFilename() == scope.getFile().getName())
    return places.front();
  std::optional<Location> chain;
  for (FileLineColRange place : llvm::reverse(places)) {
    Location here = makePlace(place, scope, place != places.front());
    chain = chain ? Location(CallSiteLoc::get(here, *chain)) : here;
  }
  return *chain;
}

static void addScope(LLVM::LLVMFuncOp function) {
  using Scope = FusedLocWith<LLVM::DISubprogramAttr>;
  Location loc = function.getLoc();
  if (function.isExternal() || loc->findInstanceOf<Scope>())
    return;
  MLIRContext *context = function.getContext();
  FileLineColRange place = findFileLoc(loc);
  auto file = LLVM::DIFileAttr::get(
      context, place ? place.getFilename().getValue() : "<unknown>", "");
  unsigned line = place ? place.getStartLine() : 0;
  auto scope = LLVM::DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)),
      makeCompileUnit(context, file), file, function.getNameAttr(),
      function.getNameAttr(), file, line, line,
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
      LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {}),
      /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(FusedLoc::get(context, {loc}, scope));
  function.getBody().walk(
      [&](Operation *op) { op->setLoc(translate(op->getLoc(), scope)); });
}

bool isFurtherPlace(const llvm::DILocation &place) {
  auto *scope = dyn_cast<llvm::DILexicalBlockFile>(place.getScope());
  return scope && scope->getDiscriminator() == kFurther;
}

void addLineTables(gpu::GPUModuleOp kernels) {
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    addScope(function);
}

} // namespace mlir::workgroup
