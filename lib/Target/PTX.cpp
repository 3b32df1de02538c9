//===- PTX.cpp - From the NVVM dialect to PTX -----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Target/PTX.h"
#include "LLVMModules.h"
#include "LLVMPasses.h"
#include "LineTables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "workgroup/Target/Chip.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

namespace mlir::workgroup {

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// Functions that the CUDA driver provides to every kernel.
static bool isDriverFunction(StringRef name) {
  return llvm::is_contained({"malloc", "free", "vprintf", "__assertfail"},
                            name);
}

static bool isLibdeviceFunction(StringRef name) {
  return name.starts_with("__nv_");
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

/// The version that `target` asks for, if it asks for nothing else.
static std::optional<unsigned> getOnlyVersion(NVVM::NVVMTargetAttr target) {
  StringRef features = target.getFeatures();
  unsigned version;
  if (!features.consume_front("+ptx") || features.getAsInteger(10, version))
    return std::nullopt;
  return version;
}

/// The one of `lhs` and `rhs`, for the same chip, that has what both need; null
/// if neither has.
static NVVM::NVVMTargetAttr getNewer(NVVM::NVVMTargetAttr lhs,
                                     NVVM::NVVMTargetAttr rhs) {
  if (lhs.getChip() != rhs.getChip())
    return {};
  if (lhs.getFeatures() == rhs.getFeatures())
    return rhs;
  std::optional<unsigned> left = getOnlyVersion(lhs),
                          right = getOnlyVersion(rhs);
  if (!left || !right)
    return {};
  return *left > *right ? lhs : rhs;
}

NVVM::NVVMTargetAttr getCommonTarget(ModuleOp module) {
  NVVM::NVVMTargetAttr common;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    NVVM::NVVMTargetAttr target = getTarget(kernels);
    if (!target) {
      kernels.emitOpError("has no NVVM target; run workgroup-attach-target");
      return {};
    }
    NVVM::NVVMTargetAttr newer = common ? getNewer(common, target) : target;
    if (!newer) {
      kernels.emitOpError("is for ")
          << target.getChip() << " (" << target.getFeatures()
          << "), but another GPU module is for " << common.getChip() << " ("
          << common.getFeatures() << "), and one PTX text serves one of them";
      return {};
    }
    common = newer;
  }
  if (!common)
    emitError(module.getLoc(), "holds no GPU module to translate");
  return common;
}

std::unique_ptr<llvm::TargetMachine> createTargetMachine(StringRef chip,
                                                         StringRef features) {
  NVVM::SerializeGPUModuleBase::init();
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!nvptx)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(nvptx->createTargetMachine(
      triple, chip, features, llvm::TargetOptions(), std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

static bool isKernel(const llvm::Function &function) {
  return function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// Hides all definitions but kernels: nothing is linked to PTX later, and
/// copies of one function in several GPU modules must not collide.
static void hideAllButKernels(llvm::Module &llvmModule) {
  llvm::internalizeModule(llvmModule, [](const llvm::GlobalValue &value) {
    auto *function = dyn_cast<llvm::Function>(&value);
    return function && isKernel(*function);
  });
}

/// The module that `kernels` become; null after an error.
static std::unique_ptr<llvm::Module> translate(ModuleOp module,
                                               gpu::GPUModuleOp kernels,
                                               llvm::LLVMContext &context) {
  addLineTables(kernels);
  std::unique_ptr<llvm::Module> part = translateModuleToLLVMIR(
      kernels, context, module.getName().value_or("kernels"),
      /*disableVerification=*/true);
  if (!part)
    return nullptr;
  LLVMErrors errors = verifyAndMend(*part);
  if (errors.empty())
    return part;
  reportErrors(module, errors, "LLVM does not accept what this becomes: ");
  return nullptr;
}

static LogicalResult linkModules(ModuleOp module, LLVMProgram &program,
                                 llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> &linked = program.module;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    std::unique_ptr<llvm::Module> part =
        translate(module, kernels, *program.context);
    if (!part)
      return failure();
    part->setTargetTriple(llvm::Triple(kTriple));
    part->setDataLayout(machine.createDataLayout());
    hideAllButKernels(*part);
    if (!linked) {
      linked = std::move(part);
    } else if (llvm::Linker::linkModules(*linked, std::move(part))) {
      InFlightDiagnostic error =
          kernels.emitOpError("cannot be linked to the other GPU modules");
      for (const LLVMError &why : *program.errors)
        error << ": " << why.message;
      return failure();
    }
  }
  return success();
}

/// Gives what is not a kernel a name that PTX can hold; kernels have one
/// already.
static void makeNamesValid(llvm::Module &llvmModule) {
  for (llvm::GlobalValue &value : llvmModule.global_values())
    if (value.hasLocalLinkage())
      value.setName(getPTXName(value.getName()));
}

/// The operation that declares or calls function `name`, to blame for it.
static Operation *findDeclaration(ModuleOp module, StringRef name) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (Operation *declaration = kernels.lookupSymbol(name)) {
      auto uses = SymbolTable::getSymbolUses(declaration, kernels);
      return uses && !uses->empty() ? uses->begin()->getUser() : declaration;
    }
  return module;
}

/// The first function of libdevice that the module calls; null if none.
static const llvm::Function *findLibdeviceCall(const llvm::Module &llvmModule) {
  for (const llvm::Function &function : llvmModule)
    if (function.isDeclaration() && !function.use_empty() &&
        isLibdeviceFunction(function.getName()))
      return &function;
  return nullptr;
}

/// Links what the module needs of libdevice.
static LogicalResult linkLibdevice(ModuleOp module, llvm::Module &llvmModule,
                                   StringRef path) {
  const llvm::Function *missing = findLibdeviceCall(llvmModule);
  if (!missing)
    return success();
  Operation *user = findDeclaration(module, missing->getName());
  if (path.empty())
    return emitError(user->getLoc())
           << "'" << missing->getName()
           << "' is a function of NVIDIA's libdevice, which was not found; "
              "install the Python package nvidia-cuda-nvcc, or set CUDA_HOME";
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, diagnostic, llvmModule.getContext());
  if (!library)
    return emitError(user->getLoc()) << "cannot read libdevice from '" << path
                                     << "': " << diagnostic.getMessage();
  library->setTargetTriple(llvmModule.getTargetTriple());
  library->setDataLayout(llvmModule.getDataLayout());
  if (llvm::Linker::linkModules(llvmModule, std::move(library),
                                llvm::Linker::LinkOnlyNeeded))
    return emitError(user->getLoc()) << "cannot link libdevice";
  hideAllButKernels(llvmModule);
  return success();
}

/// A call of a function that neither the program nor the driver defines would
/// be ptxas' "Unresolved extern function".
static LogicalResult checkCalls(ModuleOp module, llvm::Module &llvmModule) {
  for (const llvm::Function &function : llvmModule) {
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.use_empty() || isDriverFunction(function.getName()))
      continue;
    return emitError(findDeclaration(module, function.getName())->getLoc())
           << "function '" << function.getName()
           << "' has no body that runs on the device; define it in the "
              "gpu.module, or use an operation that needs no call";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Optimisation
//===----------------------------------------------------------------------===//

/// Leaves the loops that LLVM did not unroll as they are. ptxas unrolls loops
/// of constant trip count without a bound of its own: a loop over a tile in
/// workgroup memory then becomes thousands of loads that spill.
static void keepLoops(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      loop->setLoopAlreadyUnrolled();
  }
}

/// True if `pointer` points to memory of one thread.
static bool isPrivate(const llvm::Value *pointer) {
  return pointer->getType()->getPointerAddressSpace() ==
             llvm::NVPTXAS::ADDRESS_SPACE_LOCAL ||
         isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

/// Makes atomic updates of memory that no other thread sees plain ones: PTX has
/// none of such memory, and LLVM turns some of them into such.
static void lowerPrivateAtomics(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto *swap = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (isPrivate(swap->getPointerOperand()))
          llvm::lowerAtomicCmpXchgInst(swap);
      } else if (auto *update = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (isPrivate(update->getPointerOperand()))
          llvm::lowerAtomicRMWInst(update);
      }
    }
}

/// Lets go of loads whose value nobody uses, which the import keeps for checks.
static void dropUses(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::fake_use)
        call->eraseFromParent();
}

static void optimize(llvm::Module &llvmModule, llvm::TargetMachine &machine) {
  dropUses(llvmModule);
  lowerPrivateAtomics(llvmModule);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  auto build = [](llvm::PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  };
  runLLVMPasses(llvmModule, &machine, build, tuning);
  keepLoops(llvmModule);
}

/// Makes one access of those to neighbours, as code generation for the chip
/// does: the optimiser takes vectors apart.
static void mergeAccesses(llvm::Module &llvmModule,
                          llvm::TargetMachine &machine) {
  runLLVMPasses(llvmModule, &machine, [](llvm::PassBuilder &) {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SeparateConstOffsetFromGEPPass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::LoadStoreVectorizerPass());
    llvm::ModulePassManager ofModule;
    ofModule.addPass(
        llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
    return ofModule;
  });
}

std::unique_ptr<llvm::TargetMachine>
createTargetMachineForChip(StringRef chip) {
  return createTargetMachine(chip, "");
}

bool optimizeForChip(llvm::Module &llvmModule, StringRef chip) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(chip, "");
  if (!machine)
    return false;
  optimize(llvmModule, *machine);
  mergeAccesses(llvmModule, *machine);
  return true;
}

static std::string writeBitcode(const llvm::Module &llvmModule) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(llvmModule, stream);
  return bitcode;
}

LogicalResult finishModule(ModuleOp module, llvm::Module &llvmModule,
                           llvm::TargetMachine &machine, StringRef libdevice) {
  if (failed(linkLibdevice(module, llvmModule, libdevice)))
    return failure();
  makeNamesValid(llvmModule); // those of libdevice
  optimize(llvmModule, machine);
  return success();
}

LogicalResult translateToLLVM(ModuleOp module, LLVMProgram &program,
                              StringRef libdevice, bool *lacksLibdevice,
                              std::string *bitcode, bool keepsLines) {
  NVVM::NVVMTargetAttr target = getCommonTarget(module);
  if (!target)
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target.getChip(), target.getFeatures());
  if (!machine)
    return emitError(module.getLoc(),
                     "this LLVM was built without the NVPTX target");
  if (failed(linkModules(module, program, *machine)))
    return failure();
  llvm::Module &linked = *program.module;
  makeNamesValid(linked);
  if (bitcode)
    *bitcode = writeBitcode(linked);
  if (!keepsLines)
    llvm::StripDebugInfo(linked);
  if (lacksLibdevice)
    *lacksLibdevice = libdevice.empty() && findLibdeviceCall(linked);
  if (failed(finishModule(module, linked, *machine, libdevice)))
    return failure();
  if (!program.errors->empty()) {
    reportErrors(module, *program.errors, "LLVM cannot compile this: ");
    return failure();
  }
  return checkCalls(module, linked);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Adds the functions that use `value`, directly or by way of constants.
static void collectUsers(const llvm::Value &value,
                         SetVector<const llvm::Function *> &functions) {
  for (const llvm::User *user : value.users()) {
    if (auto *instruction = dyn_cast<llvm::Instruction>(user))
      functions.insert(instruction->getFunction());
    else
      collectUsers(*user, functions);
  }
}

/// The functions that use `global`, directly or by calls.
static SetVector<const llvm::Function *>
getUsers(const llvm::GlobalVariable &global) {
  SetVector<const llvm::Function *> users;
  collectUsers(global, users);
  for (unsigned i = 0; i < users.size(); ++i)
    collectUsers(*users[i], users);
  return users;
}

SmallVector<KernelMemory> getKernelMemory(llvm::Module &llvmModule) {
  SmallVector<KernelMemory> memory;
  DenseMap<const llvm::Function *, unsigned> kernels;
  for (const llvm::Function &function : llvmModule)
    if (isKernel(function)) {
      kernels[&function] = memory.size();
      memory.push_back({function.getName().str()});
    }
  auto forEachUse = [&](bool isDeclaration, auto add) {
    for (const llvm::GlobalVariable &global : llvmModule.globals())
      if (global.getAddressSpace() == llvm::NVPTXAS::ADDRESS_SPACE_SHARED &&
          global.isDeclaration() == isDeclaration)
        for (const llvm::Function *function : getUsers(global))
          if (auto it = kernels.find(function); it != kernels.end())
            add(global, memory[it->second].staticBytes);
  };
  auto align = [](const llvm::GlobalVariable &global, int64_t bytes) {
    return llvm::alignTo(bytes, global.getAlign().valueOrOne());
  };
  const llvm::DataLayout &layout = llvmModule.getDataLayout();
  forEachUse(false, [&](const llvm::GlobalVariable &global, int64_t &bytes) {
    bytes = align(global, bytes) +
            layout.getTypeAllocSize(global.getValueType()).getFixedValue();
  });
  // Dynamic memory begins where static memory ends, in its symbol's alignment.
  forEachUse(true, [&](const llvm::GlobalVariable &global, int64_t &bytes) {
    bytes = align(global, bytes);
  });
  return memory;
}

} // namespace mlir::workgroup
