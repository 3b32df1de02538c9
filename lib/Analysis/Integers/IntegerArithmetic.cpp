//===- IntegerArithmetic.cpp - Arithmetic on numbers of a width -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerArithmetic.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

static constexpr unsigned kIndexBits = 64;

unsigned getWidth(Type type) {
  if (isa<IndexType>(type))
    return kIndexBits;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= kIndexBits ? integer.getWidth() : 0;
}

/// True if `lhs / rhs` is a number of that width.
static bool canDivide(int64_t lhs, int64_t rhs, unsigned width) {
  return rhs != 0 && !(rhs == -1 && lhs == llvm::minIntN(width));
}

static bool canShift(int64_t bits, unsigned width) {
  return toUnsigned(bits, width) < width;
}

static BinaryFn getLinearFn(Operation *op) {
  using U = uint64_t;
  return llvm::TypeSwitch<Operation *, BinaryFn>(op)
      .Case([](arith::AddIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) -> Number {
          return U(a) + U(b);
        };
      })
      .Case([](arith::SubIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) -> Number {
          return U(a) - U(b);
        };
      })
      .Case([](arith::MulIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) -> Number {
          return U(a) * U(b);
        };
      })
      .Case([](arith::MinSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) -> Number {
          return std::min(a, b);
        };
      })
      .Case([](arith::MaxSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) -> Number {
          return std::max(a, b);
        };
      })
      .Case([](arith::MinUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) -> Number {
          return toUnsigned(a, w) < toUnsigned(b, w) ? a : b;
        };
      })
      .Case([](arith::MaxUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) -> Number {
          return toUnsigned(a, w) < toUnsigned(b, w) ? b : a;
        };
      })
      .Default([](Operation *) -> BinaryFn { return nullptr; });
}

static BinaryFn getDivisionFn(Operation *op) {
  return llvm::TypeSwitch<Operation *, BinaryFn>(op)
      .Case([](arith::DivSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canDivide(a, b, w) ? Number(a / b) : Number();
        };
      })
      .Case([](arith::RemSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canDivide(a, b, w) ? Number(a % b) : Number();
        };
      })
      .Case([](arith::DivUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return b ? Number(toUnsigned(a, w) / toUnsigned(b, w)) : Number();
        };
      })
      .Case([](arith::RemUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return b ? Number(toUnsigned(a, w) % toUnsigned(b, w)) : Number();
        };
      })
      .Case([](arith::FloorDivSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canDivide(a, b, w) ? Number(llvm::divideFloorSigned(a, b))
                                    : Number();
        };
      })
      .Case([](arith::CeilDivSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canDivide(a, b, w) ? Number(llvm::divideCeilSigned(a, b))
                                    : Number();
        };
      })
      .Case([](arith::CeilDivUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return b ? Number(
                         llvm::divideCeil(toUnsigned(a, w), toUnsigned(b, w)))
                   : Number();
        };
      })
      .Default([](Operation *) -> BinaryFn { return nullptr; });
}

static BinaryFn getBitwiseFn(Operation *op) {
  return llvm::TypeSwitch<Operation *, BinaryFn>(op)
      .Case([](arith::AndIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) { return Number(a & b); };
      })
      .Case([](arith::OrIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) { return Number(a | b); };
      })
      .Case([](arith::XOrIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned) { return Number(a ^ b); };
      })
      .Case([](arith::ShLIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canShift(b, w) ? Number(uint64_t(a) << b) : Number();
        };
      })
      .Case([](arith::ShRUIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canShift(b, w) ? Number(toUnsigned(a, w) >> b) : Number();
        };
      })
      .Case([](arith::ShRSIOp) -> BinaryFn {
        return [](int64_t a, int64_t b, unsigned w) {
          return canShift(b, w) ? Number(a >> b) : Number();
        };
      })
      .Default([](Operation *) -> BinaryFn { return nullptr; });
}

BinaryFn getBinaryFn(Operation *op) {
  if (BinaryFn fn = getLinearFn(op))
    return fn;
  if (BinaryFn fn = getDivisionFn(op))
    return fn;
  return getBitwiseFn(op);
}

bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
             unsigned width) {
  uint64_t x = toUnsigned(a, width), y = toUnsigned(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  llvm_unreachable("unknown predicate");
}

} // namespace mlir::workgroup
