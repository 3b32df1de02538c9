//===- LineTables.cpp - Source lines in LLVM IR ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineTables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace mlir::workgroup {

/// The mark that tells a scope of further locations from others.
static constexpr unsigned kFurther = 1;

/// Places, each of which is where something starts.
using Places = llvm::SmallSetVector<FileLineColRange, 2>;

/// Adds the locations that `loc` points to: the innermost file and line, or
/// those of all parts of a fused location.
static void collectPlaces(Location loc, Places &locations) {
  if (auto range = dyn_cast<FileLineColRange>(loc)) {
    locations.insert(FileLineColLoc::get(
        range.getFilename(), range.getStartLine(), range.getStartColumn()));
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    size_t before = locations.size();
    collectPlaces(call.getCallee(), locations);
    if (locations.size() == before)
      collectPlaces(call.getCaller(), locations);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectPlaces(part, locations);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    collectPlaces(name.getChildLoc(), locations);
  } else if (auto opaque = dyn_cast<OpaqueLoc>(loc)) {
    collectPlaces(opaque.getFallbackLocation(), locations);
  }
}

SmallVector<FileLineColRange> getLocations(Location loc) {
  Places locations;
  collectPlaces(loc, locations);
  return locations.takeVector();
}

/// The location that `loc` points to: the innermost file and line in it, if
/// any.
static FileLineColRange findFileLoc(Location loc) {
  SmallVector<FileLineColRange> locations = getLocations(loc);
  return locations.empty() ? FileLineColRange() : locations.front();
}

static LLVM::DICompileUnitAttr makeCompileUnit(MLIRContext *context,
                                               LLVM::DIFileAttr file) {
  return LLVM::DICompileUnitAttr::get(
      DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C,
      file, StringAttr::get(context, "mlir-workgroup"),
      /*isOptimized=*/true, LLVM::DIEmissionKind::DebugDirectivesOnly);
}

/// `location` as one of the function that `scope` is of.
static Location makeLocation(FileLineColRange location,
                             LLVM::DISubprogramAttr scope, bool isFurther) {
  MLIRContext *context = location.getContext();
  auto file =
      LLVM::DIFileAttr::get(context, location.getFilename().getValue(), "");
  if (!isFurther && file == scope.getFile())
    return FusedLoc::get(context, {location}, scope);
  return FusedLoc::get(
      context, {location},
      LLVM::DILexicalBlockFileAttr::get(scope, file, isFurther ? kFurther : 0));
}

/// The location that `loc` is translated as. Locations that have a scope are of
/// programs that were compiled with one, and keep it.
static Location translate(Location loc, LLVM::DISubprogramAttr scope) {
  using Scope = FusedLocWith<LLVM::DILocalScopeAttr>;
  SmallVector<FileLineColRange> locations = getLocations(loc);
  if (locations.empty() || loc->findInstanceOf<Scope>())
    return loc;
  if (locations.size() == 1 &&
      locations.front().getFilename() == scope.getFile().getName())
    return locations.front();
  std::optional<Location> chain;
  for (FileLineColRange location : llvm::reverse(locations)) {
    Location here =
        makeLocation(location, scope, location != locations.front());
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
  FileLineColRange location = findFileLoc(loc);
  auto file = LLVM::DIFileAttr::get(
      context, location ? location.getFilename().getValue() : "<unknown>", "");
  unsigned line = location ? location.getStartLine() : 0;
  auto scope = LLVM::DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)),
      makeCompileUnit(context, file), file, function.getNameAttr(),
      function.getNameAttr(), file, line, line,
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
      LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {}),
      /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(FusedLoc::get(context, {loc}, scope));
  DenseMap<Location, Location> translated; // few, of many operations
  function.getBody().walk([&](Operation *op) {
    auto it = translated.find(op->getLoc());
    if (it == translated.end())
      it = translated.insert({op->getLoc(), translate(op->getLoc(), scope)})
               .first;
    op->setLoc(it->second);
  });
}

bool isFurtherLocation(const llvm::DILocation &location) {
  auto *scope = dyn_cast<llvm::DILexicalBlockFile>(location.getScope());
  return scope && scope->getDiscriminator() == kFurther;
}

/// The location of `loc` after all calls from which it was inlined, names
/// aside.
static Location getOutermost(Location loc) {
  while (true) {
    if (auto named = dyn_cast<NameLoc>(loc))
      loc = named.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(loc))
      loc = call.getCaller();
    else
      return loc;
  }
}

/// The function in whose code `loc`, an outermost one, says to be; null if it
/// does not say.
static LLVM::DISubprogramAttr getSubprogram(Location loc) {
  auto fused = dyn_cast<FusedLocWith<LLVM::DILocalScopeAttr>>(loc);
  LLVM::DIScopeAttr scope = fused ? fused.getMetadata() : LLVM::DIScopeAttr();
  while (scope && !isa<LLVM::DISubprogramAttr>(scope)) {
    if (auto block = dyn_cast<LLVM::DILexicalBlockAttr>(scope))
      scope = block.getScope();
    else if (auto block = dyn_cast<LLVM::DILexicalBlockFileAttr>(scope))
      scope = block.getScope();
    else
      return {};
  }
  return dyn_cast_or_null<LLVM::DISubprogramAttr>(scope);
}

/// `loc` as it is in the code of `own`: its line only, if it says to be in the
/// code of another function.
static Location leaveOtherScopes(Location loc, LLVM::DISubprogramAttr own) {
  using Scope = FusedLocWith<LLVM::DILocalScopeAttr>;
  Location outermost = getOutermost(loc);
  LLVM::DISubprogramAttr scope = getSubprogram(outermost);
  // A call without a scope is translated as one in this function.
  bool isCalledHere = outermost != loc && loc->findInstanceOf<CallSiteLoc>() &&
                      !outermost->findInstanceOf<Scope>();
  if (isCalledHere || (scope && scope == own))
    return loc;
  FileLineColRange location = findFileLoc(loc);
  return location ? makeLocation(location, own, /*isFurther=*/false)
                  : Location(UnknownLoc::get(loc.getContext()));
}

/// Makes operations of `function` that say to be in the code of another one,
/// from which they were taken, tell their line only. What a debugger would show
/// of variables goes away.
static void leaveOtherScopes(LLVM::LLVMFuncOp function) {
  auto own =
      function.getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>();
  if (!own)
    return;
  DenseMap<Location, Location> left; // few, of many operations
  function.walk([&](Operation *op) {
    if (isa<LLVM::DbgDeclareOp, LLVM::DbgValueOp, LLVM::DbgLabelOp>(op))
      return op->erase();
    if (op == function)
      return;
    auto it = left.find(op->getLoc());
    if (it == left.end())
      it = left.insert({op->getLoc(),
                        leaveOtherScopes(op->getLoc(), own.getMetadata())})
               .first;
    op->setLoc(it->second);
  });
}

/// Drops the locations of the start and the end of loops. They are of use to
/// debuggers alone, and would have to be in the function that the loop is in.
static void dropLoopLocations(gpu::GPUModuleOp kernels) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LoopAnnotationAttr loop) -> Attribute {
    return LLVM::LoopAnnotationAttr::get(
        loop.getContext(), loop.getDisableNonforced(), loop.getVectorize(),
        loop.getInterleave(), loop.getUnroll(), loop.getUnrollAndJam(),
        loop.getLicm(), loop.getDistribute(), loop.getPipeline(),
        loop.getPeeled(), loop.getUnswitch(), loop.getMustProgress(),
        loop.getIsVectorized(), /*startLoc=*/{}, /*endLoc=*/{},
        loop.getParallelAccesses());
  });
  kernels.walk([&](Operation *op) {
    if (isa<LLVM::BrOp, LLVM::CondBrOp>(op))
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/false);
  });
}

void addLineTables(gpu::GPUModuleOp kernels) {
  dropLoopLocations(kernels);
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    addScope(function);
    leaveOtherScopes(function);
  }
}

} // namespace mlir::workgroup
