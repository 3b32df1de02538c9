//===- code.cpp - PTX for the stand-in ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX as far as launches need it: versions, targets, kernels, parameters.
//
//===----------------------------------------------------------------------===//

#include "state.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>

using namespace stand_in;

/// The CUDA version that first reads a version of PTX.
static int cudaVersion(int major, int minor) {
  if (major == 8 && minor > 5)
    return 12000 + 10 * (minor + 1);
  return 1000 * (major + 4) + 10 * minor;
}

static size_t typeBytes(const std::string &type) {
  std::string digits;
  for (char c : type)
    if (isdigit(static_cast<unsigned char>(c)))
      digits += c;
  return digits.empty() ? 1 : std::max(1, atoi(digits.c_str()) / 8);
}

/// `.param .u64 .ptr .global .align 16 name`, `.param .align 64 .b8 name[128]`.
static void readParameter(const std::string &text, Function &function) {
  std::smatch match;
  static const std::regex types(R"(\.([busf]\d+|pred)\b)"),
      alignments(R"(\.align\s+(\d+))"), arrays(R"(\[(\d+)\]\s*$)");
  if (!std::regex_search(text, match, types))
    return;
  size_t element = typeBytes(match[1]), count = 1, alignment = element;
  bool isPointer = text.find(".ptr") != std::string::npos;
  if (!isPointer && std::regex_search(text, match, alignments))
    alignment = std::stoul(match[1]);
  if (std::regex_search(text, match, arrays))
    count = std::stoul(match[1]);
  size_t end = 0;
  if (!function.parameters.empty())
    end = function.parameters.back().first + function.parameters.back().second;
  size_t offset = (end + alignment - 1) / alignment * alignment;
  function.parameters.emplace_back(offset, element * count);
}

static Dim3 readDim3(const std::string &text, const char *directive) {
  std::smatch match;
  std::regex pattern(std::string("\\.") + directive +
                     R"(\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?)");
  if (!std::regex_search(text, match, pattern))
    return {0, 0, 0};
  auto part = [&](int n) {
    return match[n].matched ? unsigned(std::stoul(match[n])) : 1u;
  };
  return {part(1), part(2), part(3)};
}

static std::string::size_type bodyEnd(const std::string &text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0)
      return at;
  }
  return text.size();
}

/// Bytes of the workgroup variables that the body names or declares.
static unsigned sharedBytes(const std::string &text, const std::string &body) {
  static const std::regex variables(
      R"((\.extern\s+)?\.shared\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d*)\])?)");
  size_t total = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), variables), end;
       it != end; ++it) {
    const std::smatch &match = *it;
    if (match[1].matched || body.find(match[4]) == std::string::npos)
      continue;
    size_t count = match[5].length() ? std::stoul(match[5]) : 1;
    size_t alignment = match[2].matched ? std::stoul(match[2]) : 1;
    total = (total + alignment - 1) / alignment * alignment +
            count * typeBytes(match[3]);
  }
  return unsigned(total);
}

static void readKernels(const std::string &text, Module &module) {
  static const std::regex entries(R"(\.entry\s+([\w$.]+)\s*(\(([^)]*)\))?)");
  for (std::sregex_iterator it(text.begin(), text.end(), entries), end;
       it != end; ++it) {
    auto function = std::make_unique<Function>();
    function->name = (*it)[1];
    function->context = module.context;
    std::string parameters = (*it)[3];
    for (size_t at = 0; at < parameters.size();) {
      size_t comma = std::min(parameters.find(',', at), parameters.size());
      readParameter(parameters.substr(at, comma - at), *function);
      at = comma + 1;
    }
    size_t after = size_t(it->position() + it->length());
    size_t open = std::min(text.find('{', after), text.size());
    std::string directives = text.substr(after, open - after);
    Dim3 most = readDim3(directives, "maxntid");
    if (most.x)
      function->maxThreads = most.x * most.y * most.z;
    function->requiredBlock = readDim3(directives, "reqntid");
    function->requiredCluster = readDim3(directives, "reqnctapercluster");
    function->staticShared =
        sharedBytes(text, text.substr(open, bodyEnd(text, open) - open));
    function->maxDynamicShared =
        49152 - std::min(49152u, function->staticShared);
    function->image = text;
    module.functions.push_back(std::move(function));
  }
}

/// Whether code for `sm_<chip><suffix>` runs on a device, compiled there or
/// not.
static bool runsOn(int chip, char suffix, const Device &device, bool isBinary) {
  int own = device.major * 10 + device.minor;
  if (suffix == 'a')
    return chip == own;
  if (suffix == 'f' || isBinary)
    return chip / 10 == device.major && chip % 10 <= device.minor;
  return chip <= own;
}

Result stand_in::readCode(const char *image, Module &module, std::string &log) {
  static const char magic[] = "\177ELF stand-in ";
  bool isElf = !strncmp(image, "\177ELF", 4);
  bool isBinary = !strncmp(image, magic, strlen(magic));
  if (isElf && !isBinary)
    return readMachineCode(image, module);
  std::string text(isBinary ? image + strlen(magic) : image);
  int major = 0, minor = 0, chip = 0;
  char suffix = ' ';
  size_t version = text.find(".version "), target = text.find(".target sm_");
  if (version == std::string::npos || target == std::string::npos ||
      sscanf(text.c_str() + version, ".version %d.%d", &major, &minor) != 2 ||
      sscanf(text.c_str() + target, ".target sm_%d%c", &chip, &suffix) < 1) {
    log = "ptxas application ptx input, line 1; fatal   : Missing .version "
          "directive at start of file";
    return isBinary ? InvalidImage : InvalidPtx;
  }
  if (!isBinary && cudaVersion(major, minor) > state().version) {
    log = "ptxas application ptx input, line 1; fatal   : Unsupported .version";
    return UnsupportedPtxVersion;
  }
  const Device &device = state().devices[size_t(module.context->device)];
  if (!runsOn(chip, suffix, device, isBinary))
    return NoBinaryForGpu;
  if (size_t at = text.find("not_an_instruction"); at != std::string::npos) {
    log = "ptxas application ptx input, line " +
          std::to_string(1 + std::count(text.begin(),
                                        text.begin() + std::ptrdiff_t(at),
                                        '\n')) +
          "; error   : Not a name of any known instruction";
    return InvalidPtx;
  }
  readKernels(text, module);
  return Success;
}
