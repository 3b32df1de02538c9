//===- SyncProgram.cpp - A kernel as barriers see it ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncProgram.h"

namespace mlir::workgroup {

unsigned SyncProgram::append(unsigned sequence, SyncNode::Kind kind) {
  SyncNode &node = nodes.emplace_back();
  node.kind = kind;
  node.sequence = sequence;
  node.index = sequences[sequence].items.size();
  unsigned number = nodes.size() - 1;
  sequences[sequence].items.push_back(number);
  return number;
}

unsigned SyncProgram::addPart(unsigned node) {
  unsigned sequence = sequences.size();
  sequences.emplace_back().parent = node;
  nodes[node].parts.push_back(sequence);
  return sequence;
}

} // namespace mlir::workgroup
