//===- Printf.cpp - What kernels print ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
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

/// A conversion such as `%-8.3f`: the text for the host's printf without a
/// length, and whether its integer has 64 bits.
struct Conversion {
  std::string text;
  char letter = 0;
  bool isLong = false;
};
} // namespace

/// Takes a conversion from the front of `rest`; nullopt if it is none.
static std::optional<Conversion> takeConversion(llvm::StringRef &rest) {
  constexpr size_t kMaxDigits = 3;
  Conversion conversion;
  llvm::StringRef tail = rest.drop_front();
  size_t flags = tail.find_first_not_of("-+ #0");
  llvm::StringRef digits = tail.drop_front(std::min(flags, tail.size()));
  size_t end = digits.find_first_not_of("0123456789.");
  if (end == llvm::StringRef::npos || end > 2 * kMaxDigits || flags > 4)
    return std::nullopt;
  conversion.text =
      ("%" + tail.take_front(flags) + digits.take_front(end)).str();
  llvm::StringRef length = digits.drop_front(end);
  llvm::StringRef letters = length.ltrim("hl");
  conversion.isLong = length.contains('l') && length.find('l') == 0;
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

static std::string convert(const Conversion &conversion,
                           ArgumentReader &reader) {
  llvm::StringRef letter(&conversion.letter, 1);
  if (letter == "%")
    return "%";
  if (letter == "c")
    return format(conversion.text + "c", reader.read<int>());
  if (letter == "p")
    return format(conversion.text + "p", reader.read<void *>());
  if (llvm::StringRef("eEfFgGaA").contains(conversion.letter))
    return format(conversion.text + conversion.letter, reader.read<double>());
  if (conversion.isLong)
    return format(conversion.text + "ll" + conversion.letter,
                  reader.read<long long>());
  return format(conversion.text + conversion.letter, reader.read<int>());
}

void Worker::print(const char *format, llvm::ArrayRef<uint8_t> arguments) {
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
