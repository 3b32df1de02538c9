//===- FloatConstants.cpp - Floats as newer LLVM IR has them --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatConstants.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Error.h"
#include <tuple>

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

//===----------------------------------------------------------------------===//
// Decimals
//===----------------------------------------------------------------------===//

/// The last type of numbers in `before`, which what follows is of; empty if
/// there is none.
static llvm::StringRef findType(llvm::StringRef before) {
  size_t last = 0;
  llvm::StringRef found;
  for (llvm::StringRef type : {"half", "bfloat", "float", "double"})
    for (size_t at = before.find(type); at != llvm::StringRef::npos;
         at = before.find(type, at + 1)) {
      size_t end = at + type.size();
      bool isWord = (at == 0 || !llvm::isAlnum(before[at - 1])) &&
                    (end == before.size() || !llvm::isAlnum(before[end]));
      if (isWord && end >= last)
        std::tie(found, last) = std::pair(type, end);
    }
  return found;
}

/// `number` rounded to `type`, by its bits; itself if it need not be rounded.
static std::string round(llvm::StringRef number, llvm::StringRef type) {
  const llvm::fltSemantics *semantics =
      type == "float"    ? &llvm::APFloat::IEEEsingle()
      : type == "half"   ? &llvm::APFloat::IEEEhalf()
      : type == "bfloat" ? &llvm::APFloat::BFloat()
                         : nullptr;
  if (!semantics)
    return number.str();
  llvm::APFloat value(*semantics);
  auto status =
      value.convertFromString(number, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return number.str();
  }
  if (*status == llvm::APFloat::opOK)
    return number.str();
  unsigned width = llvm::APFloat::getSizeInBits(*semantics) / 4;
  std::string digits = llvm::utohexstr(value.bitcastToAPInt().getZExtValue(),
                                       /*LowerCase=*/false, width);
  return respell(digits, type);
}

/// How much of `text` is a number with a point; 0 if it begins with none.
static size_t matchDecimal(llvm::StringRef text) {
  llvm::StringRef rest = text;
  (void)(rest.consume_front("-") || rest.consume_front("+"));
  size_t whole = rest.take_while(llvm::isDigit).size();
  rest = rest.drop_front(whole);
  if (whole == 0 || !rest.consume_front("."))
    return 0;
  rest = rest.drop_while(llvm::isDigit);
  llvm::StringRef exponent = rest;
  if (exponent.consume_front_insensitive("e")) {
    (void)(exponent.consume_front("-") || exponent.consume_front("+"));
    if (!exponent.empty() && llvm::isDigit(exponent.front()))
      rest = exponent.drop_while(llvm::isDigit);
  }
  return text.size() - rest.size();
}

static void roundLine(llvm::StringRef line, std::string &result) {
  size_t done = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    bool isBegin = at == 0 || llvm::StringRef(" ,([<{").contains(line[at - 1]);
    size_t length = isBegin ? matchDecimal(line.drop_front(at)) : 0;
    if (length == 0 || isInString(line.take_front(at)))
      continue;
    result += line.slice(done, at);
    result += round(line.substr(at, length), findType(line.take_front(at)));
    done = at + length;
    at = done - 1;
  }
  result += line.drop_front(done);
}

std::string respellFloats(llvm::StringRef text) {
  std::string result, line;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    line.clear();
    respellLine(text.take_front(length), line);
    roundLine(line, result);
    text = text.drop_front(length);
  }
  return result;
}

} // namespace mlir::workgroup
