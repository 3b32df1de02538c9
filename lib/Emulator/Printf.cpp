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

namespace {
/// The arguments of a call, one after the other, each aligned to its size.
class ArgumentReader {
public:
  explicit ArgumentReader(const uint8_t *start) : start(start) {}

  template <typename T>
  T read() {
    offset = llvm::alignTo(offset, sizeof(T));
    T value;
    std::memcpy(&value, start + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }

private:
  const uint8_t *start;
  uint64_t offset = 0;
};
} // namespace

/// Formats one conversion, as `%8.3f`, with the host's printf.
template <typename T>
static std::string convert(const std::string &specifier, T value) {
  char text[512];
  std::snprintf(text, sizeof(text), specifier.c_str(), value);
  return text;
}

static std::string convertNext(std::string specifier, ArgumentReader &reader) {
  char letter = specifier.back();
  switch (letter) {
  case 'e':
  case 'f':
  case 'g':
  case 'a':
  case 'E':
  case 'F':
  case 'G':
  case 'A':
    return convert(specifier, reader.read<double>());
  case 'p':
    return convert(specifier, reader.read<void *>());
  case 's':
    return convert(specifier, reader.read<const char *>());
  case 'c':
    return convert(specifier, reader.read<int>());
  default:
    bool isLong = specifier.find('l') != std::string::npos;
    return isLong ? convert(specifier, reader.read<long long>())
                  : convert(specifier, reader.read<int>());
  }
}

void Worker::print(const char *format, const uint8_t *arguments) {
  ArgumentReader reader(arguments);
  llvm::StringRef rest = format;
  while (!rest.empty()) {
    auto [plain, tail] = rest.split('%');
    output += plain;
    if (plain.size() == rest.size())
      return;
    size_t length = tail.find_first_of("diouxXeEfFgGaAcsp%");
    if (length == llvm::StringRef::npos)
      return;
    std::string specifier = ("%" + tail.take_front(length + 1)).str();
    output += specifier == "%%" ? "%" : convertNext(specifier, reader);
    rest = tail.drop_front(length + 1);
  }
}

} // namespace mlir::workgroup::emulator
