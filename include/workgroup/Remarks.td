//===- Remarks.td - What passes say that they did ----------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each remark is declared once, beside its pass, by the names of both: remark
// `NotAsync` of `LowerCopiesPass` is `LowerCopies_NotAsync`. The name in C++
// (lib/Support/Remarks.h), its category and the documentation are made of that.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_REMARKS
#define WORKGROUP_REMARKS

include "mlir/Pass/PassBase.td"

class Remark<string word, string what> {
  string id = "RemarkId::" # NAME;
  string kind = "RemarkKind::" # word;
  string summary = what;
  int separator = !find(NAME, "_");
  string pass = !substr(NAME, 0, separator) # "Pass";
  string category = !cast<PassBase>(pass).argument;
  string name = !substr(NAME, !add(separator, 1));
}

class Passed<string what> : Remark<"Passed", what>;
class Missed<string what> : Remark<"Missed", what>;
class Failed<string what> : Remark<"Failed", what>;
class Analysis<string what> : Remark<"Analysis", what>;

#endif // WORKGROUP_REMARKS
