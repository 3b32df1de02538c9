//===- PrintAccesses.cpp - Say who touches which memory -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each access of a kernel as a remark at its operation: kind, access scope,
// roots and footprint. A remark at the kernel names each pair of roots that may
// overlap. This shows what the analysis of accesses knows, for tests and for
// users.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Analysis/ThreadAccesses.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PRINTACCESSESPASS
#include "workgroup/Transforms/Sync.h.inc"

namespace {

/// Writes accesses in words.
class AccessPrinter {
public:
  AccessPrinter(AsmState &state, const ThreadAccesses &accesses)
      : state(state), accesses(accesses), os(text) {}

  std::string print(const ThreadAccess &access);
  std::string printOverlap(unsigned lhs, unsigned rhs);

private:
  void print(OpFoldResult value);
  void print(const LinearIndex &index);
  void print(const AccessFootprint &footprint);
  void printRoot(unsigned number);

  AsmState &state;
  const ThreadAccesses &accesses;
  std::string text;
  llvm::raw_string_ostream os;
};

} // namespace

void AccessPrinter::print(OpFoldResult value) {
  if (auto constant = dyn_cast<Attribute>(value))
    os << cast<IntegerAttr>(constant).getInt();
  else
    cast<Value>(value).printAsOperand(os, state);
}

void AccessPrinter::print(const LinearIndex &index) {
  llvm::ListSeparator plus(" + ");
  auto printFactor = [&](int64_t factor) {
    os << plus;
    if (factor != 1)
      os << factor << '*';
  };
  for (auto [value, factor] : index.terms) {
    printFactor(factor);
    value.printAsOperand(os, state);
  }
  for (const LinearIndex::AffineTerm &term : index.affineTerms) {
    printFactor(term.factor);
    os << '(' << term.map.getResult(0) << ") of (";
    llvm::interleaveComma(term.operands, os, [&](Value operand) {
      operand.printAsOperand(os, state);
    });
    os << ')';
  }
  if (index.constant != 0 || index.isConstant())
    os << plus << index.constant;
}

void AccessPrinter::print(const AccessFootprint &footprint) {
  auto interleave = [&](ArrayRef<LinearIndex> coordinates) {
    llvm::interleaveComma(coordinates, os,
                          [&](const LinearIndex &index) { print(index); });
  };
  os << " at ";
  if (footprint.basis) {
    print(OpFoldResult(footprint.basis));
    os << '[';
    interleave(footprint.coordinates);
    os << ']';
  } else {
    interleave(footprint.coordinates);
  }
  os << ", " << footprint.run << " long";
  for (const AccessFootprint::Extent &extent : footprint.box) {
    os << ", ";
    print(extent.count);
    os << " times " << extent.stride << " apart";
    if (footprint.basis)
      os << " along " << extent.coordinate;
    if (extent.clip) {
      os << " as far as ";
      print(extent.clip->index);
      os << " + their number < ";
      print(extent.clip->extent);
    }
  }
  for (const AccessFootprint::Bound &bound : footprint.bounds) {
    os << "; 0 <= ";
    print(bound.index);
    os << " < ";
    print(bound.extent);
  }
}

void AccessPrinter::printRoot(unsigned number) {
  const MemoryRoot &root = accesses.getRoot(number);
  if (number == 0)
    os << "anything";
  else if (root.global)
    os << '@' << SymbolTable::getSymbolName(root.global).getValue();
  else if (root.value)
    print(OpFoldResult(root.value));
  else
    os << "globals of callees";
}

std::string AccessPrinter::print(const ThreadAccess &access) {
  constexpr StringRef kinds[] = {"reads", "writes", "updates"};
  constexpr StringRef scopes[] = {"thread", "warp", "block"};
  constexpr StringRef spaces[] = {"global", "workgroup", "private", "any"};
  os << scopes[unsigned(access.accessScope)] << ' '
     << kinds[unsigned(access.kind)] << (access.isAsync ? " async " : " ")
     << spaces[unsigned(access.space)] << " memory of ";
  llvm::interleave(
      access.roots, os, [&](unsigned root) { printRoot(root); }, " or ");
  if (access.footprint)
    print(*access.footprint);
  else
    os << " somewhere";
  return std::exchange(text, {});
}

std::string AccessPrinter::printOverlap(unsigned lhs, unsigned rhs) {
  printRoot(lhs);
  os << " and ";
  printRoot(rhs);
  os << " may overlap";
  return std::exchange(text, {});
}

void printAccesses(Operation *root) {
  ArgumentAliases arguments(root, /*areDistinct=*/false);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &arguments);
  AsmState state(root);
  for (Operation *scope : collectDeviceScopes(root)) {
    ThreadAccesses accesses(scope, uniformity, arguments);
    AccessPrinter printer(state, accesses);
    for (const ThreadAccess &access : accesses.getAccesses())
      access.op->emitRemark(printer.print(access));
    for (unsigned rhs = 1; rhs < accesses.getNumRoots(); ++rhs)
      for (unsigned lhs = 1; lhs < rhs; ++lhs)
        if (accesses.mayOverlap(lhs, rhs))
          scope->emitRemark(printer.printOverlap(lhs, rhs));
  }
}

namespace {
struct PrintAccessesPass final
    : impl::PrintAccessesPassBase<PrintAccessesPass> {
  using PrintAccessesPassBase::PrintAccessesPassBase;

  void runOnOperation() override {
    printAccesses(getOperation());
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
