//===- Printf.cpp - What kernels print ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text that a format and its arguments make, conversion by conversion. Each
// is left to the host's own printf, in the form that the host has for it.
//
//===----------------------------------------------------------------------===//

#include "Printf.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>

namespace mlir::workgroup::emulator {

/// Bytes of output that a block keeps of what it prints.
static constexpr size_t kMaxOutput = 1 << 20;

namespace {
/// The arguments of a call, one after the other, each aligned to its size; zero
/// beyond their end.
class ArgumentReader {
public:
  explicit ArgumentReader(llvm::ArrayRef<uint8_t> bytes) : bytes(bytes) {}

  template <typename T>
  T read() {
    offset = llvm::alignTo(offset, sizeof(T));
    T value = {};
    if (offset + sizeof(T) <= bytes.size())
      std::memcpy(&value, bytes.data() + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }

private:
  llvm::ArrayRef<uint8_t> bytes;
  uint64_t offset = 0;
};

/// A conversion such as `%-8.3f`: the text for the host's printf without width,
/// precision and length, and the size of its integer.
struct Conversion {
  std::string flags;
  std::string digits;
  char letter = 0;
  bool isLong = false;
  bool isShort = false;
  /// An argument before its own is the width.
  bool takesWidth = false;
};
} // namespace

/// Takes a conversion from the front of `rest`; nullopt if it is none.
static std::optional<Conversion> takeConversion(llvm::StringRef &rest) {
  constexpr size_t kMaxDigits = 3;
  Conversion conversion;
  llvm::StringRef tail = rest.drop_front();
  size_t flags = tail.find_first_not_of("-+ #0");
  llvm::StringRef digits = tail.drop_front(std::min(flags, tail.size()));
  conversion.takesWidth = digits.consume_front("*");
  size_t end = digits.find_first_not_of("0123456789.");
  if (end > 2 * kMaxDigits || flags > 4) // or there is no end
    return std::nullopt;
  conversion.flags = ("%" + tail.take_front(flags)).str();
  conversion.digits = digits.take_front(end).str();
  llvm::StringRef length = digits.drop_front(end);
  llvm::StringRef letters = length.ltrim("hl");
  conversion.isLong = length.starts_with("l");
  conversion.isShort = length.starts_with("h");
  if (letters.empty() ||
      !llvm::StringRef("diouxXeEfFgGaAcp%").contains(letters.front()))
    return std::nullopt;
  conversion.letter = letters.front();
  rest = letters.drop_front();
  return conversion;
}

template <typename T>
static std::string format(const std::string &specifier, T value) {
  char text[512];
  std::snprintf(text, sizeof(text), specifier.c_str(), value);
  return text;
}

/// The text for an integer of a conversion of `letter`, of 16 bits if it
/// `isShort`.
static std::string convertInteger(const std::string &text, char letter,
                                  bool isShort, int value) {
  bool isSigned = letter == 'd' || letter == 'i';
  if (isShort)
    value = isSigned ? int(int16_t(value)) : int(uint16_t(value));
  return format(text + letter, value);
}

static std::string convert(const Conversion &conversion,
                           ArgumentReader &reader) {
  char letter = conversion.letter;
  if (letter == '%')
    return "%";
  std::string text = conversion.flags;
  if (conversion.takesWidth) {
    int width = reader.read<int>();
    constexpr int kMostWidth = 400; // of the host's buffer
    text += std::to_string(std::clamp(width, -kMostWidth, kMostWidth));
  }
  text += conversion.digits;
  if (letter == 'c')
    return format(text + "c", reader.read<int>());
  if (letter == 'p')
    return format(text + "p", reader.read<void *>());
  if (llvm::StringRef("eEfFgGaA").contains(letter))
    return format(text + letter, reader.read<double>());
  if (conversion.isLong)
    return format(text + "ll" + letter, reader.read<long long>());
  return convertInteger(text, letter, conversion.isShort, reader.read<int>());
}

void print(std::string &output, const char *format,
           llvm::ArrayRef<uint8_t> arguments) {
  ArgumentReader reader(arguments);
  llvm::StringRef rest = format;
  while (!rest.empty() && output.size() < kMaxOutput) {
    size_t plain = std::min(rest.find('%'), rest.size());
    output += rest.take_front(plain);
    rest = rest.drop_front(plain);
    if (rest.empty())
      return;
    if (std::optional<Conversion> conversion = takeConversion(rest)) {
      output += convert(*conversion, reader);
    } else {
      output += '%'; // not known: printed as it is
      rest = rest.drop_front();
    }
  }
}

} // namespace mlir::workgroup::emulator
