//===- SymbolicIndex.cpp - Index arithmetic as linear forms ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicIndex.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "NonNegative.h"
#include "SymbolicTranslator.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

/// Deep chains of operations are not worth the stack.
static constexpr unsigned kMaxFormDepth = 128;

namespace {
/// Along which dimensions a kernel asks for ids of threads or blocks, or for
/// numbers of them.
struct AskedIds {
  std::array<bool, 3> ofThreads = {}, ofBlocks = {};
  /// Nothing may ask for more.
  bool areAll = true;
};
} // namespace

/// True if threads may learn from `op` who of all they are, in a way that says
/// nothing of dimensions: by special registers, by assembly.
static bool tellsApart(Operation *op) {
  return isa<gpu::ClusterIdOp, gpu::ClusterBlockIdOp, gpu::ClusterDimOp,
             gpu::ClusterDimBlocksOp, gpu::SubgroupIdOp, gpu::NumSubgroupsOp,
             LLVM::InlineAsmOp, LLVM::CallIntrinsicOp, NVVM::InlinePtxOp>(op) ||
         op->getName().getStringRef().starts_with("nvvm.read.ptx.sreg.");
}

/// Adds what `scope`, and what it calls, asks for.
static void addAsked(Operation *scope, AskedIds &asked,
                     DenseSet<Operation *> &visited) {
  auto ofThreads = [&](unsigned dim) { asked.ofThreads[dim] = true; };
  auto ofBlocks = [&](unsigned dim) { asked.ofBlocks[dim] = true; };
  scope->walk([&](Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      Operation *callee = call.resolveCallable();
      bool isBody = callee && getBody(callee);
      asked.areAll &= isBody;
      if (isBody && visited.insert(callee).second)
        addAsked(callee, asked, visited);
    }
    llvm::TypeSwitch<Operation *>(op)
        .Case<gpu::ThreadIdOp, gpu::BlockDimOp>(
            [&](auto id) { ofThreads(unsigned(id.getDimension())); })
        .Case<gpu::BlockIdOp, gpu::GridDimOp>(
            [&](auto id) { ofBlocks(unsigned(id.getDimension())); })
        .Case([&](gpu::GlobalIdOp id) {
          ofThreads(unsigned(id.getDimension()));
          ofBlocks(unsigned(id.getDimension()));
        })
        .Case<NVVM::ThreadIdXOp, NVVM::BlockDimXOp>([&](auto) { ofThreads(0); })
        .Case<NVVM::ThreadIdYOp, NVVM::BlockDimYOp>([&](auto) { ofThreads(1); })
        .Case<NVVM::ThreadIdZOp, NVVM::BlockDimZOp>([&](auto) { ofThreads(2); })
        .Case<NVVM::BlockIdXOp, NVVM::GridDimXOp>([&](auto) { ofBlocks(0); })
        .Case<NVVM::BlockIdYOp, NVVM::GridDimYOp>([&](auto) { ofBlocks(1); })
        .Case<NVVM::BlockIdZOp, NVVM::GridDimZOp>([&](auto) { ofBlocks(2); })
        // Blocks may draw numbers.
        .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp,
              LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([&](auto atomic) {
          if (!atomic->use_empty())
            ofBlocks(0);
        })
        .Case<gpu::LaneIdOp, NVVM::LaneIdOp, NVVM::WarpSizeOp>([](auto) {})
        .Default([&](Operation *other) { asked.areAll &= !tellsApart(other); });
  });
}

/// What launches pass for a size; nothing if that is not known.
static Interval getPassed(ArrayRef<gpu::LaunchFuncOp> launches,
                          function_ref<Value(gpu::LaunchFuncOp)> get) {
  Interval passed;
  for (gpu::LaunchFuncOp launch : launches) {
    std::optional<int64_t> size = getConstantIntValue(get(launch));
    if (!size || *size < 1)
      return {};
    passed.min = std::min(passed.min.value_or(*size), *size);
    passed.max = std::max(passed.max.value_or(*size), *size);
  }
  return passed;
}

/// Adds what launches in sight pass along `dim`.
void SymbolicIndex::addLaunched(ArrayRef<gpu::LaunchFuncOp> launches,
                                unsigned dim) {
  auto select = [dim](gpu::KernelDim3 sizes) {
    return std::array{sizes.x, sizes.y, sizes.z}[dim];
  };
  auto add = [](const Interval &passed, std::optional<int64_t> &size,
                std::optional<int64_t> &most) {
    if (!size && passed.min == passed.max)
      size = passed.max;
    most = size ? size : passed.max;
  };
  add(getPassed(launches,
                [&](gpu::LaunchFuncOp launch) {
                  return select(launch.getBlockSizeOperandValues());
                }),
      shape.sizes[dim], mostThreads[dim]);
  add(getPassed(launches,
                [&](gpu::LaunchFuncOp launch) {
                  return select(launch.getGridSizeOperandValues());
                }),
      grid[dim], mostBlocks[dim]);
}

SymbolicIndex::SymbolicIndex(Operation *scope, const KernelLoops &loops,
                             const UniformityAnalysis &block,
                             const UniformityAnalysis &warp,
                             const ArgumentAliases &arguments)
    : scope(scope), loops(loops), block(block), warp(warp),
      arguments(arguments), shape(getBlockShape(scope)),
      grid(getGridSizes(scope)) {
  if (!isKernel(scope))
    return;
  ArrayRef<gpu::LaunchFuncOp> launches = arguments.getLaunches(scope);
  for (unsigned dim = 0; dim < 3 && !launches.empty(); ++dim)
    addLaunched(launches, dim);
  // Whose launches are not in sight has not what it never asks for: threads, or
  // blocks, that differ only in that would all do the same.
  AskedIds asked;
  DenseSet<Operation *> visited = {scope};
  addAsked(scope, asked, visited);
  if (!asked.areAll || !launches.empty() || isa<gpu::LaunchOp>(scope))
    return;
  for (unsigned dim = 0; dim < 3; ++dim) {
    if (dim != 0 && !shape.sizes[dim] && !asked.ofThreads[dim])
      shape.sizes[dim] = 1;
    if (!grid[dim] && !asked.ofBlocks[dim])
      grid[dim] = 1;
  }
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Interval getTypeRange(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return {};
  if (integer.getWidth() == 1)
    return {0, 1};
  return {llvm::minIntN(integer.getWidth()), llvm::maxIntN(integer.getWidth())};
}

/// True if `value` is one for all of a launch: an argument of the kernel, or
/// what is computed outside of it.
static bool isGiven(Value value, Operation *scope) {
  if (!getBody(scope)->isAncestor(value.getParentRegion()))
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &getBody(scope)->front();
}

/// What is given, and of which `value` is a narrower cast; else null.
static Value getGivenSource(Value value, Operation *scope) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast && isa<IndexType>(cast.getIn().getType()) &&
                 isGiven(cast.getIn(), scope)
             ? cast.getIn()
             : Value();
}

/// The first of all casts of `source` to `type`.
static Value getFirstCast(Value source, Type type) {
  Value first;
  for (Operation *user : source.getUsers()) // the last one comes first
    if (isa<arith::IndexCastOp>(user) && user->getResult(0).getType() == type)
      first = user->getResult(0);
  return first;
}

/// True if a launch may choose `value`, which is given or the cast of what is,
/// whatever it chooses besides.
bool SymbolicIndex::isFree(Value value) const {
  if (Value source = getGivenSource(value, scope)) {
    // What is left in another type depends on it.
    bool isOnlyCast = llvm::all_of(source.getUsers(), [&](Operation *user) {
      return isa<arith::IndexCastOp>(user) &&
             user->getResult(0).getType() == value.getType();
    });
    return isOnlyCast && isFree(source);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &getBody(scope)->front()
             ? arguments.isFree(argument)
             : arguments.isChosen(value);
}

SymbolicForm SymbolicIndex::makeOpaque(Value value) {
  Atom atom;
  if (!value) {
    // Nothing is known of it, not even when it is the same.
    atom.isDivergent = atom.isDivergentInWarp = atom.isDivergentInGrid = true;
    atom.isUnsteady = true;
    atom.isInput = false;
    atom.dim = atoms.size();
    return ofAtom(std::move(atom));
  }
  atom.value = value;
  atom.range = getTypeRange(value.getType());
  if (isNeverNegative(value))
    atom.range.min = 0;
  Value source = getGivenSource(value, scope);
  if (source)
    atom.value = getFirstCast(source, value.getType());
  atom.isDivergentInGrid = !source && !isGiven(value, scope);
  atom.isInput = !atom.isDivergentInGrid && isFree(value);
  Value made = source ? source : value;
  if (getBody(scope)->isAncestor(made.getParentRegion())) {
    atom.isDivergent = !block.isUniform(made);
    atom.isDivergentInWarp = atom.isDivergent && !warp.isUniform(made);
    for (const KernelLoop *loop = loops.getLoop(made.getParentBlock()); loop;
         loop = loop->parent) {
      atom.loops.push_back(loop);
      atom.isUnsteady |= !loop->isCountable;
    }
  }
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::makeThreadId(unsigned dim) {
  Atom atom;
  atom.kind = Atom::ThreadId;
  atom.dim = dim;
  atom.isDivergent = atom.isDivergentInWarp = atom.isDivergentInGrid = true;
  atom.isOfThread = true;
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::makeGridValue(Atom::GridKind what, unsigned dim) {
  if (what == Atom::BlockSize && shape.sizes[dim])
    return *shape.sizes[dim];
  if (what == Atom::GridSize && grid[dim])
    return *grid[dim];
  if (what == Atom::BlockId && grid[dim] == 1)
    return 0;
  Atom atom;
  atom.kind = Atom::GridValue;
  atom.what = what;
  atom.dim = dim;
  atom.isDivergentInGrid = what == Atom::BlockId;
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::getIteration(const KernelLoop *loop) {
  Atom atom;
  atom.kind = Atom::Iteration;
  atom.loop = loop;
  atom.loops = {loop};
  atom.isUnsteady = !loop->isCountable;
  atom.range.min = 0;
  if (std::optional<Span> span = getSpan(loop)) {
    Interval length = getRange(span->length), step = getRange(span->step);
    if (length.max)
      atom.range.max = std::max<int64_t>(0, *length.max - 1) /
                       std::max<int64_t>(1, step.min.value_or(1));
  }
  return ofAtom(std::move(atom));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicIndex::getForm(OpFoldResult index) {
  if (auto value = dyn_cast<Value>(index))
    return getForm(value);
  std::optional<int64_t> number = getConstantIntValue(index);
  return number && llvm::isInt<62>(*number) ? SymbolicForm(*number)
                                            : makeOpaque(nullptr);
}

SymbolicForm SymbolicIndex::getForm(Value value) {
  if (auto it = forms.find(value); it != forms.end())
    return it->second;
  if (depth == kMaxFormDepth)
    return makeOpaque(value);
  ++depth;
  Form form = SymbolicTranslator(*this).translate(value);
  --depth;
  forms[value] = form;
  return form;
}

SymbolicForm SymbolicIndex::getForm(const LinearIndex &index) {
  Form form = index.constant;
  for (auto [value, factor] : index.terms)
    form = add(form, getForm(value), factor, nullptr);
  for (const LinearIndex::AffineTerm &term : index.affineTerms)
    form = add(form, getForm(term.map, term.operands), term.factor, nullptr);
  return form;
}

SymbolicForm SymbolicIndex::getForm(AffineMap map, ValueRange operands) {
  return SymbolicTranslator(*this).translate(map.getResult(0), operands,
                                             map.getNumDims());
}

} // namespace mlir::workgroup
