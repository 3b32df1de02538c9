//===- BankLayouts.cpp - Layouts of rows and what they cost ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padding costs memory, swizzling an exclusive or per access, splitting more
// instructions. Memory is what limits the blocks of a multiprocessor and the
// stages of a pipeline, so that padding is preferred while it is small. The
// layouts are tried in the order of preference; a later one has to be better.
//
//===----------------------------------------------------------------------===//

#include "BankLayouts.h"
#include "Target/BankConflicts.h"
#include "TensorSwizzles.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Padding up to this part of a row is preferred to swizzling; where swizzling
/// has to pay, up to the other one.
static constexpr int64_t kSmallPart = 16, kCheapPart = 4;
/// The cost of a wavefront in instructions: a multiprocessor serves one in a
/// cycle, in which it issues four instructions.
static constexpr uint64_t kWavefrontCost = 4;

int64_t getPieceBytes(const BankAccess &access, int64_t elementBytes,
                      const RowLayout &layout) {
  int64_t bytes = access.getPieceBytes(elementBytes);
  return access.canSplit ? std::min(bytes, layout.pieceBytes) : bytes;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Hands each request that `sampled` makes in `layout` to `visit`.
template <typename Fn>
static void forEachRequest(const SampledAccess &sampled,
                           const BankBuffer &buffer, const RowLayout &layout,
                           Fn visit) {
  int64_t elementBytes = buffer.elementBytes;
  int64_t pieceBytes = getPieceBytes(*sampled.access, elementBytes, layout);
  uint64_t rowBytes = buffer.getRowBytes() + layout.padBytes;
  WarpRequest request;
  for (const RowRequest &from : sampled.requests) {
    request.lanes = from.lanes;
    for (int64_t offset = 0; offset < sampled.bytes; offset += pieceBytes) {
      for (uint32_t rest = from.lanes; rest; rest &= rest - 1) {
        unsigned lane = llvm::countr_zero(rest);
        // What is in one element stays together.
        uint32_t column = layout.getColumn(
            from.rows[lane], from.columns[lane] + offset / elementBytes,
            elementBytes);
        request.addresses[lane] = from.rows[lane] * rowBytes +
                                  column * uint64_t(elementBytes) +
                                  offset % elementBytes;
      }
      visit(request, pieceBytes);
    }
  }
}

/// The cost of an access in `layout` besides its wavefronts: the arithmetic of
/// a swizzle, or, as much, memory that other blocks could have had. It counts
/// for accesses below the widest in loops of many iterations. For others,
/// which pass on what comes from global memory, the arithmetic is a small part.
static uint64_t getSurcharge(const BankBuffer &buffer, const RowLayout &layout,
                             const SampledAccess &sampled) {
  constexpr uint64_t kFewIterations = 64;
  if (sampled.weight <= kFewIterations * BankSampler::kWeightUnit ||
      sampled.bytes >= kWidestAccessBytes)
    return 0;
  if (layout.isSwizzled())
    return kWavefrontCost + (layout.fold != 0 ? kWavefrontCost / 2 : 0);
  return layout.padBytes * kCheapPart > buffer.getRowBytes() ? kWavefrontCost
                                                             : 0;
}

/// The weighted cost of `samples` in `layout`, or more than `limit`; each
/// request costs `perRequest` besides its wavefronts.
static uint64_t countCost(ArrayRef<SampledAccess> samples,
                          const BankBuffer &buffer, const RowLayout &layout,
                          Swizzle swizzle, uint64_t limit) {
  uint64_t cost = 0;
  for (const SampledAccess &sampled : samples) {
    uint64_t count = 0, wavefront = 1, instruction = 0;
    if (swizzle == Swizzle::Auto) {
      wavefront = kWavefrontCost;
      instruction = 1 + getSurcharge(buffer, layout, sampled);
    }
    forEachRequest(sampled, buffer, layout,
                   [&](const WarpRequest &request, int64_t bytes) {
                     count += countWavefronts(request, bytes) * wavefront +
                              instruction;
                   });
    cost = llvm::SaturatingMultiplyAdd(count, sampled.weight, cost);
    if (cost > limit)
      break;
  }
  return cost;
}

/// The weighted wavefronts of `samples` in `layout`.
static uint64_t countWavefrontsOf(ArrayRef<SampledAccess> samples,
                                  const BankBuffer &buffer,
                                  const RowLayout &layout) {
  return countCost(samples, buffer, layout, Swizzle::Always,
                   std::numeric_limits<uint64_t>::max());
}

/// The weighted wavefronts of `samples` without conflicts.
static uint64_t countLeast(ArrayRef<SampledAccess> samples,
                           const BankBuffer &buffer) {
  uint64_t least = 0;
  for (const SampledAccess &sampled : samples) {
    uint64_t count = 0;
    forEachRequest(sampled, buffer, RowLayout(),
                   [&](const WarpRequest &request, int64_t bytes) {
                     count += countConflictFreeWavefronts(request, bytes);
                   });
    least = llvm::SaturatingMultiplyAdd(count, sampled.weight, least);
  }
  return least;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// Lists the layouts of a buffer in the order of preference.
class CandidateList {
public:
  /// Padding up to part `smallPart` of a row comes before swizzling.
  CandidateList(const BankBuffer &buffer, int64_t maxBytes, int64_t smallPart)
      : buffer(buffer), maxBytes(maxBytes), smallPart(smallPart) {}

  SmallVector<RowLayout> list();
  /// Some layouts are too large.
  bool isHindered = false;

private:
  void addPaddings(int64_t pieceBytes, bool isSplit, bool isSmall);
  void addSwizzles(int64_t pieceBytes, int64_t chunkBytes, int64_t fold);
  void addTensorLayout(int64_t pieceBytes);

  const BankBuffer &buffer;
  int64_t maxBytes, smallPart;
  SmallVector<RowLayout> layouts;
};
} // namespace

void CandidateList::addPaddings(int64_t pieceBytes, bool isSplit,
                                bool isSmall) {
  for (int64_t pad = pieceBytes; pad <= kPassBytes; pad += pieceBytes) {
    if (isSplit && pad % (2 * pieceBytes) == 0)
      continue; // possible without splitting
    bool fits = pad * smallPart <= buffer.getRowBytes();
    if (fits != isSmall)
      continue;
    RowLayout layout;
    layout.padBytes = pad;
    layout.pieceBytes = pieceBytes;
    if (getLayoutBytes(buffer, layout) > maxBytes) {
      isHindered = true;
      continue;
    }
    layouts.push_back(layout);
  }
}

void CandidateList::addSwizzles(int64_t pieceBytes, int64_t chunkBytes,
                                int64_t fold) {
  if (buffer.getRowBytes() % chunkBytes != 0)
    return;
  int64_t numChunks = buffer.getRowBytes() / chunkBytes;
  constexpr int64_t kMaxRowsPerStep = 32;
  for (int64_t period = std::max<int64_t>(2, 2 * fold);
       numChunks % period == 0 && period * chunkBytes <= kPassBytes;
       period *= 2)
    for (int64_t rows = 1; rows < buffer.getRows() && rows <= kMaxRowsPerStep;
         rows *= 2) {
      RowLayout layout;
      layout.chunkBytes = chunkBytes;
      layout.period = period;
      layout.rowsPerStep = rows;
      layout.fold = fold;
      layout.pieceBytes = pieceBytes;
      layouts.push_back(layout);
    }
}

int64_t getLayoutBytes(const BankBuffer &buffer, const RowLayout &layout) {
  if (buffer.tensorLoads.empty() || !layout.isSwizzled())
    return llvm::alignTo(buffer.getBytes(layout.padBytes), kRuntimeAlignment);
  return buffer.getAlignedBytes(getTensorPatternBytes(buffer.getRowBytes()));
}

void CandidateList::addTensorLayout(int64_t pieceBytes) {
  std::optional<RowLayout> layout = getTensorLayout(buffer.getRowBytes());
  if (!layout || pieceBytes > layout->chunkBytes)
    return;
  if (getLayoutBytes(buffer, *layout) > maxBytes) {
    isHindered = true;
    return;
  }
  layout->pieceBytes = pieceBytes;
  layouts.push_back(*layout);
}

SmallVector<RowLayout> CandidateList::list() {
  // The widest piece, and what must not be split.
  int64_t widest = buffer.elementBytes, fixed = buffer.elementBytes;
  bool canSwizzle = true;
  for (const BankAccess &access : buffer.accesses) {
    int64_t piece = access.getPieceBytes(buffer.elementBytes);
    widest = std::max(widest, piece);
    fixed = std::max(fixed, access.getFixedBytes(buffer.elementBytes));
    canSwizzle &= !access.isOfMatrix();
  }
  widest = std::max(widest, fixed);
  if (!buffer.tensorLoads.empty()) {
    for (int64_t piece = widest; canSwizzle && piece >= fixed; piece /= 2)
      addTensorLayout(piece);
    return std::move(layouts);
  }
  // Chunks of less than a bank change no bank; large ones leave vectors whole.
  auto addAllSwizzles = [&](int64_t piece, int64_t fold) {
    if (!canSwizzle)
      return;
    for (int64_t chunk = piece != widest ? piece : kPassBytes / 2;
         chunk >= std::max(piece, kBankBytes); chunk /= 2)
      addSwizzles(piece, chunk, fold);
  };
  for (int64_t piece = widest; piece >= fixed; piece /= 2) {
    bool isSplit = piece != widest;
    addPaddings(piece, isSplit, /*isSmall=*/true);
    addAllSwizzles(piece, /*fold=*/0);
    addPaddings(piece, isSplit, /*isSmall=*/false);
  }
  if (buffer.getRowBytes() > kPassBytes)
    for (int64_t piece = widest; piece >= fixed; piece /= 2)
      for (int64_t fold : {1, 2, 4, 8})
        addAllSwizzles(piece, fold);
  return std::move(layouts);
}

/// Some of the requests of `samples`, if there are very many of them.
static SmallVector<SampledAccess> thin(ArrayRef<SampledAccess> samples) {
  constexpr size_t kMaxRequests = 256;
  size_t numRequests = 0;
  for (const SampledAccess &sampled : samples)
    numRequests += sampled.requests.size();
  SmallVector<SampledAccess> some(samples);
  if (size_t step = llvm::divideCeil(numRequests, kMaxRequests); step > 1)
    for (SampledAccess &sampled : some) {
      size_t size = 0;
      for (size_t i = 0; i < sampled.requests.size(); i += step)
        sampled.requests[size++] = sampled.requests[i];
      sampled.requests.truncate(size);
    }
  return some;
}

/// True if a layout of `after` wavefronts saves a good part of what conflicts
/// cost: of small gains one cannot tell, from a few iterations of loops,
/// whether they are any.
static bool isWorthwhile(uint64_t before, uint64_t after, uint64_t least) {
  constexpr uint64_t kPart = 8;
  return after < before && before - after >= (before - least) / kPart;
}

/// True if swizzled rows save more than the arithmetic of each access costs.
static bool paysForArithmetic(uint64_t before, uint64_t after) {
  constexpr uint64_t kPart = 32;
  return after < before && before - after >= before / kPart;
}

/// The least cost of `samples` in `layout`, `least` being the weighted
/// wavefronts without conflicts.
static uint64_t getCostFloor(ArrayRef<SampledAccess> samples,
                             const BankBuffer &buffer, const RowLayout &layout,
                             uint64_t least) {
  uint64_t cost = least * kWavefrontCost;
  for (const SampledAccess &sampled : samples) {
    int64_t piece = getPieceBytes(*sampled.access, buffer.elementBytes, layout);
    uint64_t numPieces =
        sampled.requests.size() * llvm::divideCeil(sampled.bytes, piece);
    uint64_t each = 1 + getSurcharge(buffer, layout, sampled);
    cost = llvm::SaturatingMultiplyAdd(numPieces * each, sampled.weight, cost);
  }
  return cost;
}

/// The cheapest of `layouts`, the first one among equals: the one with the
/// fewest wavefronts or, if swizzling has to pay, with the least cost.
static RowLayout findCheapest(ArrayRef<SampledAccess> samples,
                              const BankBuffer &buffer,
                              ArrayRef<RowLayout> layouts, Swizzle swizzle) {
  uint64_t least = countLeast(samples, buffer);
  RowLayout cheapest;
  uint64_t best = countCost(samples, buffer, cheapest, swizzle,
                            std::numeric_limits<uint64_t>::max());
  for (const RowLayout &layout : layouts) {
    uint64_t floor = swizzle == Swizzle::Always
                         ? least
                         : getCostFloor(samples, buffer, layout, least);
    if (floor >= best)
      continue;
    uint64_t cost = countCost(samples, buffer, layout, swizzle, best);
    if (cost >= best)
      continue;
    best = cost;
    cheapest = layout;
  }
  return cheapest;
}

LayoutChoice chooseLayout(const BankBuffer &buffer,
                          ArrayRef<SampledAccess> samples, int64_t maxBytes,
                          Swizzle swizzle) {
  LayoutChoice choice;
  choice.before = choice.after =
      countWavefrontsOf(samples, buffer, RowLayout());
  choice.least = countLeast(samples, buffer);
  if (choice.before <= choice.least || buffer.getRows() == 1)
    return choice;
  CandidateList candidates(
      buffer, maxBytes, swizzle == Swizzle::Always ? kSmallPart : kCheapPart);
  RowLayout found =
      findCheapest(thin(samples), buffer, candidates.list(), swizzle);
  choice.isHindered = candidates.isHindered;
  uint64_t after = countWavefrontsOf(samples, buffer, found);
  bool pays = swizzle == Swizzle::Always || !found.isSwizzled() ||
              paysForArithmetic(choice.before, after);
  if (pays && isWorthwhile(choice.before, after, choice.least)) {
    choice.after = after;
    choice.layout = found;
  }
  return choice;
}

} // namespace mlir::workgroup
