//===- ScheduleChecks.h - Checks of what schedules do -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's transform operations that map loops to blocks and threads drop
// iterations if a loop has more of them than the launch has processors. These
// checks make them fail there instead.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_SCHEDULECHECKS_H
#define WORKGROUP_TRANSFORMS_SCHEDULECHECKS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::workgroup {

/// Makes `transform.gpu.map_nested_forall_to_threads` and
/// `transform.gpu.map_forall_to_blocks` refuse, at the loop, what they would
/// drop iterations of. It holds in each context that takes its dialects from
/// `registry`, for whatever applies the operations there: an include, a
/// foreach_match, another interpreter. To be called after the extensions of
/// upstream are registered.
void registerScheduleChecks(DialectRegistry &registry);

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_SCHEDULECHECKS_H
