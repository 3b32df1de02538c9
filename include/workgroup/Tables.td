//===- Tables.td - Names of passes, remarks and options ----*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables.inc has them as enumerations and arrays.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TABLES
#define WORKGROUP_TABLES

include "llvm/TableGen/SearchableTable.td"
include "workgroup/Passes.td"

/// All passes.
def PassTable : GenericTable {
  let FilterClass = "PassBase";
  let CppTypeName = "PassEntry";
  let Fields = ["argument", "summary"];
}

/// What several passes and pipelines say of an option.
def OptionTable : GenericTable {
  let FilterClass = "SharedOption";
  let CppTypeName = "OptionEntry";
  let Fields = ["argument", "description"];
}

def RemarkId : GenericEnum { let FilterClass = "Remark"; }

/// All remarks, in the order of their ids.
def RemarkTable : GenericTable {
  let FilterClass = "Remark";
  let CppTypeName = "RemarkEntry";
  let Fields = ["id", "kind", "category", "name"];
  string TypeOf_id = "code";
  string TypeOf_kind = "code";
}

#endif // WORKGROUP_TABLES
