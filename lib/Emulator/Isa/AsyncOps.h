//===- AsyncOps.h - Mbarriers and bulk copies ----------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mbarriers, bulk copies and tensor copies (PTX ISA, "Asynchronous operations")
// arrive in LLVM IR as intrinsics, or as inline assembly where MLIR has no
// intrinsic. Decoding makes both into one record of what the operation does; a
// form that is not known is nothing, and the kernel is refused.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_ASYNCOPS_H
#define WORKGROUP_LIB_EMULATOR_ISA_ASYNCOPS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::workgroup::emulator {

/// How a store in bulk changes what is there, element by element.
enum class BulkReduction : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// An operation on an mbarrier, or on copies that one tracks.
struct AsyncOp {
  enum class Kind {
    Init,
    Invalidate,
    Arrive,
    ExpectBytes,
    CompleteBytes,
    /// Arrive when the copies of the thread by `cp.async` are complete.
    CopiesArrive,
    /// Wait for a phase, perhaps in vain.
    Test,
    /// Wait for a phase until it is over.
    Wait,
    LoadTensor,
    StoreTensor,
    LoadBytes,
    StoreBytes,
    CommitStores,
    WaitForStores,
    /// Wait until stores have read what they copy.
    WaitForStoreReads,
  };
  Kind kind;
  /// For an arrival: it lowers the count of the phases to come, too; it must
  /// not end the phase; its operand is no count but bytes to expect. For an
  /// arrival of copies: it is in the count of the phase already.
  bool drops = false, mayNotComplete = false, expectsBytes = false,
       isCounted = false;
  /// An arrival or a wait orders nothing.
  bool isRelaxed = false;
  /// A wait names the phase by its parity, not by what an arrival returned.
  bool isParity = false;
  /// The rank of the tensor, for a copy of a box.
  unsigned rank = 0;
  /// A load goes to several blocks of the cluster, by a mask of their ranks.
  bool isMulticast = false;
  /// A store is no plain one.
  std::optional<BulkReduction> reduction = std::nullopt;

  bool isCopy() const {
    return kind >= Kind::LoadTensor && kind <= Kind::StoreBytes;
  }
  bool isLoad() const {
    return kind == Kind::LoadTensor || kind == Kind::LoadBytes;
  }
  bool isStoreGroup() const { return kind >= Kind::CommitStores; }
  bool suspends() const { return kind == Kind::Test || kind == Kind::Wait; }

  /// Decodes the name of an intrinsic, as `llvm.nvvm.mbarrier.arrive.shared`;
  /// nullopt if it is none of those above, or of a form that is not known.
  static std::optional<AsyncOp> decode(llvm::StringRef intrinsic);
};

/// Inline assembly that MLIR's NVVM operations become where there is no
/// intrinsic.
struct AsyncAssembly {
  AsyncOp op;
  /// The operand that says whether it is executed, if there is one.
  std::optional<unsigned> predicate;

  /// Decodes the text of such assembly.
  static std::optional<AsyncAssembly> decode(llvm::StringRef text);
};

/// True for the name of an intrinsic, or the text of assembly, that has no
/// effect but on time, or on what no thread here can tell.
bool isAsyncHint(llvm::StringRef nameOrText);

/// A fence that lets the asynchronous proxy know what a thread did before.
struct ProxyFence {
  /// The memory that it is about; of workgroup memory maybe only the mbarriers
  /// that the thread has made.
  bool ofShared = false, ofGlobal = false, ofMBarriers = false;

  uint32_t encode() const {
    return ofShared | ofGlobal << 1 | ofMBarriers << 2;
  }
  static ProxyFence decode(uint32_t bits) {
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
  }
  /// The fence that the intrinsic `name` is, if it is one.
  static std::optional<ProxyFence> decode(llvm::StringRef name);
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_ASYNCOPS_H
