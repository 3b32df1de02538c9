"""LLVM IR as text to data.

What is read is a subset: functions of blocks, integers, pointers, vectors, arrays. An instruction
of another kind has a result that nobody knows, and what it may do to memory `effects` decides.
"""

from __future__ import annotations

import re

from certificates.ir import Function, Instruction, NotUnderstood, Operand, Program, Type, words

_TOKEN = re.compile(
    r'[%@]"[^"]*"|[%@][\w.$-]+|!"[^"]*"|![\w.]*|c?"(?:[^"\\]|\\.)*"|#\d+'
    r"|-?\d+\.\d+(?:e[+-]?\d+)?|0x[0-9A-Za-z]+|-?\d+|[A-Za-z_][\w.]*|\.\.\.|[()\[\]{}<>,=*|:]|\S"
)
_WORDS = words(
    "nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn "
    "reassoc volatile tail musttail notail noundef nonnull immarg signext zeroext noalias "
    "readonly writeonly readnone nocapture inreg returned ptx_kernel"
)
_WORDS_OF = words("range captures dereferenceable align nofpclass byval sret initializes")
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_ARITHMETIC = words("add sub mul udiv sdiv urem srem shl lshr ashr and or xor")
_CASTS = words("zext sext trunc ptrtoint inttoptr addrspacecast bitcast freeze")


class _Reader:
    """Tokens of a line, from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0
        self.words: set[str] = set()

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise NotUnderstood("a line that ends early")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise NotUnderstood(f"{self.peek()!r} in the place of {token!r}")

    def skip_words(self) -> None:
        """Leave out flags and attributes of values."""
        while True:
            if self.peek() in _WORDS:
                self.words.add(self.take())
            elif self.peek() in ("align", "addrspace") and self.peek(1).isdigit():
                self.at += 2
            elif self.peek().startswith('"'):
                self.at += 1
            elif self.peek() in _WORDS_OF and self.peek(1) == "(":
                self.at += 1
                self.skip_group()
            else:
                return

    def skip_group(self) -> None:
        """Leave out what stands in parentheses."""
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(self.take(), 0)
            if depth == 0:
                return

    def type(self) -> Type:
        token = self.take()
        if token == "ptr":
            space = 0
            if self.accept("addrspace"):
                self.expect("(")
                space = int(self.take())
                self.expect(")")
            return Type("ptr", 64, space=space)
        if re.fullmatch(r"i\d+", token):
            return Type("int", int(token[1:]))
        if token in _FLOATS:
            return Type("float", _FLOATS[token])
        if token in ("<", "["):
            if token == "<" and self.peek() == "{":
                raise NotUnderstood("a packed structure")
            count = int(self.take())
            self.expect("x")
            element = self.type()
            self.expect({"<": ">", "[": "]"}[token])
            return Type({"<": "vector", "[": "array"}[token], count=count, parts=(element,))
        if token == "{":
            parts: list[Type] = []
            while not self.accept("}"):
                parts.append(self.type())
                self.accept(",")
            return Type("struct", parts=tuple(parts))
        return Type("other")

    def value(self, type: Type) -> Operand:
        token = self.take()
        if token[0] == "%":
            return Operand(type, "register", token)
        if token[0] == "@":
            return Operand(type, "global", token)
        if re.fullmatch(r"-?\d+", token):
            return Operand(type, "int", number=int(token))
        if token in ("true", "false", "zeroinitializer", "null"):
            is_number = type.kind in ("int", "ptr")
            return Operand(type, "int" if is_number else "other", number=int(token == "true"))
        if token in ("getelementptr", "addrspacecast", "ptrtoint", "inttoptr"):
            return self.expression(type, token)
        if token in ("<", "[", "{", "splat"):
            self._skip_constant(token)
        return Operand(type, "other", token)

    def _skip_constant(self, token: str) -> None:
        depth = 0 if token == "splat" else 1
        while True:
            if token != "splat" and depth == 0:
                return
            taken = self.take()
            depth += (taken in "([{<") - (taken in ")]}>")
            if token == "splat" and depth == 0:
                return

    def expression(self, type: Type, op: str) -> Operand:
        """Read a constant expression behind its name."""
        self.skip_words()
        self.expect("(")
        base = None
        if op == "getelementptr":
            base = self.type()
            self.expect(",")
        parts = [self.operand()]
        while self.accept(","):
            parts.append(self.operand())
        if self.accept("to"):
            type = self.type()
        self.expect(")")
        return Operand(type, "expression", op, parts=tuple(parts), base=base)

    def operand(self) -> Operand:
        type = self.type()
        self.skip_words()
        return self.value(type)


def _read_call(line: Instruction, read: _Reader) -> None:
    while read.peek() != "call":
        read.take()
    read.take()
    read.skip_words()
    line.type = read.type()
    read.skip_words()
    if read.peek() == "(":  # the type of a function that takes any number of values
        read.skip_group()
    if read.accept("asm"):
        line.callee = "asm"
        read.accept("sideeffect")
        while read.peek() not in ("(", ""):  # what it does, and constraints
            read.take()
    else:
        line.callee = read.take()
    read.expect("(")
    operands: list[Operand] = []
    while not read.accept(")"):
        if read.peek() == "metadata":
            raise NotUnderstood("a call with metadata")
        operands.append(read.operand())
        read.accept(",")
    line.operands = tuple(operands)


def _read_pointer(line: Instruction, read: _Reader) -> None:
    """Read a load, a store, or an address."""
    read.skip_words()
    if line.op == "store":
        if read.accept("atomic"):
            line.flag = "atomic"
            read.skip_words()
        value = read.operand()
        read.expect(",")
        line.operands = (value, read.operand())
        line.type = Type("other")
        line.base = value.type
        return
    if read.accept("atomic"):
        line.flag = "atomic"
        read.skip_words()
    line.base = line.type = read.type()
    read.expect(",")
    operands = [read.operand()]
    if line.op == "getelementptr":
        while read.accept(","):
            if read.peek().startswith("!"):
                break
            operands.append(read.operand())
        line.type = operands[0].type
    line.operands = tuple(operands)


def _read_arithmetic(line: Instruction, read: _Reader) -> None:
    read.skip_words()
    line.words = frozenset(read.words)
    if line.op == "icmp":
        line.flag = read.take()
    first = read.operand()
    read.expect(",")
    line.operands = (first, read.value(first.type))
    line.type = Type("int", 1) if line.op == "icmp" else first.type


def _read_choice(line: Instruction, read: _Reader) -> None:
    read.skip_words()
    operands: list[Operand] = []
    labels: list[str] = []
    if line.op == "select":
        operands = [read.operand()]
        while read.accept(","):
            if read.peek().startswith("!"):
                break
            operands.append(read.operand())
        line.type = operands[1].type
    else:
        line.type = read.type()
        while read.accept("["):
            operands.append(read.value(line.type))
            read.expect(",")
            labels.append(read.take())
            read.expect("]")
            read.accept(",")
    line.operands, line.labels = tuple(operands), tuple(labels)


def _read_branch(line: Instruction, read: _Reader) -> None:
    labels: list[str] = []
    operands: list[Operand] = []
    if read.accept("label"):
        labels.append(read.take())
    else:
        operands.append(read.operand())
        while read.accept(","):
            if not read.accept("label"):
                break
            labels.append(read.take())
        if line.op == "switch" and read.accept("["):
            while not read.accept("]"):
                operands.append(read.operand())
                read.expect(",")
                read.expect("label")
                labels.append(read.take())
    line.operands, line.labels = tuple(operands), tuple(labels)


def _read_instruction(number: int, text: str) -> Instruction:
    line = Instruction(number, text.strip(), "")
    read = _Reader(text)
    if read.peek().startswith("%") and read.peek(1) == "=":
        line.name = read.take()
        read.take()
    line.op = read.peek()
    if "call" in read.tokens[: 4 + read.at] and line.op in ("call", "tail", "musttail", "notail"):
        line.op = "call"
        _read_call(line, read)
        return line
    read.take()
    if line.op in _ARITHMETIC or line.op == "icmp":
        _read_arithmetic(line, read)
    elif line.op in _CASTS:
        read.skip_words()
        line.operands = (read.operand(),)
        line.type = read.type() if read.accept("to") else line.operands[0].type
    elif line.op in ("load", "store", "getelementptr"):
        _read_pointer(line, read)
    elif line.op in ("phi", "select"):
        _read_choice(line, read)
    elif line.op in ("br", "switch"):
        _read_branch(line, read)
    else:
        names = (token for token in read.tokens[read.at :] if token[0] in "%@")
        line.operands = tuple(Operand(line.type, "register", name) for name in names)
    return line


_LABEL = re.compile(r'^("[^"]*"|[\w.$-]+):')
_GLOBAL = re.compile(r'^(@"[^"]*"|@[\w.$-]+) = .*?addrspace\(3\) (?:global|constant) (.*)')
_FUNCTION = re.compile(r'^define (.*?)(@"[^"]*"|@[\w.$-]+)\((.*)\)([^()]*(?:\(.*\))?[^()]*)\{')


def _read_header(text: str, number: int) -> tuple[Function, bool]:
    match = _FUNCTION.match(text)
    if not match:
        raise NotUnderstood(f"line {number}: the head of a function")
    before, name, parameters, after = match.groups()
    read = _Reader(parameters)
    named: dict[str, Type] = {}
    while read.peek():
        type = read.type()
        read.skip_words()
        named[read.take()] = type
        read.accept(",")
    attributes = " ".join(re.findall(r"#\d+", after))
    return Function(name[1:].strip('"'), number, named, attributes), "ptx_kernel" in before


def _read_body(function: Function, lines: list[str], start: int) -> int:
    """Read blocks up to the end of a function; returns the line behind it."""
    unnamed = sum(name[1:].isdigit() for name in function.parameters)
    label = f"%{unnamed}"
    number = start
    while lines[number - 1] != "}":
        text = lines[number - 1]
        number += 1
        if match := _LABEL.match(text):
            label = "%" + match[1]
        elif text.strip() and not text.lstrip().startswith(";"):
            first = number - 1
            if text.strip().endswith("["):  # a switch goes over several lines
                while not lines[number - 2].strip().startswith("]"):
                    text += " " + lines[number - 1].strip()
                    number += 1
            try:
                line = _read_instruction(first, text)
                line.text = lines[first - 1].strip()
            except (NotUnderstood, ValueError) as error:
                raise NotUnderstood(f"line {number - 1}: {error}: {text.strip()[:120]}") from error
            function.blocks.setdefault(label, []).append(line)
    return number


def read(text: str) -> Program:
    """Read a module."""
    program = Program()
    lines = text.split("\n")
    number = 1
    while number <= len(lines):
        line = lines[number - 1]
        number += 1
        if line.startswith("define"):
            function, is_kernel = _read_header(line, number - 1)
            number = _read_body(function, lines, number)
            program.functions.add("@" + function.name)
            if is_kernel:
                program.kernels[function.name] = function
        elif match := _GLOBAL.match(line):
            reader = _Reader(match[2])
            align = re.search(r"align (\d+)", line)
            program.variables[match[1]] = (reader.type(), int(align[1]) if align else 1)
        elif line.startswith(("declare", "attributes")):
            name = re.search(r"^attributes (#\d+)|(@\"[^\"]*\"|@[\w.$-]+)\(", line)
            if name:
                program.attributes[name[1] or name[2]] = line
    return program
