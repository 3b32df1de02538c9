//===- Certificate.cpp - Why compiled kernels do not race -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses that do the same to the same variables behind the same barriers are
// a group. Of two groups there is one reason why their accesses do not race.
//
//===----------------------------------------------------------------------===//

#include "Certificate.h"
#include "AddressText.h"
#include "KernelFacts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

namespace mlir::workgroup {

/// The version of the form; docs/certificates.md.
static constexpr int64_t kCertificateVersion = 2;

namespace {

/// Is told of each instruction before it is printed.
class LineWriter final : public llvm::AssemblyAnnotationWriter {
public:
  explicit LineWriter(LineNumbers &lines) : lines(lines) {}

  void emitInstructionAnnot(const llvm::Instruction *instruction,
                            llvm::formatted_raw_ostream &stream) override {
    lines[instruction] = stream.getLine() + 1;
  }

private:
  LineNumbers &lines;
};

/// Accesses, by number, that one reason holds for.
struct AccessGroup {
  AccessFact::Kind kind;
  std::vector<std::string> variables;
  std::set<unsigned> behind;
  std::vector<unsigned> accesses;
};

class CertificateWriter {
public:
  CertificateWriter(llvm::json::OStream &json, llvm::StringRef text,
                    const llvm::Module &module,
                    const std::vector<SyncRecord> &verdicts,
                    const std::vector<KernelRecord> &kernels)
      : json(json), module(module), verdicts(verdicts), kernels(kernels) {
    text.split(texts, '\n');
    LineWriter writer(lines);
    llvm::raw_null_ostream nowhere;
    module.print(nowhere, &writer);
  }

  void write(const llvm::Function &kernel);
  void writeMemory();

private:
  void writeBlock(const llvm::Function &kernel);
  void writeBoxes(const llvm::Function &kernel);
  void writeProof(const llvm::Function &kernel);
  void writeControl(const llvm::Function &kernel,
                    const llvm::SetVector<const llvm::Value *> &named);
  void writeAssumptions(const llvm::Function &kernel);
  void writeOrders(const KernelFacts &facts);
  void writeAccesses(const KernelFacts &facts, AddressWriter &addresses);
  void writeGroups(const std::vector<AccessGroup> &groups);
  void writePairs(const std::vector<AccessGroup> &groups);
  void writeLines(llvm::StringRef name, const std::set<unsigned> &numbers);
  void writeText(const llvm::Instruction &instruction);

  llvm::json::OStream &json;
  const llvm::Module &module;
  const std::vector<SyncRecord> &verdicts;
  const std::vector<KernelRecord> &kernels;
  llvm::SmallVector<llvm::StringRef> texts;
  LineNumbers lines;
};

} // namespace

static llvm::StringRef getName(AccessFact::Kind kind) {
  constexpr llvm::StringRef names[] = {"read", "write", "copy"};
  return names[unsigned(kind)];
}

static llvm::StringRef getName(OrderFact::Kind kind) {
  constexpr llvm::StringRef names[] = {"barrier", "warp", "commit", "wait"};
  return names[unsigned(kind)];
}

static std::string getOperandName(const llvm::Value &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, /*PrintType=*/false);
  return text;
}

static std::vector<AccessGroup> formGroups(const KernelFacts &facts) {
  std::vector<AccessGroup> groups;
  for (unsigned number = 0; number < facts.accesses.size(); ++number) {
    const AccessFact &access = facts.accesses[number];
    AccessGroup group{access.kind, {}, access.behind, {number}};
    for (const llvm::GlobalVariable *variable : access.variables)
      group.variables.push_back(getOperandName(*variable));
    llvm::sort(group.variables);
    auto it = llvm::find_if(groups, [&](const AccessGroup &other) {
      return other.kind == group.kind && other.variables == group.variables &&
             other.behind == group.behind;
    });
    if (it == groups.end())
      groups.push_back(std::move(group));
    else
      it->accesses.push_back(number);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Parts of a document
//===----------------------------------------------------------------------===//

void CertificateWriter::writeLines(llvm::StringRef name,
                                   const std::set<unsigned> &numbers) {
  json.attributeArray(name, [&] {
    for (unsigned number : numbers)
      json.value(int64_t(number));
  });
}

/// Writes the sizes of blocks that the kernel is compiled for, if it is for
/// any.
void CertificateWriter::writeBlock(const llvm::Function &kernel) {
  std::string sizes;
  for (llvm::StringRef name : {"nvvm.reqntid", "nvvm.maxntid"})
    if (sizes.empty() && kernel.hasFnAttribute(name))
      sizes = kernel.getFnAttribute(name).getValueAsString().str();
  llvm::SmallVector<llvm::StringRef> numbers;
  llvm::StringRef(sizes).split(numbers, ',', -1, false);
  json.attributeArray("block", [&] {
    for (llvm::StringRef number : numbers)
      json.value(int64_t(std::stoll(number.str())));
  });
}

/// The bytes that one copy by a tensor map moves.
static int64_t getBoxBytes(const TensorMapRecord &map) {
  int64_t bits = 0;
  llvm::StringRef type = map.elementType;
  bool isUnknown = type.drop_until(llvm::isDigit).getAsInteger(10, bits);
  for (int64_t extent : map.box)
    bits *= extent;
  return isUnknown ? 0 : bits / 8;
}

void CertificateWriter::writeBoxes(const llvm::Function &kernel) {
  auto it = llvm::find_if(kernels, [&](const KernelRecord &record) {
    return record.name == kernel.getName();
  });
  json.attributeArray("boxes", [&] {
    if (it == kernels.end())
      return;
    for (auto [number, parameter] : llvm::enumerate(it->parameters)) {
      const PartRecord &part = parameter.parts.front();
      auto &map = it->arguments[part.argument].tensorMap;
      if (part.kind != "tensormap" || !map)
        continue;
      json.object([&, number = number] {
        json.attribute("bytes", getBoxBytes(*map));
        json.attribute("parameter", getOperandName(*kernel.getArg(number)));
      });
    }
  });
}

void CertificateWriter::writeProof(const llvm::Function &kernel) {
  auto it = llvm::find_if(verdicts, [&](const SyncRecord &record) {
    return record.kernel == kernel.getName();
  });
  if (it == verdicts.end())
    return;
  json.attributeObject("proof", [&] {
    json.attribute("assumes_in_bounds", it->assumesInBounds);
    json.attribute("verdict", it->verdict);
  });
}

void CertificateWriter::writeMemory() {
  json.attributeArray("memory", [&] {
    for (const llvm::GlobalVariable &variable : module.globals())
      if (variable.getAddressSpace() == 3)
        json.object([&] {
          uint64_t bytes =
              module.getDataLayout().getTypeAllocSize(variable.getValueType());
          json.attribute("alignment",
                         int64_t(variable.getAlign().valueOrOne().value()));
          json.attribute("bytes", int64_t(bytes));
          json.attribute("name", getOperandName(variable));
        });
  });
}

void CertificateWriter::writeText(const llvm::Instruction &instruction) {
  unsigned line = lines.lookup(&instruction);
  llvm::StringRef text = texts[line - 1].trim();
  // Numbers of metadata are none of its meaning.
  text = text.take_front(text.find(", !")).trim();
  json.object([&] {
    json.attribute("line", int64_t(line));
    json.attribute("text", text);
  });
}

/// Adds the calls that concern mbarriers and units that work by themselves,
/// with the addresses and numbers that they take.
static void findOwnOrder(const llvm::Function &kernel,
                         llvm::SetVector<const llvm::Value *> &found) {
  for (const llvm::Instruction &instruction : llvm::instructions(kernel)) {
    if (!hasOwnOrder(instruction))
      continue;
    found.insert(&instruction);
    for (const llvm::Value *operand : instruction.operand_values())
      if (operand->getType()->isIntegerTy() ||
          operand->getType()->isPointerTy())
        found.insert(operand);
  }
}

/// Writes the instructions that decide how often loops go round, who goes which
/// way, and what formulas are made of.
void CertificateWriter::writeControl(
    const llvm::Function &kernel,
    const llvm::SetVector<const llvm::Value *> &named) {
  llvm::SetVector<const llvm::Value *> found(named.begin(), named.end());
  for (const llvm::BasicBlock &block : kernel)
    found.insert(block.getTerminator());
  findOwnOrder(kernel, found);
  std::map<unsigned, const llvm::Instruction *> deciding;
  for (unsigned next = 0; next < found.size(); ++next) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(found[next]);
    if (!instruction)
      continue;
    deciding.try_emplace(lines.lookup(instruction), instruction);
    if (!llvm::isa<llvm::CallInst, llvm::LoadInst, llvm::ReturnInst>(
            instruction))
      found.insert(instruction->op_begin(), instruction->op_end());
  }
  json.attributeArray("control", [&] {
    for (const auto &[line, instruction] : deciding)
      writeText(*instruction);
  });
}

void CertificateWriter::writeAssumptions(const llvm::Function &kernel) {
  json.attributeArray("assumptions", [&] {
    for (const llvm::Instruction *instruction : findBlockExtents(kernel))
      json.object([&] {
        json.attribute("least", 1);
        json.attribute("line", int64_t(lines.lookup(instruction)));
        json.attribute("value", getOperandName(*instruction));
      });
  });
}

void CertificateWriter::writeOrders(const KernelFacts &facts) {
  json.attributeArray("orders", [&] {
    for (const OrderFact &order : facts.orders)
      json.object([&] {
        json.attribute("kind", getName(order.kind));
        json.attribute("line", int64_t(order.line));
        if (order.kind == OrderFact::Kind::Wait)
          json.attribute("pending", int64_t(order.numPending));
      });
  });
}

void CertificateWriter::writeAccesses(const KernelFacts &facts,
                                      AddressWriter &addresses) {
  json.attributeArray("accesses", [&] {
    for (const AccessFact &access : facts.accesses)
      json.object([&] {
        json.attribute("address", addresses.write(access.pointer));
        json.attribute("by", access.isOfWarp ? "warp" : "thread");
        json.attribute("bytes", int64_t(access.bytes));
        json.attribute("kind", getName(access.kind));
        json.attribute("line", int64_t(access.line));
      });
  });
}

void CertificateWriter::writeGroups(const std::vector<AccessGroup> &groups) {
  json.attributeArray("groups", [&] {
    for (const AccessGroup &group : groups)
      json.object([&] {
        json.attributeArray("accesses", [&] {
          for (unsigned number : group.accesses)
            json.value(int64_t(number));
        });
        writeLines("behind", group.behind);
        json.attribute("kind", getName(group.kind));
        json.attributeArray("memory", [&] {
          for (const std::string &name : group.variables)
            json.value(name);
        });
      });
  });
}

/// Why accesses of two groups do not race.
static llvm::StringRef findReason(const AccessGroup &first,
                                  const AccessGroup &second) {
  auto isIn = [](const auto &values) {
    return [&](const auto &value) { return llvm::is_contained(values, value); };
  };
  if (first.kind == AccessFact::Kind::Read && second.kind == first.kind)
    return "reads";
  if (llvm::none_of(first.variables, isIn(second.variables)))
    return "memory";
  if (llvm::none_of(first.behind, isIn(second.behind)))
    return "barriers";
  return "addresses";
}

void CertificateWriter::writePairs(const std::vector<AccessGroup> &groups) {
  json.attributeArray("pairs", [&] {
    for (unsigned first = 0; first < groups.size(); ++first)
      for (unsigned second = first; second < groups.size(); ++second)
        json.object([&] {
          llvm::StringRef reason = findReason(groups[first], groups[second]);
          if (reason == "barriers") {
            std::set<unsigned> barriers = groups[first].behind;
            barriers.insert(groups[second].behind.begin(),
                            groups[second].behind.end());
            barriers.erase(0);
            writeLines("barriers", barriers);
          }
          json.attribute("first", int64_t(first));
          json.attribute("reason", reason);
          json.attribute("second", int64_t(second));
        });
  });
}

void CertificateWriter::write(const llvm::Function &kernel) {
  KernelFacts facts = collectFacts(kernel, lines);
  findIntervals(kernel, lines, facts);
  std::vector<AccessGroup> groups = formGroups(facts);
  AddressWriter addresses(module.getDataLayout());
  json.object([&] {
    writeAccesses(facts, addresses);
    writeAssumptions(kernel);
    writeBlock(kernel);
    writeBoxes(kernel);
    writeControl(kernel, addresses.getNamed());
    writeGroups(groups);
    json.attribute("name", kernel.getName());
    writeOrders(facts);
    json.attributeArray("others", [&] {
      for (unsigned line : facts.others)
        json.value(int64_t(line));
    });
    writePairs(groups);
    writeProof(kernel);
  });
}

std::string writeCertificate(const llvm::Module &module, llvm::StringRef text,
                             llvm::StringRef chip,
                             const std::vector<SyncRecord> &verdicts,
                             const std::vector<KernelRecord> &kernels) {
  std::string document;
  llvm::raw_string_ostream stream(document);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("chip", chip);
    json.attribute("covers", "workgroup memory");
    json.attribute("format", "pipeline-certificate");
    CertificateWriter writer(json, text, module, verdicts, kernels);
    json.attributeArray("kernels", [&] {
      for (const llvm::Function &function : module)
        if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel &&
            !function.isDeclaration())
          writer.write(function);
    });
    writer.writeMemory();
    json.attribute("sha256", llvm::toHex(llvm::SHA256::hash(
                                             llvm::arrayRefFromStringRef(text)),
                                         /*LowerCase=*/true));
    json.attribute("version", kCertificateVersion);
  });
  stream << "\n";
  return document;
}

} // namespace mlir::workgroup
