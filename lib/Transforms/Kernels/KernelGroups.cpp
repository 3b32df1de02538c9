//===- KernelGroups.cpp - Operations that become one kernel ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::workgroup {

/// Elements of what one block works on if there is nothing to share out.
static constexpr int64_t kMaxOfOneBlock = 1 << 16;

/// The number of times that a block may compute what is cheap: each of a chain
/// of operations that are read in two orders doubles it.
static constexpr unsigned kMaxTilesOfCheap = 4;

KernelGroup::KernelGroup(linalg::LinalgOp root)
    : root(root), ops({root}), rows(root.getNumLoops()) {
  Loops &loops = loopsOf[root];
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray())) {
    bool isRow = kind == utils::IteratorType::parallel;
    loops.push_back(isRow ? std::optional<unsigned>(loop) : std::nullopt);
    rows[loop] = isRow;
  }
}

SmallVector<linalg::LinalgOp> KernelGroup::getOps() const {
  return llvm::to_vector(llvm::reverse(ops));
}

bool KernelGroup::has(LinalgClass kind) const {
  return llvm::any_of(
      ops, [&](linalg::LinalgOp op) { return classify(op) == kind; });
}

LinalgClass KernelGroup::getClass() const {
  for (LinalgClass kind : {LinalgClass::Contraction, LinalgClass::Window,
                           LinalgClass::Reduction, LinalgClass::Elementwise})
    if (has(kind))
      return kind;
  return LinalgClass::Generator;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// True if several blocks may compute what `op` does: a few operations, on no
/// more bytes than it makes.
static bool isCheap(linalg::LinalgOp op) {
  constexpr size_t kMaxOps = 4;
  auto getBits = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  };
  unsigned width = getBits(op->getResult(0).getType());
  auto body = op.getBlock()->without_terminator();
  auto isCheapOp = [](Operation &inner) {
    return isa<arith::ArithDialect>(inner.getDialect()) &&
           !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
                arith::RemSIOp, arith::RemUIOp>(inner);
  };
  return classify(op) == LinalgClass::Elementwise &&
         static_cast<size_t>(llvm::range_size(body)) <= kMaxOps &&
         llvm::all_of(body, isCheapOp) &&
         llvm::all_of(op.getDpsInputs(), [&](Value input) {
           return getBits(input.getType()) <= width;
         });
}

/// The loops of the producer at `use` that go along with loops of the root, as
/// those of the user do.
std::optional<StringRef> KernelGroup::addUse(OpOperand &use, Uses &uses) const {
  auto consumer = cast<linalg::LinalgOp>(use.getOwner());
  AffineMap read = consumer.getMatchingIndexingMap(&use);
  if (!read.isProjectedPermutation())
    return "it is not read element by element";
  auto result = cast<OpResult>(use.get());
  auto producer = cast<linalg::LinalgOp>(result.getOwner());
  AffineMap written = producer.getIndexingMapMatchingResult(result);
  if (!written.isProjectedPermutation())
    return "it is not written element by element";
  Loops loops(producer.getNumLoops());
  ArrayRef<std::optional<unsigned>> ofConsumer = getRowOf(consumer);
  for (auto [to, from] :
       llvm::zip_equal(written.getResults(), read.getResults()))
    loops[cast<AffineDimExpr>(to).getPosition()] =
        ofConsumer[cast<AffineDimExpr>(from).getPosition()];

  LinalgClass kind = classify(consumer);
  if (!consumer.isDpsInit(&use) &&
      (kind == LinalgClass::Contraction || kind == LinalgClass::Window))
    return "a contraction or window would compute it again for each sum";
  for (std::optional<unsigned> &loop : loops)
    if (loop && !rows[*loop])
      loop = std::nullopt; // no matter to blocks
  // What reads it in the same order reads the same tile.
  auto known = tilesOf.find(consumer);
  unsigned tiles = known == tilesOf.end() ? 1 : known->second;
  bool isSame = !uses.hasAny || uses.loops == loops;
  uses.tiles = isSame ? std::max(uses.tiles, tiles) : uses.tiles + tiles;
  uses.hasAny = true;
  uses.loops = std::move(loops);
  return std::nullopt;
}

std::optional<StringRef> KernelGroup::collectUses(linalg::LinalgOp op,
                                                  Uses &uses) const {
  for (OpOperand &use : op->getUses()) {
    if (!contains(use.getOwner())) {
      uses.isEscaping = true;
    } else if (std::optional<StringRef> obstacle = addUse(use, uses)) {
      return obstacle;
    }
  }
  return std::nullopt;
}

/// The reason in the group that keeps an operation of class `kind` out.
std::optional<StringRef> KernelGroup::getClassObstacle(LinalgClass kind) const {
  bool hasSums = has(LinalgClass::Contraction) || has(LinalgClass::Window);
  switch (kind) {
  case LinalgClass::Generator:
  case LinalgClass::Elementwise:
    return std::nullopt;
  case LinalgClass::Contraction:
  case LinalgClass::Window:
    if (hasSums)
      return "a kernel has one contraction or window";
    if (has(LinalgClass::Reduction))
      return "a reduction is behind it";
    return std::nullopt;
  case LinalgClass::Reduction:
    if (hasSums)
      return "a contraction or window is behind it";
    return std::nullopt;
  }
  llvm_unreachable("unknown class");
}

/// True if one block can do all of `op`.
static bool isSmall(linalg::LinalgOp op) {
  int64_t product = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size) || size > kMaxOfOneBlock)
      return false;
    product *= std::max<int64_t>(size, 1);
    if (product > kMaxOfOneBlock)
      return false;
  }
  return true;
}

/// True if a block can keep what `op`, a reduction, makes of a row.
bool KernelGroup::fitsBlock(linalg::LinalgOp op, const Loops &rowOf) const {
  constexpr int64_t kMaxElements = 1 << 12;
  int64_t elements = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    bool isSum =
        op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    if (isSum || rowOf[loop])
      continue;
    if (ShapedType::isDynamic(size) || size > kMaxElements)
      return false;
    elements *= std::max<int64_t>(size, 1);
    if (elements > kMaxElements)
      return false;
  }
  return true;
}

/// Why a reduction, of which the rows are `left`, does not join.
std::optional<StringRef>
KernelGroup::getReductionObstacle(linalg::LinalgOp op, const Uses &uses,
                                  const llvm::SmallBitVector &left) const {
  if (has(LinalgClass::Reduction) && left != rows)
    return "it is not along the rows of the other reductions";
  if (left.none() && !(isSmall(op) && isSmall(root)))
    return "one block would do everything";
  if (!fitsBlock(op, uses.loops))
    return "a block cannot keep what it makes";
  if (readsAgain(op))
    return "it reads its operands again and again, and is tiled for that";
  return std::nullopt;
}

bool KernelGroup::joinChain(ContractionChain newChain) {
  ArrayRef<std::optional<unsigned>> ofSecond = getRowOf(newChain.second);
  llvm::SmallBitVector left(rows.size());
  SmallVector<Loops> loops;
  for (const ContractionChain::Link &link : newChain.links) {
    Loops &ofLink = loops.emplace_back();
    for (std::optional<unsigned> row : link.rows) {
      std::optional<unsigned> ofRoot = row ? ofSecond[*row] : std::nullopt;
      if (row && !(ofRoot && rows[*ofRoot]))
        return false;
      ofLink.push_back(ofRoot);
      if (ofRoot)
        left.set(*ofRoot);
    }
  }
  rows = left;
  for (auto [link, ofLink] :
       llvm::reverse(llvm::zip_equal(newChain.links, loops))) {
    ops.push_back(link.op);
    loopsOf[link.op] = std::move(ofLink);
  }
  chain = std::move(newChain);
  return true;
}

std::optional<StringRef> KernelGroup::join(linalg::LinalgOp op) {
  Uses uses;
  if (std::optional<StringRef> obstacle = collectUses(op, uses))
    return obstacle;
  if (chain)
    return "the kernel has the memory it needs for two contractions only";
  LinalgClass kind = classify(op);
  if (std::optional<StringRef> obstacle = getClassObstacle(kind))
    return obstacle;
  llvm::SmallBitVector left = rows;
  for (unsigned row : rows.set_bits())
    left[row] = llvm::is_contained(uses.loops, std::optional<unsigned>(row));
  bool isSharedWork = !isCheap(op) || uses.isEscaping;
  if (uses.tiles > (isSharedWork ? 1 : kMaxTilesOfCheap))
    return "it is read in several orders";
  if (kind == LinalgClass::Reduction) {
    if (std::optional<StringRef> obstacle =
            getReductionObstacle(op, uses, left))
      return obstacle;
    rows = left;
  } else if (left != rows && isSharedWork) {
    return "several blocks would compute it";
  }
  ops.push_back(op);
  loopsOf[op] = std::move(uses.loops);
  if (uses.tiles > 1)
    tilesOf[op] = uses.tiles;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Groups of a block
//===----------------------------------------------------------------------===//

namespace {

class BlockGrouping {
public:
  BlockGrouping(Block &block, const FormKernelsOptions *limits);

  void add(linalg::LinalgOp op);

  std::vector<KernelGroup> groups; // the last first
  SmallVector<std::pair<linalg::LinalgOp, StringRef>> whyNot;

private:
  bool isOfGroup(Operation *user, unsigned group) const {
    auto it = groupOf.find(user);
    return it != groupOf.end() && it->second == group;
  }
  bool comesBehind(linalg::LinalgOp op, unsigned group) const;
  bool mayReadOther(linalg::LinalgOp op, unsigned group) const;
  std::optional<StringRef> joinGroup(linalg::LinalgOp op, unsigned group);
  void place(linalg::LinalgOp op, unsigned group);

  Block &block;
  const FormKernelsOptions *limits;
  /// The number of times that memory which tensors are read from is written
  /// before.
  DenseMap<Operation *, unsigned> writesBefore;
  DenseMap<Operation *, unsigned> groupOf;
  /// The reason that keeps an operation, and those before, from what it is
  /// chained to.
  DenseMap<Operation *, StringRef> notChained;
};

} // namespace

/// True if what uses `op` outside of `group` stands behind all of it.
bool BlockGrouping::comesBehind(linalg::LinalgOp op, unsigned group) const {
  Operation *root = groups[group].getRoot();
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *inBlock = block.findAncestorOpInBlock(*user);
    return isOfGroup(user, group) ||
           (inBlock && root->isBeforeInBlock(inBlock));
  });
}

/// True if `op` may do more to memory than read it.
static bool mayWrite(Operation *op) {
  return hasOtherEffects<MemoryEffects::Read, MemoryEffects::Allocate>(op);
}

BlockGrouping::BlockGrouping(Block &block, const FormKernelsOptions *limits)
    : block(block), limits(limits) {
  Operation *function = block.getParentOp();
  if (auto outer = function->getParentOfType<FunctionOpInterface>())
    function = outer;
  bool hasBuffers = function
                        ->walk([](bufferization::ToTensorOp) {
                          return WalkResult::interrupt();
                        })
                        .wasInterrupted();
  unsigned writes = 0;
  for (Operation &op : block) {
    writesBefore[&op] = writes;
    writes += hasBuffers && mayWrite(&op);
  }
}

/// True if `op` would read a tensor of memory that has changed, in the kernel.
bool BlockGrouping::mayReadOther(linalg::LinalgOp op, unsigned group) const {
  return writesBefore.lookup(op) !=
         writesBefore.lookup(groups[group].getRoot());
}

/// Puts `op` into `group`, with all that is chained to it.
void BlockGrouping::place(linalg::LinalgOp op, unsigned group) {
  groupOf[op] = group;
  if (limits && limits->chainBytes == 0)
    return;
  std::optional<ContractionChain> chain = findChain(op);
  if (!chain)
    return;
  SmallVector<linalg::LinalgOp> ops;
  for (const ContractionChain::Link &link : chain->links)
    ops.push_back(link.op);
  std::optional<StringRef> obstacle =
      limits ? getObstacle(*chain, *limits) : std::nullopt;
  if (!obstacle && llvm::any_of(ops, [&](linalg::LinalgOp link) {
        return mayReadOther(link, group);
      }))
    obstacle = "the host writes to memory before the kernel";
  if (!obstacle && !groups[group].joinChain(std::move(*chain)))
    obstacle = "blocks of the kernel do not share out its rows";
  if (obstacle) {
    notChained[ops.back()] = *obstacle;
    return;
  }
  for (linalg::LinalgOp link : ops)
    groupOf[link] = group;
}

/// True if a user of `op` that has several results goes through rows of it of
/// which the length is not known, so that a block cannot keep them.
static bool isReadInLongRows(linalg::LinalgOp op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!user || user->getNumResults() < 2 || user.isDpsInit(&use))
      return false;
    SmallVector<utils::IteratorType> iterators = user.getIteratorTypesArray();
    AffineMap map = user.getMatchingIndexingMap(&use);
    return llvm::any_of(
        llvm::zip_equal(map.getResults(), user.getShape(&use)), [&](auto pair) {
          auto [at, extent] = pair;
          auto dim = dyn_cast<AffineDimExpr>(at);
          return dim && ShapedType::isDynamic(extent) &&
                 iterators[dim.getPosition()] == utils::IteratorType::reduction;
        });
  });
}

/// True if a sum goes along what `op` makes, and only that says how long it is:
/// directly, or by what element-wise operations, up to `depth`, make of it.
static bool isMadeAlongSum(linalg::LinalgOp op, const OpOperand *read = nullptr,
                           unsigned depth = 8) {
  llvm::SmallBitVector loops(op.getNumLoops(), true);
  if (classify(op) != LinalgClass::Elementwise || depth == 0 ||
      readsAlong(op, loops, read))
    return false;
  return llvm::any_of(op->getUses(), [&](OpOperand &use) {
    linalg::LinalgOp user = getTensorOp(use.getOwner());
    return user &&
           (isLengthOfSum(use) || isMadeAlongSum(user, &use, depth - 1));
  });
}

/// Why `op` is not of the group that all its users are of.
std::optional<StringRef> BlockGrouping::joinGroup(linalg::LinalgOp op,
                                                  unsigned group) {
  if (auto it = notChained.find(op); it != notChained.end())
    return it->second;
  if (!comesBehind(op, group))
    return "others use it before the kernel ends";
  if (mayReadOther(op, group))
    return "the host writes to memory before the kernel";
  if (isReadInLongRows(op) || isMadeAlongSum(op))
    return "blocks cannot keep rows of a length that is not known";
  return groups[group].join(op);
}

void BlockGrouping::add(linalg::LinalgOp op) {
  if (groupOf.contains(op))
    return;
  llvm::SmallSetVector<unsigned, 4> users;
  bool isOnlyOfGroups = true;
  for (Operation *user : op->getUsers()) {
    auto it = groupOf.find(user);
    if (it != groupOf.end())
      users.insert(it->second);
    isOnlyOfGroups &= it != groupOf.end();
  }
  bool isGenerator = classify(op) == LinalgClass::Generator;
  if (isGenerator && isOnlyOfGroups && !users.empty() && isReadInTiles(op))
    return; // each makes its own
  if (users.size() == 1 && !isGenerator) {
    unsigned group = users.front();
    std::optional<StringRef> obstacle = joinGroup(op, group);
    if (!obstacle)
      return place(op, group);
    whyNot.emplace_back(op, *obstacle);
  }
  groups.emplace_back(op);
  place(op, groups.size() - 1);
}

std::vector<KernelGroup>
groupOps(Block &block, const FormKernelsOptions *limits,
         SmallVectorImpl<std::pair<linalg::LinalgOp, StringRef>> *whyNot) {
  BlockGrouping grouping(block, limits);
  for (Operation &op : llvm::reverse(block))
    if (linalg::LinalgOp onTensors = getTensorOp(&op))
      grouping.add(onTensors);
  std::reverse(grouping.groups.begin(), grouping.groups.end());
  if (whyNot)
    llvm::append_range(*whyNot, grouping.whyNot);
  return std::move(grouping.groups);
}

} // namespace mlir::workgroup
