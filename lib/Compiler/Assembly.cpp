//===- Assembly.cpp - Inline PTX as statements ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::workgroup {

bool AssemblyStatement::has(StringRef part) const {
  return llvm::is_contained(opcode, part);
}

namespace {

/// Reads one statement from left to right.
class StatementParser {
public:
  explicit StatementParser(StringRef text) : text(text) {}

  std::optional<AssemblyStatement> parse();

private:
  using Atom = AssemblyOperand::Atom;

  bool consume(char wanted) {
    text = text.ltrim();
    return text.consume_front(StringRef(&wanted, 1));
  }
  bool parsePredicate(AssemblyStatement &statement);
  bool parseOpcode(AssemblyStatement &statement);
  bool parsePlace(unsigned &place);
  bool parseAtom(Atom &atom);
  bool parseOperand(AssemblyOperand &operand);
  bool parseAddress(AssemblyOperand &operand);

  StringRef text;
};

} // namespace

/// `$3`, or `${3:r}`, which is the same for registers.
bool StatementParser::parsePlace(unsigned &place) {
  text = text.ltrim();
  if (text.consume_front("${"))
    return !text.consumeInteger(10, place) && text.consume_front(":") &&
           !text.empty() && llvm::isAlpha(text.front()) &&
           !text.drop_front().empty() &&
           (text = text.drop_front()).consume_front("}");
  return text.consume_front("$") && !text.consumeInteger(10, place);
}

bool StatementParser::parsePredicate(AssemblyStatement &statement) {
  if (!consume('@'))
    return true;
  statement.isNegated = consume('!');
  return parsePlace(statement.predicate.emplace());
}

bool StatementParser::parseOpcode(AssemblyStatement &statement) {
  text = text.ltrim();
  StringRef word = text.take_until([](char c) { return llvm::isSpace(c); });
  text = text.drop_front(word.size());
  word.split(statement.opcode, '.');
  return !word.empty() && llvm::all_of(statement.opcode, [](StringRef part) {
    return !part.empty() && llvm::all_of(part, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == ':';
    });
  });
}

bool StatementParser::parseAtom(Atom &atom) {
  text = text.ltrim();
  if (text.starts_with("$"))
    return parsePlace(atom.place.emplace());
  if (text.starts_with("%")) {
    atom.special = text.take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '%';
    });
    text = text.drop_front(atom.special.size());
    return atom.special.consume_front("%") && !atom.special.empty();
  }
  bool isNegative = text.consume_front("-");
  if (text.consumeInteger(0, atom.number))
    return false;
  atom.number = isNegative ? -atom.number : atom.number;
  return true;
}

bool StatementParser::parseAddress(AssemblyOperand &operand) {
  operand.isAddress = true;
  if (!parseAtom(operand.atoms.emplace_back()))
    return false;
  if (consume('+')) {
    Atom distance;
    if (!parseAtom(distance) || distance.place || !distance.special.empty())
      return false;
    operand.offset = distance.number;
  }
  return consume(']');
}

bool StatementParser::parseOperand(AssemblyOperand &operand) {
  if (consume('['))
    return parseAddress(operand);
  if (!consume('{'))
    return parseAtom(operand.atoms.emplace_back());
  do {
    if (!parseAtom(operand.atoms.emplace_back()))
      return false;
  } while (consume(','));
  return consume('}');
}

std::optional<AssemblyStatement> StatementParser::parse() {
  AssemblyStatement statement;
  if (!parsePredicate(statement) || !parseOpcode(statement))
    return std::nullopt;
  text = text.ltrim();
  while (!text.empty()) {
    if (!statement.operands.empty() && !consume(','))
      return std::nullopt;
    if (!parseOperand(statement.operands.emplace_back()))
      return std::nullopt;
    text = text.ltrim();
  }
  return statement;
}

std::optional<SmallVector<AssemblyStatement, 0>> parseAssembly(StringRef text) {
  SmallVector<AssemblyStatement, 0> statements;
  for (StringRef part : llvm::split(text, ';')) {
    if (part.trim().empty())
      continue;
    std::optional<AssemblyStatement> statement = StatementParser(part).parse();
    if (!statement)
      return std::nullopt;
    statements.push_back(std::move(*statement));
  }
  return statements;
}

} // namespace mlir::workgroup
