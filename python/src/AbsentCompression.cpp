//===- AbsentCompression.cpp - Compression that is not linked -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM compresses sections of object files on demand, with zlib or Zstandard.
// The extension writes and reads no such section. Its definitions of what LLVM
// compresses with are those of an LLVM that was built with neither, so that it
// loads where libzstd is not installed.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"

using namespace llvm;
using namespace llvm::compression;

static Error makeError() {
  return createStringError("this LLVM was built without compression");
}

bool zlib::isAvailable() { return false; }

void zlib::compress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t> &, int) {
  llvm_unreachable("zlib::compress is unavailable");
}

Error zlib::decompress(ArrayRef<uint8_t>, uint8_t *, size_t &) {
  return makeError();
}

Error zlib::decompress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t> &, size_t) {
  return makeError();
}

bool zstd::isAvailable() { return false; }

void zstd::compress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t> &, int, bool) {
  llvm_unreachable("zstd::compress is unavailable");
}

Error zstd::decompress(ArrayRef<uint8_t>, uint8_t *, size_t &) {
  return makeError();
}

Error zstd::decompress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t> &, size_t) {
  return makeError();
}

const char *compression::getReasonIfUnsupported(Format) {
  return "LLVM was not built with compression";
}

void compression::compress(Params, ArrayRef<uint8_t>,
                           SmallVectorImpl<uint8_t> &) {
  llvm_unreachable("compression is unavailable");
}

Error compression::decompress(DebugCompressionType, ArrayRef<uint8_t>,
                              uint8_t *, size_t) {
  return makeError();
}

Error compression::decompress(Format, ArrayRef<uint8_t>,
                              SmallVectorImpl<uint8_t> &, size_t) {
  return makeError();
}

Error compression::decompress(DebugCompressionType, ArrayRef<uint8_t>,
                              SmallVectorImpl<uint8_t> &, size_t) {
  return makeError();
}
