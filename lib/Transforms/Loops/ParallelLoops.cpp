//===- ParallelLoops.cpp - Loops whose iterations are spread --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

std::optional<ProcessorLevel> parseLevel(StringRef name) {
  return llvm::StringSwitch<std::optional<ProcessorLevel>>(name)
      .Case("blocks", ProcessorLevel::Blocks)
      .Case("warps", ProcessorLevel::Warps)
      .Case("lanes", ProcessorLevel::Lanes)
      .Case("threads", ProcessorLevel::Threads)
      .Case("arguments", ProcessorLevel::Arguments)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

static std::optional<ProcessorTarget>
getTarget(DeviceMappingAttrInterface mapping) {
  auto level =
      llvm::TypeSwitch<Attribute, std::optional<ProcessorLevel>>(mapping)
          .Case([](gpu::GPUBlockMappingAttr) { return ProcessorLevel::Blocks; })
          .Case([](gpu::GPUWarpMappingAttr) { return ProcessorLevel::Warps; })
          .Case([](gpu::GPULaneMappingAttr) { return ProcessorLevel::Lanes; })
          .Case(
              [](gpu::GPUThreadMappingAttr) { return ProcessorLevel::Threads; })
          .Default([](Attribute) { return std::nullopt; });
  if (!level)
    return std::nullopt;
  return ProcessorTarget{*level,
                         static_cast<unsigned>(mapping.getRelativeIndex()),
                         mapping.isLinearMapping()};
}

/// The processor of a dimension of an `scf.parallel`; nothing if its maps are
/// not the identity.
static std::optional<std::optional<ProcessorTarget>>
getTarget(gpu::ParallelLoopDimMappingAttr mapping) {
  if (!mapping.getMap().isIdentity() || !mapping.getBound().isIdentity())
    return std::nullopt;
  auto number = static_cast<unsigned>(mapping.getProcessor());
  if (mapping.getProcessor() == gpu::Processor::Sequential)
    return std::optional<ProcessorTarget>();
  auto first = static_cast<unsigned>(gpu::Processor::ThreadX);
  bool isThread = number >= first;
  return std::optional(ProcessorTarget{
      isThread ? ProcessorLevel::Threads : ProcessorLevel::Blocks,
      isThread ? number - first : number, /*isLinear=*/false});
}

void ParallelLoop::setMapping(ArrayAttr mapping) {
  for (Attribute attribute : mapping) {
    std::optional<std::optional<ProcessorTarget>> target;
    if (auto along = dyn_cast<gpu::ParallelLoopDimMappingAttr>(attribute))
      target = getTarget(along);
    else if (auto device = dyn_cast<DeviceMappingAttrInterface>(attribute))
      if (auto found = getTarget(device))
        target = found;
    if (!target && !unknown)
      unknown = attribute;
    targets.push_back(target ? *target : std::nullopt);
  }
  if (targets.size() != ranges.size() && !unknown)
    unknown = mapping;
  targets.resize(ranges.size());
}

/// The last dimension is x.
void ParallelLoop::setLevel(ProcessorLevel level) {
  bool isLinear =
      level == ProcessorLevel::Lanes || level == ProcessorLevel::Warps;
  for (unsigned dim = 0, rank = ranges.size(); dim < rank; ++dim) {
    unsigned fromLast = rank - 1 - dim;
    if (level == ProcessorLevel::Arguments)
      targets.push_back(ProcessorTarget{level, dim, false});
    else if (isLinear || fromLast < 3)
      targets.push_back(ProcessorTarget{level, fromLast, isLinear});
    else
      targets.push_back(std::nullopt);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static ArrayAttr getMapping(Operation *op) {
  auto mapping = op->getAttrOfType<ArrayAttr>("mapping");
  return mapping && !mapping.empty() ? mapping : nullptr;
}

/// The number of loops around `op` that the same threads execute.
static unsigned getDepth(Operation *op) {
  unsigned depth = 0;
  Operation *scope = getExecutionScope(op);
  for (Operation *around = op->getParentOp(); around != scope;
       around = around->getParentOp())
    depth += isa<scf::ParallelOp, scf::ForallOp>(around);
  return depth;
}

std::optional<ParallelLoop> ParallelLoop::getMapped(Operation *op) {
  if (!isa<scf::ParallelOp, scf::ForallOp>(op) || !getMapping(op))
    return std::nullopt;
  ParallelLoop loop;
  loop.op = op;
  loop.readRanges();
  loop.setMapping(getMapping(op));
  return loop;
}

bool ParallelLoop::goesTo(ProcessorLevel level) const {
  return llvm::any_of(targets, [&](const auto &target) {
    return target && target->level == level;
  });
}

std::optional<ParallelLoop>
ParallelLoop::get(Operation *op, const DistributeLoopsOptions &options) {
  if (!isa<scf::ParallelOp, scf::ForallOp>(op) || !getExecutionScope(op) ||
      isInLaunchingCode(op))
    return std::nullopt;
  if (std::optional<ParallelLoop> mapped = getMapped(op))
    return mapped;
  if (options.levels.empty())
    return std::nullopt;
  ParallelLoop loop;
  loop.op = op;
  loop.readRanges();
  if (unsigned depth = getDepth(op); depth < options.levels.size())
    loop.setLevel(*parseLevel(options.levels[depth]));
  else
    loop.targets.resize(loop.ranges.size());
  return loop;
}

void ParallelLoop::readRanges() {
  ranges.clear();
  auto add = [&](auto lower, auto upper, auto step) {
    for (auto [from, to, by] : llvm::zip_equal(lower, upper, step))
      ranges.push_back({from, to, by});
  };
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return add(forall.getMixedLowerBound(), forall.getMixedUpperBound(),
               forall.getMixedStep());
  auto parallel = cast<scf::ParallelOp>(op);
  add(getAsOpFoldResult(parallel.getLowerBound()),
      getAsOpFoldResult(parallel.getUpperBound()),
      getAsOpFoldResult(parallel.getStep()));
}

/// True if a processor of the one level is one of the other, or part of it.
static bool overlaps(ProcessorLevel lhs, ProcessorLevel rhs) {
  auto isOfBlock = [](ProcessorLevel level) {
    return level == ProcessorLevel::Warps || level == ProcessorLevel::Lanes;
  };
  return lhs == rhs || (lhs == ProcessorLevel::Threads && isOfBlock(rhs)) ||
         (rhs == ProcessorLevel::Threads && isOfBlock(lhs));
}

/// True if dimensions of one loop cannot go to both.
static bool overlaps(const ProcessorTarget &lhs, const ProcessorTarget &rhs) {
  if (lhs.level != rhs.level)
    return overlaps(lhs.level, rhs.level);
  return lhs.dim == rhs.dim || lhs.isLinear != rhs.isLinear;
}

bool ParallelLoop::sharesProcessors(const ParallelLoop &other) const {
  return llvm::any_of(targets, [&](const auto &lhs) {
    return llvm::any_of(other.targets, [&](const auto &rhs) {
      return lhs && rhs && overlaps(lhs->level, rhs->level);
    });
  });
}

std::string ParallelLoop::getObstacle() const {
  if (unknown) {
    std::string text;
    llvm::raw_string_ostream(text) << unknown;
    return "is mapped to " + text +
           ", which is no block, warp, lane or thread; give it a mapping that "
           "is, or none";
  }
  // Left as it is, it would be a loop in no other one in another run.
  if (!getMapping(op) &&
      llvm::none_of(targets, [](auto &t) { return bool(t); }))
    return ranges.empty()
               ? "has no dimension that processors could share; put its "
                 "body in its place"
               : "is in as many loops as there are levels; name one "
                 "more level, or make it an scf.for";
  for (auto [dim, target] : llvm::enumerate(targets))
    for (const auto &other : ArrayRef(targets).take_front(dim))
      if (target && other && overlaps(*target, *other))
        return "has two dimensions that go to the same processors; give each "
               "its own: x, y, z, or linear dimensions of different numbers";
  for (const LoopRange &range : ranges)
    if (auto step = getConstantIntValue(range.step); step && *step <= 0)
      return "has a step of " + std::to_string(*step) +
             "; it has to be at least 1";
  auto forall = dyn_cast<scf::ForallOp>(op);
  if (forall && forall.getNumResults() != 0)
    return "has results of tensors, which processors cannot put together; "
           "bufferize it";
  if (op->getNumResults() != 0)
    return "has results, which processors would have to combine; store what "
           "each of them has, and reduce that";
  return "";
}

/// True if all threads can do `op` together: what it writes nobody has alone,
/// and it is not what it reads.
static bool isCollective(Operation &op) {
  auto isShared = [](Value memory) {
    MemorySpace space = getMemorySpace(memory);
    return space == MemorySpace::Workgroup || space == MemorySpace::Global;
  };
  auto isCopy = [&](Value source, Value target) {
    return isShared(source) && isShared(target) &&
           getMemorySpace(source) != getMemorySpace(target);
  };
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return isCopy(copy.getSource(), copy.getTarget());
  if (auto copy = dyn_cast<linalg::CopyOp>(op))
    return copy.hasPureBufferSemantics() &&
           isCopy(copy.getInputs().front(), copy.getOutputs().front());
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && fill.hasPureBufferSemantics() &&
         isShared(fill.getOutputs().front());
}

/// One operation: of two, the second one may need what the first one has done.
bool ParallelLoop::isWorkOfBlock() const {
  bool isOne = llvm::all_of(ranges, [](const LoopRange &range) {
    return getNumIterations(range) == 1;
  });
  bool isOfThreads = llvm::all_of(targets, [](auto &target) {
    return target && target->level == ProcessorLevel::Threads;
  });
  // Threads may be in other loops around it by themselves.
  if (!isOne || !isOfThreads || getDepth(op) != 0)
    return false;
  Block &body = op->getRegion(0).front();
  return llvm::count_if(body, isCollective) == 1 &&
         llvm::all_of(body.without_terminator(), [](Operation &inner) {
           return isCollective(inner) || isPure(&inner);
         });
}

OpFoldResult ParallelLoop::getIndex(int64_t number) const {
  return Builder(op->getContext()).getIndexAttr(number);
}

OpFoldResult ParallelLoop::count(OpBuilder &builder, unsigned dim) const {
  SignedIndexBuilder index{builder, op->getLoc()};
  const LoopRange &range = ranges[dim];
  OpFoldResult extent =
      index.maximum(index.subtract(range.upper, range.lower), getIndex(0));
  return index.divideUp(extent, range.step);
}

void ParallelLoop::replaceBody(RewriterBase &rewriter,
                               ArrayRef<OpFoldResult> values) {
  SignedIndexBuilder index{rewriter, op->getLoc()};
  SmallVector<Value> arguments;
  for (OpFoldResult value : values)
    arguments.push_back(index.value(value));
  Block &body = op->getRegion(0).front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), arguments);
  rewriter.eraseOp(op);
}

} // namespace mlir::workgroup
