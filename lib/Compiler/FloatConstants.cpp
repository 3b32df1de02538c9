//===- FloatConstants.cpp - Floats as newer LLVM IR has them --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatConstants.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

namespace mlir::workgroup {

static constexpr llvm::StringLiteral kPrefix = "f0x";

/// `digits`, the bits of a float, as this LLVM reads them; `before` is what
/// stands before them on their line, the type among it.
static std::string respell(llvm::StringRef digits, llvm::StringRef before) {
  uint64_t bits = 0;
  if (digits.size() > 16 || digits.getAsInteger(16, bits))
    return (kPrefix + digits).str();
  if (digits.size() == 16)
    return ("0x" + digits).str();
  if (digits.size() == 8) {
    double value = llvm::bit_cast<float>(uint32_t(bits));
    return "0x" + llvm::utohexstr(llvm::bit_cast<uint64_t>(value),
                                  /*LowerCase=*/false, /*Width=*/16);
  }
  size_t half = before.rfind("half"), brain = before.rfind("bfloat");
  bool isBrain = brain != llvm::StringRef::npos &&
                 (half == llvm::StringRef::npos || brain > half);
  return ((isBrain ? "0xR" : "0xH") + digits).str();
}

/// Whether `text` ends inside of a string.
static bool isInString(llvm::StringRef text) { return text.count('"') % 2; }

static void respellLine(llvm::StringRef line, std::string &result) {
  size_t done = 0;
  for (size_t at = line.find(kPrefix); at != llvm::StringRef::npos;
       at = line.find(kPrefix, at + 1)) {
    llvm::StringRef before = line.take_front(at);
    bool isWord =
        at == 0 || !(llvm::isAlnum(line[at - 1]) ||
                     llvm::StringRef("._$%@-").contains(line[at - 1]));
    if (!isWord || isInString(before))
      continue;
    llvm::StringRef digits =
        line.substr(at + kPrefix.size()).take_while([](char c) {
          return llvm::isHexDigit(c);
        });
    result += line.slice(done, at);
    result += respell(digits, before);
    done = at + kPrefix.size() + digits.size();
  }
  result += line.drop_front(done);
}

std::string respellFloats(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    respellLine(text.take_front(length), result);
    text = text.drop_front(length);
  }
  return result;
}

} // namespace mlir::workgroup
