//===- PrintFormats.cpp - Formats of gpu.printf ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formats are those of the CUDA C++ Programming Guide, "Formatted Output":
// `%[flags][width][.precision][size]type`.
//
//===----------------------------------------------------------------------===//

#include "PrintFormats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup {

namespace {

/// The type as which a conversion takes its argument.
enum class Taking { Signed, Unsigned, Float, Pointer };

/// One argument that a format asks for.
struct Asked {
  /// The conversion in the format, as `%-8.3f`.
  StringRef text;
  Taking taking;
  /// The type letter, and whether a size asks for an integer of 64 bits.
  char letter;
  bool isLong = false;
  /// The argument is the width of the conversion, not what it prints.
  bool isWidth = false;
};

/// A format taken apart.
struct Format {
  SmallVector<Asked> arguments;
  /// What is wrong with it; empty if nothing is.
  std::string problem;
};

} // namespace

static std::optional<Taking> getTaking(char letter) {
  switch (letter) {
  case 'd':
  case 'i':
    return Taking::Signed;
  case 'c':
  case 'o':
  case 'u':
  case 'x':
  case 'X':
    return Taking::Unsigned;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    return Taking::Float;
  case 'p':
    return Taking::Pointer;
  default:
    return std::nullopt;
  }
}

/// What is wrong with type `letter` after `size`; empty if nothing is.
static StringRef getTypeProblem(StringRef size, char letter) {
  if (letter == 's')
    return "prints a string, which no value is; write the text into the format";
  std::optional<Taking> taking = getTaking(letter);
  if (!taking)
    return "is no conversion that GPUs know; use one of %d, %i, %u, %o, %x, "
           "%X, %c, %e, %f, %g, %a and %p, and %% for a percent sign";
  bool isFloat = *taking == Taking::Float;
  if (isFloat ? !size.empty() && size != "l"
              : !llvm::is_contained({"", "h", "l", "ll"}, size))
    return "has a size that GPUs do not know; use h for integers of 16 bits, "
           "and ll for those of 64";
  if ((letter == 'c' || letter == 'p') && !size.empty())
    return "has a size, which its type takes none of; leave it out";
  return "";
}

/// Takes the conversion that `rest` begins with off it.
static void takeConversion(StringRef &rest, Format &format) {
  StringRef start = rest;
  rest = rest.drop_front().ltrim("-+ #0");
  bool hasWidth = rest.consume_front("*");
  if (!hasWidth)
    rest = rest.ltrim("0123456789");
  if (rest.consume_front("."))
    rest = rest.ltrim("0123456789");
  StringRef size =
      rest.take_while([](char c) { return StringRef("hlqjztL").contains(c); });
  rest = rest.drop_front(size.size());
  char letter = rest.empty() ? '\0' : rest.front();
  rest = rest.drop_front(rest.empty() ? 0 : 1);
  StringRef text = start.drop_back(rest.size());
  if (text == "%%")
    return;
  if (StringRef problem = getTypeProblem(size, letter); !problem.empty()) {
    format.problem = ("has the format '" + text + "', which " + problem).str();
    return;
  }
  Taking taking = *getTaking(letter);
  if (hasWidth)
    format.arguments.push_back(
        {text, Taking::Signed, 'd', /*isLong=*/false, /*isWidth=*/true});
  bool isLong = taking != Taking::Float && size.starts_with("l");
  format.arguments.push_back({text, taking, letter, isLong});
}

static Format parseFormat(StringRef text) {
  Format format;
  while (format.problem.empty()) {
    size_t plain = text.find('%');
    if (plain == StringRef::npos)
      break;
    text = text.drop_front(plain);
    takeConversion(text, format);
  }
  return format;
}

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// The bits that an integer or index has as an argument; 0 if it is neither.
static unsigned getIntegerBits(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 0;
}

/// True for floats that extend to `double`.
static bool isPrintedFloat(Type type) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() <= 64 && !isa<FloatTF32Type>(type);
}

/// True if C's conversion of variable arguments makes what `asked` takes of an
/// argument of type `type`.
static bool fits(const Asked &asked, Type type) {
  unsigned bits = getIntegerBits(type);
  switch (asked.taking) {
  case Taking::Float:
    return isPrintedFloat(type);
  case Taking::Pointer:
    return bits == 64;
  case Taking::Signed:
  case Taking::Unsigned:
    return asked.isLong ? bits == 64 : bits > 0 && bits <= 32;
  }
  llvm_unreachable("unknown way to take an argument");
}

static StringRef describeTaken(const Asked &asked) {
  if (asked.isWidth)
    return "whose width is an integer of 32 bits or less";
  if (asked.taking == Taking::Float)
    return "which takes a float";
  if (asked.taking == Taking::Pointer || asked.isLong)
    return "which takes an integer of 64 bits";
  return "which takes an integer of 32 bits or less";
}

/// What to do with an argument of type `type` that `asked` does not take.
static std::string getRemedy(const Asked &asked, Type type) {
  unsigned bits = getIntegerBits(type);
  if (asked.isWidth)
    return bits ? "truncate it to i32" : "pass an i32 first";
  bool isInteger =
      asked.taking == Taking::Signed || asked.taking == Taking::Unsigned;
  std::string letter(1, isInteger && asked.letter != 'c' ? asked.letter : 'd');
  if (bits > 64)
    return "truncate it to i64, and write %ll" + letter;
  if (bits == 64)
    return "write %ll" + letter;
  if (asked.taking == Taking::Pointer && bits)
    return "extend it to i64";
  if (bits > 32)
    return "extend it to i64, and write %ll" + letter;
  if (bits)
    return "write %" + letter;
  return isPrintedFloat(type) ? "write %f" : "convert it to f64, and write %f";
}

static std::string getArgumentProblem(const Asked &asked, unsigned number,
                                      Type type) {
  if (fits(asked, type))
    return "";
  return ("has argument " + Twine(number) + " of type " + printType(type) +
          " for '" + asked.text + "', " + describeTaken(asked) + "; " +
          getRemedy(asked, type))
      .str();
}

std::string getPrintObstacle(gpu::PrintfOp op) {
  Format format = parseFormat(op.getFormat());
  if (!format.problem.empty())
    return format.problem;
  size_t numAsked = format.arguments.size(), numArgs = op.getArgs().size();
  if (numAsked != numArgs)
    return ("has a format that asks for " + Twine(numAsked) +
            " arguments, but has " + Twine(numArgs) +
            "; write a conversion for each of them")
        .str();
  constexpr size_t kMostArguments = 32;
  if (numArgs > kMostArguments)
    return "has more than 32 arguments, of which GPUs print no more; print "
           "them one part after the other";
  for (auto [number, asked, type] :
       llvm::enumerate(format.arguments, op.getArgs().getTypes()))
    if (std::string problem = getArgumentProblem(asked, number, type);
        !problem.empty())
      return problem;
  return "";
}

/// `value` as C passes it where an argument like `asked` is taken.
static Value promote(OpBuilder &builder, Location loc, Value value,
                     const Asked &asked) {
  Type type = value.getType();
  if (asked.taking == Taking::Float)
    return type.isF64() ? value
                        : arith::ExtFOp::create(builder, loc,
                                                builder.getF64Type(), value);
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return value;
  if (!integer.isSignless())
    value = UnrealizedConversionCastOp::create(
                builder, loc, builder.getIntegerType(integer.getWidth()), value)
                .getResult(0);
  if (integer.getWidth() >= 32)
    return value;
  // A truth is 0 or 1 to C, not -1.
  bool isSigned =
      integer.isSigned() || (integer.isSignless() && integer.getWidth() > 1 &&
                             asked.taking == Taking::Signed);
  Type wide = builder.getI32Type();
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, wide, value);
  return arith::ExtUIOp::create(builder, loc, wide, value);
}

namespace {

struct PromoteArguments final : OpRewritePattern<gpu::PrintfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::PrintfOp op,
                                PatternRewriter &rewriter) const override {
    if (!getPrintObstacle(op).empty())
      return failure();
    Format format = parseFormat(op.getFormat());
    SmallVector<Value> arguments;
    for (auto [asked, value] : llvm::zip_equal(format.arguments, op.getArgs()))
      arguments.push_back(promote(rewriter, op.getLoc(), value, asked));
    if (llvm::equal(arguments, op.getArgs()))
      return failure();
    rewriter.modifyOpInPlace(op,
                             [&] { op.getArgsMutable().assign(arguments); });
    return success();
  }
};

} // namespace

void populatePrintPatterns(RewritePatternSet &patterns) {
  patterns.add<PromoteArguments>(patterns.getContext());
}

} // namespace mlir::workgroup
