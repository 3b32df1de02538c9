//===- Render.cpp - Findings as text --------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A finding as an error message: what is wrong, a note for each access with
// thread, block and element, and the lines of the sources that they name. The
// output has the form of MLIR's diagnostics.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::workgroup::emulator {

static std::string printDim3(const std::array<uint32_t, 3> &values) {
  return "(" +
         llvm::join(
             llvm::map_range(
                 values, [](uint32_t value) { return std::to_string(value); }),
             ",") +
         ")";
}

std::string printLocation(const SourceLocation &location) {
  if (location.line == 0)
    return location.file.empty() ? "<unknown>" : location.file;
  return location.file + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

/// `%a[3, 4]`, or the byte offset if the indices are not known.
static std::string printPlace(const FindingRecord &finding) {
  if (finding.buffer.empty())
    return "";
  if (!finding.indices.empty())
    return finding.buffer + "[" +
           llvm::join(llvm::map_range(
                          finding.indices,
                          [](int64_t index) { return std::to_string(index); }),
                      ", ") +
           "]";
  if (!finding.byteOffset)
    return finding.buffer;
  return finding.buffer + " at byte " +
         std::to_string(int64_t(*finding.byteOffset));
}

/// `thread (1,0,0) of block (0,0,0) writes 4 bytes of %a[0, 1]`.
static std::string printAccess(const FindingRecord &finding,
                               const AccessRecord &access) {
  std::string text = "thread " + printDim3(access.thread.thread) + " (warp " +
                     std::to_string(access.thread.warp) + ", lane " +
                     std::to_string(access.thread.lane) + ") of block " +
                     printDim3(access.thread.block) + " " + access.verb;
  if (access.bytes)
    text += " " + std::to_string(access.bytes) +
            (access.bytes == 1 ? " byte" : " bytes");
  if (access.bytes && !finding.buffer.empty())
    text += " of " + printPlace(finding);
  return text;
}

static std::string printCount(const FindingRecord &finding) {
  return "seen " + std::to_string(finding.count) +
         (finding.count == 1 ? " time" : " times") + " in " +
         std::to_string(finding.blocks) +
         (finding.blocks == 1 ? " block" : " blocks");
}

static std::string printFix(const FixRecord &fix) {
  return "a gpu.barrier " + fix.place + " " + printLocation(fix.location) +
         (fix.isVerified ? " fixes it (verified: with it the launch is clean)"
                         : " may fix it") +
         (fix.isUniform ? "" : "; make sure that all threads get there");
}

DiagnosticRecord makeDiagnostic(const FindingRecord &finding) {
  DiagnosticRecord diagnostic;
  diagnostic.severity = finding.severity;
  diagnostic.message = finding.message + " [" + finding.kind + "]";
  if (!finding.accesses.empty())
    diagnostic.location = finding.accesses.back().location;
  auto addNote = [&](std::string message, SourceLocation location) {
    diagnostic.notes.push_back(
        {"note", std::move(message), std::move(location), {}});
  };
  for (const AccessRecord &access : llvm::reverse(finding.accesses))
    addNote(printAccess(finding, access), access.location);
  llvm::append_range(diagnostic.notes, finding.notes);
  addNote(printCount(finding), {});
  for (const FixRecord &fix : finding.fixes)
    addNote(printFix(fix), fix.location);
  return diagnostic;
}

/// The line of `location`, without what it begins with; empty if unknown.
static llvm::StringRef findLine(const SourceLocation &location,
                                const std::vector<SourceText> &sources) {
  for (const SourceText &source : sources) {
    if (source.name != location.file || location.line == 0)
      continue;
    llvm::StringRef rest = source.text;
    for (unsigned line = 1; line < location.line; ++line)
      rest = rest.split('\n').second;
    return rest.split('\n').first.trim();
  }
  return "";
}

static void printDiagnostic(llvm::raw_ostream &stream,
                            const DiagnosticRecord &diagnostic,
                            const std::vector<SourceText> &sources) {
  if (diagnostic.location.line)
    stream << printLocation(diagnostic.location) << ": ";
  stream << diagnostic.severity << ": " << diagnostic.message << "\n";
  llvm::StringRef line = findLine(diagnostic.location, sources);
  if (!line.empty() && diagnostic.severity == "note")
    stream << "    " << line << "\n";
  for (const DiagnosticRecord &note : diagnostic.notes)
    printDiagnostic(stream, note, sources);
}

std::string render(const std::vector<FindingRecord> &findings,
                   const std::vector<SourceText> &sources) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const FindingRecord &finding : findings)
    printDiagnostic(stream, makeDiagnostic(finding), sources);
  return text;
}

} // namespace mlir::workgroup::emulator
