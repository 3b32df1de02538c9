//===- machine_code.cpp - Cubins for the stand-in -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cubins of ptxas as far as launches need them: an ELF file with a section
// `.nv.info.<kernel>` of attributes for each kernel.
//
//===----------------------------------------------------------------------===//

#include "state.h"

#include <cstring>
#include <elf.h>

using namespace stand_in;

namespace {
/// Attributes of kernels, as cuobjdump names them: EIATTR_...
enum Attribute : uint8_t {
  MaxThreads = 0x05,
  ReqNTid = 0x10,
  KParamInfo = 0x17,
  CtaPerCluster = 0x3d,
};

/// The kinds of their values: none, a byte, two bytes, or as many as follow.
enum Format : uint8_t { WithBytes = 4 };

class Cubin {
public:
  explicit Cubin(const char *data) : data(data) {
    memcpy(&header, data, sizeof header);
  }

  bool isCode() const {
    return header.e_machine == 190 && header.e_shentsize == sizeof(Elf64_Shdr);
  }

  /// The number of the chip: 90 for sm_90 and sm_90a.
  int chip() const { return int(header.e_flags >> 8 & 0xff); }

  void readKernels(Module &module) const {
    static const char prefix[] = ".nv.info.";
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr info = section(i);
      std::string name = nameOf(info);
      if (name.compare(0, strlen(prefix), prefix) != 0)
        continue;
      auto function = std::make_unique<Function>();
      function->name = name.substr(strlen(prefix));
      function->context = module.context;
      readAttributes(info, *function);
      function->staticShared = sizeOf(".nv.shared." + function->name);
      function->maxDynamicShared =
          49152 - std::min(49152u, function->staticShared);
      module.functions.push_back(std::move(function));
    }
  }

private:
  Elf64_Shdr section(unsigned number) const {
    Elf64_Shdr found;
    memcpy(&found, data + header.e_shoff + number * sizeof found, sizeof found);
    return found;
  }

  std::string nameOf(const Elf64_Shdr &of) const {
    return data + section(header.e_shstrndx).sh_offset + of.sh_name;
  }

  unsigned sizeOf(const std::string &name) const {
    for (unsigned i = 0; i < header.e_shnum; ++i)
      if (nameOf(section(i)) == name)
        return unsigned(section(i).sh_size);
    return 0;
  }

  void readAttributes(const Elf64_Shdr &info, Function &function) const {
    const char *at = data + info.sh_offset, *end = at + info.sh_size;
    while (at + 4 <= end) {
      uint8_t format = uint8_t(at[0]), attribute = uint8_t(at[1]);
      uint16_t bytes;
      memcpy(&bytes, at + 2, sizeof bytes);
      at += 4;
      if (format != WithBytes)
        continue;
      readAttribute(attribute, at, function);
      at += bytes;
    }
  }

  static void readAttribute(uint8_t attribute, const char *value,
                            Function &function) {
    uint32_t words[3];
    memcpy(words, value, sizeof words);
    Dim3 sizes{words[0], words[1], words[2]};
    if (attribute == MaxThreads)
      function.maxThreads = sizes.x * sizes.y * sizes.z;
    if (attribute == ReqNTid)
      function.requiredBlock = sizes;
    if (attribute == CtaPerCluster)
      function.requiredCluster = sizes;
    if (attribute != KParamInfo)
      return;
    // An index, then the number and the offset, then the bytes in the upper
    // bits.
    size_t number = words[1] & 0xffff, offset = words[1] >> 16;
    auto &parameters = function.parameters;
    parameters.resize(std::max(parameters.size(), number + 1));
    parameters[number] = {offset, words[2] >> 18};
  }

  const char *data;
  Elf64_Ehdr header;
};
} // namespace

Result stand_in::readMachineCode(const char *image, Module &module) {
  Cubin cubin(image);
  if (!cubin.isCode())
    return InvalidImage;
  const Device &device = state().devices[size_t(module.context->device)];
  if (cubin.chip() / 10 != device.major || cubin.chip() % 10 > device.minor)
    return NoBinaryForGpu;
  cubin.readKernels(module);
  return Success;
}
