//===- ProtocolGroups.cpp - What goes on by itself ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses that go on by themselves are done where their threads wait for them.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "ProtocolWalk.h"

namespace mlir::workgroup {

/// Begins a new group, or ends what groups are waited for.
void ProtocolWalk::visitGroup(Operation &op) {
  std::optional<AsyncGroup> group = getAsyncGroup(&op);
  if (!group)
    return;
  if (group->engine == AsyncGroup::TileProducts)
    return group->isCommit ? visitProduct(&op, group->numPending)
                           : settleProducts(&op, group->numPending);
  auto &open = groups[group->engine];
  if (group->isCommit) {
    open.emplace_back();
    return;
  }
  add(ProtocolEvent::Settle, &op);
  int64_t numDone = int64_t(open.size()) - 1 - group->numPending;
  for (int64_t number = 0; number < numDone; ++number)
    for (size_t event : open[number])
      stream.events[event].done = stream.events.size() - 1;
  if (numDone > 0)
    open.erase(open.begin(), open.begin() + numDone);
}

/// The warp group begins to read, and waits for what it has begun before.
void ProtocolWalk::visitProduct(Operation *op, int64_t numPending) {
  ProtocolEvent like;
  like.product = stream.products.size();
  add(ProtocolEvent::WarpMeeting, op).product = like.product;
  stream.products.emplace_back().op = op;
  addAccesses(op, like);
  settleProducts(op, numPending);
}

void ProtocolWalk::settleProducts(Operation *op, int64_t numPending) {
  add(ProtocolEvent::Settle, op);
  size_t numLeft = std::min<size_t>(numPending, stream.products.size());
  for (ProtocolProduct &product :
       llvm::drop_begin(llvm::reverse(stream.products), numLeft)) {
    if (product.done)
      break; // and so are those before
    product.done = stream.events.size() - 1;
  }
}

} // namespace mlir::workgroup
