//===- VerifyMemorySpaces.cpp - Memory that values cannot be in -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type may name any memory; what lowering makes of it is an address that
// instructions of that memory use, wherever the value comes from. So it is the
// origin of each value that has to be right: arguments of kernels, variables,
// allocations and casts. What follows from these has the same memory.
//
//===----------------------------------------------------------------------===//

#include "Support/AddressSpaces.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/ProgramChecks.h"

namespace mlir::workgroup {

namespace {

class SpaceVerifier {
public:
  SpaceVerifier(Operation *root, bool isSunk)
      : root(root), isSunk(isSunk), sites(collectLaunchSites(root)) {}

  LogicalResult verify();

private:
  void verifyScope(Operation *scope);
  void verifyCaptured(gpu::LaunchOp launch);
  void verifyArguments(FunctionOpInterface function);
  void verifyKernelArgument(Value value, const Twine &what, Operation *kernel);
  bool mayBeSunk(Value value, Operation *kernel) const;
  void verifyOp(Operation *op);
  void verifyResult(OpResult value);
  void verifyAllocation(Operation *op);
  void verifyCast(Operation *op);
  void verifyGlobal(memref::GlobalOp global);
  void verifyGlobal(LLVM::GlobalOp global);
  void verifyWrites(Operation *op);
  bool isConstant(Value memory);

  /// An error at `value`, which is `what`.
  InFlightDiagnostic error(Value value, const Twine &what) {
    hasFailed = true;
    return emitError(value.getLoc(), what);
  }
  InFlightDiagnostic error(Operation *op, const Twine &message) {
    hasFailed = true;
    return op->emitOpError(message);
  }

  Operation *root;
  /// Allocations of the host that are of one block or thread are in kernels.
  bool isSunk;
  LaunchSites sites;
  SymbolTableCollection symbols;
  DenseSet<Operation *> globals;
  DenseSet<Value> reported;
  bool hasFailed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// True for memory that memrefs in kernels can be in.
static bool isMemory(int64_t space) {
  return space == kGenericSpace || space == kGlobalSpace ||
         space == kSharedSpace || space == kConstantSpace ||
         space == kLocalSpace;
}

/// A memref or pointer that is, or is part of, `type` and is in memory that
/// kernels do not have; null if there is none. Pointers know more memories:
/// that of clusters, of tensor cores, and of parameters.
static Type findForeign(Type type) {
  Type foreign;
  type.walk([&](Type part) {
    std::optional<int64_t> space = getAddressSpace(part);
    bool isPointers = isa<LLVM::LLVMPointerType>(part) &&
                      (space == kTensorSpace || space == kClusterSpace ||
                       space == kParameterSpace);
    if (!space || isMemory(*space) || isPointers)
      return WalkResult::advance();
    foreign = part;
    return WalkResult::interrupt();
  });
  return foreign;
}

/// What `type` says of its memory, as it is written.
static std::string printSpace(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    memref.getMemorySpace().print(stream, /*elideType=*/true);
  else if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    stream << pointer.getAddressSpace();
  return text;
}

/// Ends an error: the memory of `type` is none that there is.
static void explainForeign(InFlightDiagnostic &error, Type type) {
  error << "is in memory space " << printSpace(type) << ", which ";
  if (getAddressSpace(type) == kClusterSpace)
    error << "is workgroup memory of a cluster; only pointers can be in it, "
             "take them by nvvm.mapa";
  else
    error << "kernels on NVIDIA GPUs do not have; there are "
             "#gpu.address_space<global> (or 1), <workgroup> (3) and <private> "
             "(5), and 4 for constants";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// True if `value`, which `kernel` uses, may be what the host has allocated for
/// it: that is put into the kernel.
bool SpaceVerifier::mayBeSunk(Value value, Operation *kernel) const {
  if (isSunk)
    return false;
  bool isArgument = value.getParentBlock()->getParentOp() == kernel;
  auto function = dyn_cast<gpu::GPUFuncOp>(kernel);
  bool isWhole = !root->getParentOp(); // launches elsewhere are not seen
  if (isArgument)
    return !isWhole || (function && sites.contains(function));
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
      getRootBuffer(value).getDefiningOp());
}

/// Refuses an argument of a kernel in memory that no launch can pass. For
/// memory of the block it is told elsewhere what to do.
void SpaceVerifier::verifyKernelArgument(Value value, const Twine &what,
                                         Operation *kernel) {
  if (reported.contains(value))
    return;
  auto note = [&](InFlightDiagnostic &diagnostic) {
    reported.insert(value);
    if (value.getParentBlock()->getParentOp() != kernel)
      diagnostic.attachNote(kernel->getLoc()) << "the launch";
  };
  if (Type foreign = findForeign(value.getType())) {
    InFlightDiagnostic diagnostic = error(value, what + " ");
    explainForeign(diagnostic, foreign);
    return note(diagnostic);
  }
  std::optional<int64_t> space = getAddressSpace(value.getType());
  bool isMemRef = isa<BaseMemRefType>(value.getType());
  if (!space || space == kGenericSpace || space == kGlobalSpace ||
      (isMemRef && space == kSharedSpace) ||
      (isMemRef && space == kLocalSpace && mayBeSunk(value, kernel)))
    return;
  InFlightDiagnostic diagnostic = error(value, what);
  if (space == kConstantSpace)
    diagnostic << " is in constant memory (" << printSpace(value.getType())
               << "), which no launch can pass; leave the memory space out, "
                  "which is global memory, or make it a constant "
                  "memref.global that the kernel takes by memref.get_global";
  else if (space == kLocalSpace)
    diagnostic << " is in memory of one thread (" << printSpace(value.getType())
               << "), which no launch can pass; leave the memory space out, or "
                  "allocate it in the kernel by memref.alloca";
  else
    diagnostic << " is in memory space " << printSpace(value.getType())
               << ", which no launch can pass; leave the memory space out";
  note(diagnostic);
}

/// What a launch uses from around it becomes arguments.
void SpaceVerifier::verifyCaptured(gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  for (Value value : captured)
    verifyKernelArgument(value, "memory that a launch uses", launch);
}

void SpaceVerifier::verifyArguments(FunctionOpInterface function) {
  bool isOfKernel = isKernel(function);
  for (BlockArgument argument :
       function.getArguments().take_front(function.getNumArguments())) {
    std::string what = ("argument " + Twine(argument.getArgNumber()) +
                        (isOfKernel ? " of kernel '" : " of function '") +
                        function.getName() + "'")
                           .str();
    if (isOfKernel) {
      verifyKernelArgument(argument, what, function);
      continue;
    }
    if (Type foreign = findForeign(argument.getType())) {
      InFlightDiagnostic diagnostic = error(argument, what + " ");
      explainForeign(diagnostic, foreign);
    }
  }
}

//===----------------------------------------------------------------------===//
// Allocations, casts and variables
//===----------------------------------------------------------------------===//

void SpaceVerifier::verifyAllocation(Operation *op) {
  Type type = op->getResult(0).getType();
  int64_t space = getAddressSpace(type).value_or(kGenericSpace);
  bool isOnStack = isa<memref::AllocaOp, LLVM::AllocaOp>(op);
  if (space == kConstantSpace)
    error(op, "allocates constant memory, which has values from the start; "
              "make it a constant memref.global, or leave the memory space "
              "out");
  else if (isOnStack && space == kGlobalSpace)
    error(op, "allocates global memory on the stack of a thread; leave the "
              "memory space out, or pass the buffer as an argument");
  else if (isOnStack && isa<LLVM::LLVMPointerType>(type) &&
           space != kGenericSpace && space != kLocalSpace)
    error(op, "allocates memory space ")
        << space << " on the stack of a thread; use 0 or 5";
}

/// True if `memory`, the address of which is generic, is known to be in other
/// memory than `space`.
static bool isKnownOther(Value memory, int64_t space) {
  if (!isa<BaseMemRefType>(memory.getType()) || space == kGenericSpace)
    return false;
  switch (getMemorySpace(memory)) {
  case MemorySpace::Global:
    return space != kGlobalSpace;
  case MemorySpace::Workgroup:
    return space != kSharedSpace;
  case MemorySpace::Private:
    return space != kLocalSpace;
  case MemorySpace::Other:
    return false;
  }
  return false;
}

/// Addresses of one memory are none of another; generic ones are of any that
/// threads can write.
void SpaceVerifier::verifyCast(Operation *op) {
  Value source = op->getOperand(0);
  int64_t from = getAddressSpace(source.getType()).value_or(kGenericSpace),
          to = getAddressSpace(op->getResult(0).getType())
                   .value_or(kGenericSpace);
  if (from == to)
    return;
  if (to == kConstantSpace && isa<memref::MemorySpaceCastOp>(op)) {
    error(op, "makes constant memory of other memory; take a constant "
              "memref.global by memref.get_global");
    return;
  }
  // Workgroup memory is part of the memory of its cluster.
  bool isOfCluster = (from == kSharedSpace && to == kClusterSpace) ||
                     (from == kClusterSpace && to == kSharedSpace);
  bool isGeneric = from == kGenericSpace || to == kGenericSpace;
  if (isOfCluster || (isGeneric && !isKnownOther(source, to)))
    return;
  error(op, "casts to memory space ")
      << printSpace(op->getResult(0).getType())
      << " what is in other memory; copy the contents";
}

void SpaceVerifier::verifyGlobal(memref::GlobalOp global) {
  if (!globals.insert(global).second)
    return;
  MemRefType type = global.getType();
  if (Type foreign = findForeign(type)) {
    InFlightDiagnostic diagnostic = error(global, "");
    explainForeign(diagnostic, foreign);
    return;
  }
  int64_t space = getAddressSpace(Type(type)).value_or(kGenericSpace);
  if (space == kLocalSpace)
    error(global, "is in memory of one thread, which has no variables; "
                  "allocate it in the kernel by memref.alloca");
  if (space != kConstantSpace)
    return;
  constexpr int64_t kMostBytes = 65536;
  if (!global.getConstant() || global.isExternal() || global.isUninitialized())
    error(global, "is a variable in constant memory, which nobody could give "
                  "its values; make it constant, with an initial value, or "
                  "leave the memory space out");
  else if (getStaticBytes(type, global).value_or(kMostBytes + 1) > kMostBytes)
    error(global, "takes more constant memory than the 65536 bytes that there "
                  "are; leave the memory space out");
}

void SpaceVerifier::verifyGlobal(LLVM::GlobalOp global) {
  int64_t space = global.getAddrSpace();
  if (!globals.insert(global).second || space == kGenericSpace ||
      space == kGlobalSpace || space == kSharedSpace || space == kConstantSpace)
    return;
  error(global, "is a variable in memory space ")
      << space
      << ", where kernels on NVIDIA GPUs have none; use 1 (global), 3 "
         "(workgroup) or 4 (constants)";
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// True if `memory` is constant: by its type, or as it is of a variable that
/// has the same values for all time.
bool SpaceVerifier::isConstant(Value memory) {
  if (getAddressSpace(memory.getType()) == kConstantSpace)
    return true;
  if (!isa<BaseMemRefType>(memory.getType()))
    return false;
  Value origin = getRootBuffer(memory);
  if (getAddressSpace(origin.getType()) == kConstantSpace)
    return true;
  auto get = origin.getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : memref::GlobalOp();
  return global && global.getConstant();
}

void SpaceVerifier::verifyWrites(Operation *op) {
  auto report = [&](Value memory) {
    if (memory && getAddressSpace(memory.getType()) && isConstant(memory))
      error(op, "writes constant memory, which has the same values for all "
                "time; write to global memory");
  };
  if (isa<LLVM::StoreOp, LLVM::MemcpyOp, LLVM::MemcpyInlineOp, LLVM::MemmoveOp,
          LLVM::MemsetOp, LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(op)) {
    bool isStore = isa<LLVM::StoreOp>(op);
    return report(op->getOperand(isStore ? 1 : 0));
  }
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || isa<LLVM::LLVMDialect>(op->getDialect()))
    return;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  DenseSet<Value> written;
  for (const MemoryEffects::EffectInstance &effect : all)
    if (isa<MemoryEffects::Write>(effect.getEffect()) && effect.getValue() &&
        written.insert(effect.getValue()).second)
      report(effect.getValue());
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Reports memory that there is not where it comes up, and not again where it
/// is handed on.
void SpaceVerifier::verifyResult(OpResult value) {
  Type foreign = findForeign(value.getType());
  Operation *op = value.getOwner();
  if (!foreign ||
      isa<RegionBranchOpInterface, CallOpInterface, memref::GetGlobalOp>(op))
    return;
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        return static_cast<bool>(findForeign(type));
      }))
    return;
  InFlightDiagnostic diagnostic = error(op, "");
  explainForeign(diagnostic, foreign);
}

void SpaceVerifier::verifyOp(Operation *op) {
  if (isa<gpu::LaunchOp>(op))
    return;
  for (OpResult result : op->getResults())
    verifyResult(result);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
    if (auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
            get, get.getNameAttr()))
      verifyGlobal(global);
    return;
  }
  if (isa<memref::AllocOp, memref::AllocaOp, memref::ReallocOp, gpu::AllocOp,
          LLVM::AllocaOp>(op))
    return verifyAllocation(op);
  if (isa<memref::MemorySpaceCastOp, LLVM::AddrSpaceCastOp>(op))
    return verifyCast(op);
  verifyWrites(op);
}

void SpaceVerifier::verifyScope(Operation *scope) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    verifyCaptured(launch);
  else if (auto function = dyn_cast<FunctionOpInterface>(scope);
           function && !function.isExternal())
    verifyArguments(function);
  scope->walk([&](Operation *op) { verifyOp(op); });
}

LogicalResult SpaceVerifier::verify() {
  root->walk([&](gpu::GPUModuleOp kernels) {
    for (auto global : kernels.getOps<memref::GlobalOp>())
      verifyGlobal(global);
    for (auto global : kernels.getOps<LLVM::GlobalOp>())
      verifyGlobal(global);
  });
  for (Operation *scope : collectDeviceScopes(root))
    verifyScope(scope);
  return failure(hasFailed);
}

LogicalResult verifyMemorySpaces(Operation *root, bool isSunk) {
  return SpaceVerifier(root, isSunk).verify();
}

} // namespace mlir::workgroup
