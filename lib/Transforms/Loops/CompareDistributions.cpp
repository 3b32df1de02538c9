//===- CompareDistributions.cpp - Whether loops hand on their parts -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that are distributed one by one, as a fill and the product that
// adds to it, give each processor a part of the same result. If mapping,
// numbers of iterations, and slices are the same, what a processor goes on with
// is what it has left; otherwise processors have to wait for each other.
//
//===----------------------------------------------------------------------===//

#include "LoopSlices.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Loops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_COMPAREDISTRIBUTIONSPASS
#include "workgroup/Transforms/Loops.h.inc"

namespace {

/// An operation in a nest of loops, and the slice of its result, or of what it
/// goes on with, that each iteration has. Without a slice, `why` tells the
/// reason.
struct DistributedUse {
  linalg::LinalgOp op;
  LoopNest nest;
  bool isWritten = false;
  Value whole = {};
  std::optional<ProcessorSlice> slice = std::nullopt;
  std::string why = "";

  Operation *getLoop() const { return nest.front().op; }
};

/// Finds pairs of operations, and compares them.
class DistributionComparer {
public:
  explicit DistributionComparer(Operation *root) : root(root) {}

  std::vector<DistributionFinding> run();

private:
  void collect(linalg::LinalgOp op);
  void add(linalg::LinalgOp op, Value used, bool isWritten);
  void addResult(linalg::LinalgOp op, OpResult result);
  void compare(const DistributedUse &first, const DistributedUse &second);

  Operation *root;
  SliceReader reader;
  /// In program order.
  std::vector<DistributedUse> uses;
  std::vector<DistributionFinding> findings;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// What `value`, outside of the loops that use it, is the same as: what loops
/// around start from, another type of it.
static Value skipCarried(Value value) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop =
          dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!init)
        return value;
      value = init->get();
    } else if (auto cast = value.getDefiningOp<tensor::CastOp>()) {
      value = cast.getSource();
    } else {
      return value;
    }
  }
}

void DistributionComparer::add(linalg::LinalgOp op, Value used,
                               bool isWritten) {
  DistributedUse use{op, getNestInBlock(op), isWritten};
  use.slice = reader.read(used, use.nest, use.why);
  if (use.slice)
    use.slice->whole = skipCarried(use.slice->whole);
  use.whole = use.slice ? use.slice->whole : getRootBuffer(used);
  uses.push_back(std::move(use));
}

/// The slice that `op` leaves behind its loop, as a part of the loop's result.
void DistributionComparer::addResult(linalg::LinalgOp op, OpResult result) {
  for (OpOperand &use : result.getUses()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(use.getOwner());
    if (!insert || insert.getSource() != result)
      continue;
    auto loop = insert->getParentOfType<scf::ForallOp>();
    auto argument = dyn_cast<BlockArgument>(insert.getDest());
    if (!argument || argument.getOwner() != loop.getBody())
      continue;
    DistributedUse left{op, getNestInBlock(op), /*isWritten=*/true};
    left.whole = loop.getTiedOpResult(loop.getTiedOpOperand(argument));
    if (left.nest.size() == 1)
      left.slice = reader.read(insert, left.whole, left.nest, left.why);
    else
      left.why = "its result is put together by several loops";
    uses.push_back(std::move(left));
  }
  // A loop over sums carries it on.
  for (OpOperand &use : result.getUses())
    if (auto yield = dyn_cast<scf::YieldOp>(use.getOwner()))
      if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
        addResult(op, loop->getResult(use.getOperandNumber()));
}

void DistributionComparer::collect(linalg::LinalgOp op) {
  if (getNestInBlock(op).empty())
    return;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (op.payloadUsesValueFromOperand(&init))
      add(op, init.get(), /*isWritten=*/false);
    if (op.hasPureBufferSemantics())
      add(op, init.get(), /*isWritten=*/true);
    else if (op.hasPureTensorSemantics())
      addResult(op, op.getTiedOpResult(&init));
  }
}

//===----------------------------------------------------------------------===//
// Compare
//===----------------------------------------------------------------------===//

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static std::string printMapping(const LoopNest &nest) {
  return llvm::join(llvm::map_range(nest,
                                    [](const ParallelLoop &loop) {
                                      return print(loop.op->getAttr("mapping"));
                                    }),
                    " x ");
}

static std::string printExtents(const LoopNest &nest) {
  std::string text;
  for (const ParallelLoop &loop : nest)
    for (const LoopRange &range : loop.ranges) {
      std::optional<int64_t> count = getNumIterations(range);
      text += (text.empty() ? "" : "x") +
              (count ? std::to_string(*count) : std::string("?"));
    }
  return text;
}

static std::string printTerms(ArrayRef<SliceTerm> terms) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(terms, stream, [&](const SliceTerm &term) {
    if (term.size() == 1) {
      stream << term.front();
      return;
    }
    stream << "min(";
    llvm::interleaveComma(term, stream);
    stream << ")";
  });
  return text;
}

static std::string printSlice(const ProcessorSlice &slice) {
  return llvm::formatv("({0}) of sizes ({1})", printTerms(slice.offsets),
                       printTerms(slice.sizes))
      .str();
}

static bool haveSameMapping(const LoopNest &first, const LoopNest &second) {
  return first.size() == second.size() &&
         llvm::all_of(llvm::zip(first, second), [](auto pair) {
           const auto &[left, right] = pair;
           return left.ranges.size() == right.ranges.size() &&
                  left.op->getAttr("mapping") == right.op->getAttr("mapping");
         });
}

/// True if loops of the same mapping have the same numbers of iterations;
/// nothing if that is not known.
static std::optional<bool> haveSameExtents(const LoopNest &first,
                                           const LoopNest &second) {
  bool isKnown = true;
  for (auto [left, right] : llvm::zip_equal(first, second))
    for (auto [lhs, rhs] : llvm::zip_equal(left.ranges, right.ranges)) {
      std::optional<int64_t> a = getNumIterations(lhs);
      std::optional<int64_t> b = getNumIterations(rhs);
      if (a && b && a != b)
        return false;
      bool isSame = isEqualConstantIntOrValue(lhs.lower, rhs.lower) &&
                    isEqualConstantIntOrValue(lhs.upper, rhs.upper) &&
                    isEqualConstantIntOrValue(lhs.step, rhs.step);
      isKnown &= (a && b) || isSame;
    }
  return isKnown ? std::optional(true) : std::nullopt;
}

void DistributionComparer::compare(const DistributedUse &first,
                                   const DistributedUse &second) {
  DistributionFinding finding{first.op, second.op};
  auto tell = [&](DistributionVerdict verdict, const std::string &what) {
    finding.verdict = verdict;
    finding.message = what;
    findings.push_back(finding);
  };
  auto differ = [&](StringRef what, const std::string &lhs,
                    const std::string &rhs) {
    tell(DistributionVerdict::Differ,
         llvm::formatv("they differ in their {0}: {1} against {2}", what, lhs,
                       rhs)
             .str());
  };
  auto undecided = [&](const std::string &why) {
    tell(DistributionVerdict::Undecided, why);
  };
  if (!haveSameMapping(first.nest, second.nest))
    return differ("mapping", printMapping(first.nest),
                  printMapping(second.nest));
  std::optional<bool> areSame = haveSameExtents(first.nest, second.nest);
  if (areSame == false)
    return differ("numbers of iterations", printExtents(first.nest),
                  printExtents(second.nest));
  for (const DistributedUse *use : {&first, &second})
    if (!use->slice)
      return undecided(llvm::formatv("of '{0}', {1}",
                                     use->op->getName().getStringRef(),
                                     use->why)
                           .str());
  if (!areSame)
    return undecided("the numbers of their iterations are not known to be the "
                     "same");
  if (first.slice->whole != second.slice->whole)
    return undecided("their slices are of different views of a buffer");
  if (first.slice->offsets != second.slice->offsets ||
      first.slice->sizes != second.slice->sizes)
    return differ("slices", printSlice(*first.slice),
                  printSlice(*second.slice));
  tell(
      DistributionVerdict::Agree,
      llvm::formatv("they have the same mapping {0}, iterations {1} and slices "
                    "{2}",
                    printMapping(first.nest), printExtents(first.nest),
                    printSlice(*first.slice))
          .str());
}

std::vector<DistributionFinding> DistributionComparer::run() {
  root->walk([&](linalg::LinalgOp op) { collect(op); });
  // The last one before that leaves what is gone on with.
  for (size_t i = 0; i < uses.size(); ++i) {
    const DistributedUse &second = uses[i];
    if (second.isWritten)
      continue;
    for (size_t j = i; j-- > 0;) {
      const DistributedUse &first = uses[j];
      bool isSame = first.whole == second.whole ||
                    getRootBuffer(first.whole) == getRootBuffer(second.whole);
      if (!first.isWritten || !isSame)
        continue;
      if (first.getLoop() != second.getLoop())
        compare(first, second);
      break;
    }
  }
  return std::move(findings);
}

std::vector<DistributionFinding> compareDistributions(Operation *root) {
  return DistributionComparer(root).run();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Where `op` stands, as diagnostics have it.
static std::string getPlace(Operation *op) {
  auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return at ? llvm::formatv(" at {0}:{1}:{2}", at.getFilename().getValue(),
                            at.getLine(), at.getColumn())
                  .str()
            : "";
}

static RemarkId getRemark(DistributionVerdict verdict) {
  switch (verdict) {
  case DistributionVerdict::Agree:
    return RemarkId::CompareDistributions_Agree;
  case DistributionVerdict::Differ:
    return RemarkId::CompareDistributions_Differ;
  case DistributionVerdict::Undecided:
    return RemarkId::CompareDistributions_Undecided;
  }
  llvm_unreachable("no verdict");
}

namespace {

struct CompareDistributionsPass
    : impl::CompareDistributionsPassBase<CompareDistributionsPass> {
  using CompareDistributionsPassBase::CompareDistributionsPassBase;

  void runOnOperation() override {
    for (const DistributionFinding &finding :
         compareDistributions(getOperation()))
      recordRemark(getRemark(finding.verdict), finding.second)
          << llvm::formatv("'{0}' goes on with what '{1}'{2} has left",
                           finding.second->getName().getStringRef(),
                           finding.first->getName().getStringRef(),
                           getPlace(finding.first))
                 .str()
          << remark::reason("{0}", finding.message);
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace mlir::workgroup
