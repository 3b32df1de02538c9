//===- RaiseArithmetic.cpp - Integers of LLVM to arith --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// What LLVM promises of results
//===----------------------------------------------------------------------===//

static arith::IntegerOverflowFlags getFlags(Operation *op) {
  auto flags = arith::IntegerOverflowFlags::none;
  auto promises = dyn_cast<LLVM::IntegerOverflowFlagsInterface>(op);
  if (promises && promises.hasNoSignedWrap())
    flags = flags | arith::IntegerOverflowFlags::nsw;
  if (promises && promises.hasNoUnsignedWrap())
    flags = flags | arith::IntegerOverflowFlags::nuw;
  return flags;
}

static arith::CmpIPredicate getPredicate(LLVM::ICmpPredicate predicate) {
  switch (predicate) {
  case LLVM::ICmpPredicate::eq:
    return arith::CmpIPredicate::eq;
  case LLVM::ICmpPredicate::ne:
    return arith::CmpIPredicate::ne;
  case LLVM::ICmpPredicate::slt:
    return arith::CmpIPredicate::slt;
  case LLVM::ICmpPredicate::sle:
    return arith::CmpIPredicate::sle;
  case LLVM::ICmpPredicate::sgt:
    return arith::CmpIPredicate::sgt;
  case LLVM::ICmpPredicate::sge:
    return arith::CmpIPredicate::sge;
  case LLVM::ICmpPredicate::ult:
    return arith::CmpIPredicate::ult;
  case LLVM::ICmpPredicate::ule:
    return arith::CmpIPredicate::ule;
  case LLVM::ICmpPredicate::ugt:
    return arith::CmpIPredicate::ugt;
  case LLVM::ICmpPredicate::uge:
    return arith::CmpIPredicate::uge;
  }
  llvm_unreachable("unknown predicate");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// True if `op` makes one integer of integers.
static bool isOfIntegers(Operation *op) {
  auto isInteger = [](Type type) { return isa<IntegerType>(type); };
  return op->getNumResults() == 1 &&
         llvm::all_of(op->getResultTypes(), isInteger) &&
         llvm::all_of(op->getOperandTypes(), isInteger);
}

namespace {

/// Makes operations of arith for those of LLVM, at the place of the builder.
struct ArithmeticBuilder {
  OpBuilder &builder;
  Operation *op;

  Value get(unsigned number) const { return op->getOperand(number); }
  Type getType() const { return op->getResult(0).getType(); }

  template <typename To>
  Value makeBinary() {
    return To::create(builder, op->getLoc(), get(0), get(1));
  }
  template <typename To>
  Value makeWithFlags() {
    return To::create(builder, op->getLoc(), get(0), get(1), getFlags(op));
  }
  template <typename To>
  Value makeCast() {
    return To::create(builder, op->getLoc(), getType(), get(0));
  }

  Value makeConstant(LLVM::ConstantOp constant);
  Value makeOr(LLVM::OrOp either);
  Value makeExtension(LLVM::ZExtOp extension);
  Value makeTruncation();
  Value make();
};

} // namespace

Value ArithmeticBuilder::makeConstant(LLVM::ConstantOp constant) {
  auto number = dyn_cast<IntegerAttr>(constant.getValue());
  auto type = cast<IntegerType>(getType());
  if (!number || number.getValue().getBitWidth() != type.getWidth() ||
      !type.isSignless())
    return nullptr;
  return arith::ConstantOp::create(builder, op->getLoc(),
                                   IntegerAttr::get(type, number.getValue()));
}

/// Where no bit is set in both, there is nothing to carry.
Value ArithmeticBuilder::makeOr(LLVM::OrOp either) {
  if (!either.getIsDisjoint() || getType().isInteger(1))
    return makeBinary<arith::OrIOp>();
  return arith::AddIOp::create(builder, op->getLoc(), get(0), get(1),
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

/// What is not negative is the same with and without a sign.
Value ArithmeticBuilder::makeExtension(LLVM::ZExtOp extension) {
  bool hasSign = extension.getNonNeg() && !get(0).getType().isInteger(1);
  return hasSign ? makeCast<arith::ExtSIOp>() : makeCast<arith::ExtUIOp>();
}

Value ArithmeticBuilder::makeTruncation() {
  return arith::TruncIOp::create(builder, op->getLoc(), getType(), get(0),
                                 getFlags(op));
}

/// The value that `op` makes, by operations of arith; null if there is none.
Value ArithmeticBuilder::make() {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](LLVM::ConstantOp constant) { return makeConstant(constant); })
      .Case([&](LLVM::AddOp) { return makeWithFlags<arith::AddIOp>(); })
      .Case([&](LLVM::SubOp) { return makeWithFlags<arith::SubIOp>(); })
      .Case([&](LLVM::MulOp) { return makeWithFlags<arith::MulIOp>(); })
      .Case([&](LLVM::ShlOp) { return makeWithFlags<arith::ShLIOp>(); })
      .Case([&](LLVM::AShrOp) { return makeBinary<arith::ShRSIOp>(); })
      .Case([&](LLVM::LShrOp) { return makeBinary<arith::ShRUIOp>(); })
      .Case([&](LLVM::SDivOp) { return makeBinary<arith::DivSIOp>(); })
      .Case([&](LLVM::UDivOp) { return makeBinary<arith::DivUIOp>(); })
      .Case([&](LLVM::SRemOp) { return makeBinary<arith::RemSIOp>(); })
      .Case([&](LLVM::URemOp) { return makeBinary<arith::RemUIOp>(); })
      .Case([&](LLVM::AndOp) { return makeBinary<arith::AndIOp>(); })
      .Case([&](LLVM::OrOp either) { return makeOr(either); })
      .Case([&](LLVM::XOrOp) { return makeBinary<arith::XOrIOp>(); })
      .Case([&](LLVM::SMinOp) { return makeBinary<arith::MinSIOp>(); })
      .Case([&](LLVM::SMaxOp) { return makeBinary<arith::MaxSIOp>(); })
      .Case([&](LLVM::UMinOp) { return makeBinary<arith::MinUIOp>(); })
      .Case([&](LLVM::UMaxOp) { return makeBinary<arith::MaxUIOp>(); })
      .Case([&](LLVM::SExtOp) { return makeCast<arith::ExtSIOp>(); })
      .Case([&](LLVM::ZExtOp extension) { return makeExtension(extension); })
      .Case([&](LLVM::TruncOp) { return makeTruncation(); })
      .Case([&](LLVM::ICmpOp compare) -> Value {
        return arith::CmpIOp::create(builder, op->getLoc(),
                                     getPredicate(compare.getPredicate()),
                                     get(0), get(1));
      })
      .Case([&](LLVM::SelectOp) -> Value {
        return arith::SelectOp::create(builder, op->getLoc(), get(0), get(1),
                                       get(2));
      })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static void raiseBranch(Operation *op, RewriterBase &rewriter) {
  if (auto branch = dyn_cast<LLVM::BrOp>(op)) {
    rewriter.replaceOpWithNewOp<cf::BranchOp>(op, branch.getDest(),
                                              branch.getDestOperands());
  } else if (auto branch = dyn_cast<LLVM::CondBrOp>(op)) {
    rewriter.replaceOpWithNewOp<cf::CondBranchOp>(
        op, branch.getCondition(), branch.getTrueDest(),
        branch.getTrueDestOperands(), branch.getFalseDest(),
        branch.getFalseDestOperands());
  } else if (auto choice = dyn_cast<LLVM::SwitchOp>(op)) {
    SmallVector<ValueRange> operands;
    for (OperandRange ofCase : choice.getCaseOperands())
      operands.push_back(ofCase);
    DenseIntElementsAttr values = choice.getCaseValuesAttr()
                                      ? *choice.getCaseValues()
                                      : DenseIntElementsAttr();
    rewriter.replaceOpWithNewOp<cf::SwitchOp>(
        op, choice.getValue(), choice.getDefaultDestination(),
        choice.getDefaultOperands(), values, choice.getCaseDestinations(),
        operands);
  }
}

void raiseArithmetic(Region &region, RewriterBase &rewriter) {
  SmallVector<Operation *> ops;
  region.walk([&](Operation *op) {
    if (isa<LLVM::LLVMDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (op->hasTrait<OpTrait::IsTerminator>())
      raiseBranch(op, rewriter);
    else if (isOfIntegers(op))
      if (Value value = ArithmeticBuilder{rewriter, op}.make())
        rewriter.replaceOp(op, value);
  }
}

} // namespace mlir::workgroup
