"""Write random kernels of `packing_programs` as MLIR."""

from __future__ import annotations

from oracles.packing.allocs import write_alloc
from oracles.packing.steps import (
    ASYNC_ELEMENTS,
    Alloc,
    Barrier,
    Branch,
    Buffer,
    Call,
    Choose,
    Condition,
    Dealloc,
    Element,
    Loop,
    Program,
    Start,
    Step,
    Swap,
    Touch,
    Wait,
)

SOURCES = {element: f"%source_{element}" for element in ASYNC_ELEMENTS}
MAIN_ARGUMENTS = [f"{name}: memref<?x{element}>" for element, name in SOURCES.items()]
MAIN_ARGUMENTS.append("%out: memref<?xi64>")
SCALARS = ("%flag", "%trips", "%extent")
_MASKS: dict[Element, int] = {"f16": 1023, "f32": 65535, "f64": 65535}


class Body:
    """The operations of a function; its sum goes through all of them."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.allocated: dict[str, str] = {}
        # What slices are of, with its type.
        self.bases: dict[str, str] = {}
        self.groups: dict[str, str] = {}

    # Basic operations.

    def emit(self, text: str) -> str:
        """Append an operation with one result and return its name."""
        name = self.printer.name()
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, number: int, kind: str = "index") -> str:
        """Return the name of a constant."""
        name = f"%c{number}_{kind}"
        self.constants[name] = f"{name} = arith.constant {number} : {kind}"
        return name

    def fold(self, total: str, value: str) -> str:
        """Return the sum after a value was read."""
        scaled = self.emit(f"arith.muli {total}, {self.constant(5, 'i64')} : i64")
        return self.emit(f"arith.addi {scaled}, {value} : i64")

    def from_element(self, value: str, element: Element) -> str:
        """Return an element's value as i64."""
        if element == "i64":
            return value
        operation = "extsi" if element == "i8" else "fptosi"
        return self.emit(f"arith.{operation} {value} : {element} to i64")

    def to_element(self, value: str, element: Element) -> str:
        """Return a value that an element can hold exactly, whatever the i64 is."""
        if element == "i64":
            return value
        if element == "i8":
            return self.emit(f"arith.trunci {value} : i64 to i8")
        mask = self.constant(_MASKS[element], "i64")
        small = self.emit(f"arith.andi {value}, {mask} : i64")
        return self.emit(f"arith.sitofp {small} : i64 to {element}")

    # Buffers.

    def memory(self, buffer: Buffer) -> str:
        """Return the name of a buffer where it is used."""
        if buffer.place == "global":
            return self.emit(f"memref.get_global @{buffer.name} : {self.type(buffer)}")
        return self.allocated.get(buffer.name, f"%{buffer.name}")

    def type(self, buffer: Buffer) -> str:
        """Return the type of a buffer."""
        return self.printer.type(buffer)

    def place(self, buffer: Buffer, index: str) -> str:
        """Return the indices of the element with a number."""
        if len(buffer.shape) == 1:
            return index
        columns = self.constant(buffer.shape[1])
        row = self.emit(f"arith.divui {index}, {columns} : index")
        column = self.emit(f"arith.remui {index}, {columns} : index")
        return f"{row}, {column}"

    def begin_elements(self, buffer: Buffer) -> str:
        """Begin a loop over the elements of a thread."""
        index = self.printer.name()
        size, step = self.constant(buffer.size), self.constant(self.printer.program.threads)
        self.lines.append(f"scf.for {index} = %thread to {size} step {step} {{")
        return index

    def write(self, buffer: Buffer, memory: str, total: str, salt: int, *, add: bool) -> None:
        """Write to each element of a thread, or add to it."""
        index = self.begin_elements(buffer)
        number = self.emit(f"arith.index_cast {index} : index to i64")
        scaled = self.emit(f"arith.muli {number}, {self.constant(salt, 'i64')} : i64")
        value = self.emit(f"arith.addi {scaled}, {total} : i64")
        at = f"{memory}[{self.place(buffer, index)}] : {self.type(buffer)}"
        if add:
            old = self.from_element(self.emit(f"memref.load {at}"), buffer.element)
            value = self.emit(f"arith.addi {value}, {old} : i64")
        self.lines.append(f"memref.store {self.to_element(value, buffer.element)}, {at}")
        self.lines.append("}")

    def read(self, buffer: Buffer, memory: str, total: str, salt: int, kind: str = "") -> str:
        """Read one or two elements, of other threads mostly, of a memref of `kind`."""
        for shift in (salt, salt * 7 + 17)[: 1 + salt % 2]:
            moved = self.emit(f"arith.addi %thread, {self.constant(shift)} : index")
            index = self.emit(f"arith.remui {moved}, {self.constant(buffer.size)} : index")
            place = self.place(buffer, index) if not kind else index
            value = self.emit(f"memref.load {memory}[{place}] : {kind or self.type(buffer)}")
            total = self.fold(total, self.from_element(value, buffer.element))
        return total

    def read_view(self, buffer: Buffer, total: str, salt: int) -> str:
        """Read a view of a buffer, if its type is simple."""
        memory, space = self.memory(buffer), self.printer.program.space
        if buffer.strides or buffer.extent is not None:
            return self.read(buffer, memory, total, salt)
        if len(buffer.shape) == 2:
            kind = f"memref<{buffer.size}x{buffer.element}, {space}>"
            operation = f"memref.collapse_shape {memory} [[0, 1]] : {self.type(buffer)} into {kind}"
        elif salt % 2:
            kind = f"memref<?x{buffer.element}, {space}>"
            operation = f"memref.cast {memory} : {self.type(buffer)} to {kind}"
        else:
            kind = f"memref<{buffer.size}x{buffer.element}, strided<[1]>, {space}>"
            whole = f"[0] [{buffer.size}] [1]"
            operation = f"memref.subview {memory}{whole} : {self.type(buffer)} to {kind}"
        return self.read(buffer, self.emit(operation), total, salt, kind)

    # Steps.

    def steps(self, steps: tuple[Step, ...], total: str, iteration: str) -> str:
        """Write steps; return the name of the sum after them."""
        for step in steps:
            match step:
                case Barrier():
                    self.lines.append("gpu.barrier")
                case Touch():
                    total = self.touch(step, total)
                case Start() | Wait():
                    self.copy(step)
                case Alloc(name):
                    write_alloc(self, self.printer.program.buffers[name])
                case Dealloc(name):
                    buffer = self.printer.program.buffers[name]
                    whole = f"{self.memory(buffer)} : {self.type(buffer)}"
                    self.lines.append(f"memref.dealloc {self.bases.get(name, whole)}")
                case Call(name, salt):
                    function = self.printer.worker(self.printer.program.buffers[name], salt)
                    total = self.emit(f"func.call @{function}({total}) : (i64) -> i64")
                case Swap():
                    total = self.swap(step, total)
                case Choose():
                    total = self.choose(step, total, iteration)
                case Loop("for" | "divergent"):
                    total = self.for_loop(step, total)
                case Loop("while"):
                    total = self.while_loop(step, total)
                case Loop():
                    total = self.block_loop(step, total)
                case Branch("scf"):
                    total = self.branch(step, total, iteration)
                case Branch():
                    total = self.block_branch(step, total, iteration)
        return total

    def touch(self, step: Touch, total: str) -> str:
        """Write an access."""
        buffer = self.printer.program.buffers[step.buffer]
        if step.via == "call":
            return self.call(step, buffer, total)
        if step.what == "read" and step.via == "view":
            return self.read_view(buffer, total, step.salt)
        memory = self.memory(buffer)
        if step.what == "read":
            return self.read(buffer, memory, total, step.salt)
        self.write(buffer, memory, total, step.salt, add=step.what == "own")
        if step.what == "exchange":
            self.lines.append("gpu.barrier")
            return self.read(buffer, memory, total, step.salt)
        return total

    def call(self, step: Touch, buffer: Buffer, total: str) -> str:
        """Write an access as a call of a function."""
        function = self.printer.function(step, buffer)
        if buffer.place == "global":
            return self.emit(f"func.call @{function}({total}) : (i64) -> i64")
        kind = self.type(buffer)
        operands = f"({total}, {self.memory(buffer)}) : (i64, {kind})"
        return self.emit(f"func.call @{function}{operands} -> i64")

    def copy(self, step: Start | Wait) -> None:
        """Write what begins or ends a copy."""
        if isinstance(step, Wait):
            group = self.groups[step.buffer]
            self.lines.append(
                f"nvgpu.device_async_wait {group} {{numGroups = {step.groups} : i32}}"
            )
            return
        buffer = self.printer.program.buffers[step.buffer]
        memory, source = self.memory(buffer), SOURCES[buffer.element]
        index = self.begin_elements(buffer)
        first = self.emit(f"arith.addi {index}, {self.constant(step.salt)} : index")
        place = self.place(buffer, index)
        kinds = f"memref<?x{buffer.element}> to {self.type(buffer)}"
        self.emit(f"nvgpu.device_async_copy {source}[{first}], {memory}[{place}], 1 : {kinds}")
        self.lines.append("}")
        # In this form, as the pretty one takes the next line for an operand.
        self.groups[step.buffer] = self.emit(
            '"nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token'
        )

    def swap(self, step: Swap, total: str) -> str:
        """Write a loop whose buffers change places."""
        buffers = self.printer.program.buffers
        first, second = buffers[step.first], buffers[step.second]
        kind = self.type(first)
        result, iteration, carried, this, other = (self.printer.name() for _ in range(5))
        iterations, zero, one = self.constant(step.iterations), self.constant(0), self.constant(1)
        if step.form == "cf":
            head, end = self.printer.label(), self.printer.label()
            kinds = f"i64, index, {kind}, {kind}"
            at_first = f"{total}, {zero}, {self.memory(first)}, {self.memory(second)}"
            self.lines.append(f"cf.br {head}({at_first} : {kinds})")
            arguments = f"{carried}: i64, {iteration}: index, {this}: {kind}, {other}: {kind}"
            self.lines.append(f"{head}({arguments}):")
            total = self.swapped(first, this, carried, step.salt)
            following = self.emit(f"arith.addi {iteration}, {one} : index")
            more = self.emit(f"arith.cmpi ult, {following}, {iterations} : index")
            back = f"{head}({total}, {following}, {other}, {this} : {kinds})"
            self.lines += [f"cf.cond_br {more}, {back}, {end}", f"{end}:"]
            return total
        self.lines.append(
            f"{result}:3 = scf.for {iteration} = {zero} to {iterations} step {one} iter_args("
            f"{carried} = {total}, {this} = {self.memory(first)}, {other} = {self.memory(second)}"
            f") -> (i64, {kind}, {kind}) {{"
        )
        total = self.swapped(first, this, carried, step.salt)
        self.lines += [f"scf.yield {total}, {other}, {this} : i64, {kind}, {kind}", "}"]
        return f"{result}#0"

    def swapped(self, buffer: Buffer, memory: str, total: str, salt: int) -> str:
        """Write an iteration of that loop."""
        self.write(buffer, memory, total, salt, add=False)
        self.lines.append("gpu.barrier")
        return self.read(buffer, memory, total, salt)

    def choose(self, step: Choose, total: str, iteration: str) -> str:
        """Write a read of one of two buffers."""
        buffers = self.printer.program.buffers
        first, second = buffers[step.first], buffers[step.second]
        condition = self.condition(step.condition, iteration)
        operands = f"{self.memory(first)}, {self.memory(second)}"
        chosen = self.emit(f"arith.select {condition}, {operands} : {self.type(first)}")
        return self.read(first, chosen, total, step.salt)

    # Control.

    def condition(self, condition: Condition, iteration: str) -> str:
        """Write a condition."""
        ids = {"block": "%block", "flag": "%flag", "thread": "%thread"}
        value = ids.get(condition.on, iteration)
        if condition.on == "later":
            return self.emit(f"arith.cmpi ugt, {value}, {self.constant(0)} : index")
        bit = self.emit(f"arith.andi {value}, {self.constant(1)} : index")
        return self.emit(f"arith.cmpi eq, {bit}, {self.constant(condition.number)} : index")

    def iterations(self, step: Loop) -> str:
        """Write how many iterations a loop has."""
        if step.form == "divergent":
            return self.emit(f"arith.andi %thread, {self.constant(3)} : index")
        return "%trips" if step.iterations is None else self.constant(step.iterations)

    def for_loop(self, step: Loop, total: str) -> str:
        """Write a loop that counts."""
        result, iteration, carried = (self.printer.name() for _ in range(3))
        zero, one = self.constant(0), self.constant(1)
        self.lines.append(
            f"{result} = scf.for {iteration} = {zero} to {self.iterations(step)} step {one} "
            f"iter_args({carried} = {total}) -> (i64) {{"
        )
        last = self.steps(step.body, carried, iteration)
        self.lines += [f"scf.yield {last} : i64", "}"]
        return result

    def while_loop(self, step: Loop, total: str) -> str:
        """Write a loop with steps before its condition."""
        result, iteration, carried, inner_iteration, inner = (self.printer.name() for _ in range(5))
        iterations, zero, one = self.iterations(step), self.constant(0), self.constant(1)
        self.lines.append(
            f"{result}:2 = scf.while ({iteration} = {zero}, {carried} = {total}) : "
            "(index, i64) -> (index, i64) {"
        )
        last = self.steps(step.before, carried, iteration)
        more = self.emit(f"arith.cmpi ult, {iteration}, {iterations} : index")
        self.lines += [f"scf.condition({more}) {iteration}, {last} : index, i64", "} do {"]
        self.lines.append(f"^bb0({inner_iteration}: index, {inner}: i64):")
        last = self.steps(step.body, inner, inner_iteration)
        following = self.emit(f"arith.addi {inner_iteration}, {one} : index")
        self.lines += [f"scf.yield {following}, {last} : index, i64", "}"]
        return f"{result}#1"

    def block_loop(self, step: Loop, total: str) -> str:
        """Write a loop of blocks that tests before, or after, each iteration."""
        head, body, end = (self.printer.label() for _ in range(3))
        iteration, carried = self.printer.name(), self.printer.name()
        iterations, zero, one = self.iterations(step), self.constant(0), self.constant(1)
        self.lines.append(f"cf.br {head}({carried_in(total, zero)})")
        self.lines.append(f"{head}({carried}: i64, {iteration}: index):")
        if step.form == "cf":
            more = self.emit(f"arith.cmpi ult, {iteration}, {iterations} : index")
            self.lines += [f"cf.cond_br {more}, {body}, {end}", f"{body}:"]
        last = self.steps(step.body, carried, iteration)
        following = self.emit(f"arith.addi {iteration}, {one} : index")
        if step.form == "cf":
            self.lines += [f"cf.br {head}({carried_in(last, following)})", f"{end}:"]
            return carried
        more = self.emit(f"arith.cmpi ult, {following}, {iterations} : index")
        back = f"{head}({carried_in(last, following)})"
        self.lines += [f"cf.cond_br {more}, {back}, {end}", f"{end}:"]
        return last

    def branch(self, step: Branch, total: str, iteration: str) -> str:
        """Write a branch of regions."""
        condition = self.condition(step.condition, iteration)
        result = self.printer.name()
        self.lines.append(f"{result} = scf.if {condition} -> (i64) {{")
        self.lines.append(f"scf.yield {self.steps(step.then, total, iteration)} : i64")
        self.lines.append("} else {")
        self.lines += [f"scf.yield {self.steps(step.other, total, iteration)} : i64", "}"]
        return result

    def block_branch(self, step: Branch, total: str, iteration: str) -> str:
        """Write a branch of blocks."""
        condition = self.condition(step.condition, iteration)
        then, other, end = (self.printer.label() for _ in range(3))
        result = self.printer.name()
        self.lines += [f"cf.cond_br {condition}, {then}, {other}", f"{then}:"]
        self.lines.append(f"cf.br {end}({self.steps(step.then, total, iteration)} : i64)")
        self.lines.append(f"{other}:")
        self.lines.append(f"cf.br {end}({self.steps(step.other, total, iteration)} : i64)")
        self.lines.append(f"{end}({result}: i64):")
        return result


def carried_in(total: str, iteration: str) -> str:
    """Return the operands that a loop of blocks takes."""
    return f"{total}, {iteration} : i64, index"


class Printer:
    """Writes a program as MLIR."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = 0
        self.functions: dict[str, list[str]] = {}

    def name(self) -> str:
        """Return a new value's name."""
        self.names += 1
        return f"%v{self.names}"

    def label(self) -> str:
        """Return a new block's name."""
        self.names += 1
        return f"^block{self.names}"

    def type(self, buffer: Buffer) -> str:
        """Return the type of a buffer."""
        shape = "?" if buffer.extent is not None else "x".join(map(str, buffer.shape))
        layout = f", strided<{list(buffer.strides)}>" if buffer.strides else ""
        if buffer.extent is not None and buffer.bound == "slice":
            layout = ", strided<[1]>"
        return f"memref<{shape}x{buffer.element}{layout}, {self.program.space}>"

    def function(self, step: Touch, buffer: Buffer) -> str:
        """Return the name of a function that does a step."""
        memory = "" if buffer.place == "global" else f", %{buffer.name}: {self.type(buffer)}"
        inline = Touch(step.what, step.buffer, step.salt)
        return self._function(f"{step.what}_{buffer.name}", (inline,), memory)

    def worker(self, buffer: Buffer, salt: int) -> str:
        """Return the name of a function that exchanges values in a buffer of its own."""
        steps = (Alloc(buffer.name), Touch("exchange", buffer.name, salt))
        return self._function(f"work_in_{buffer.name}", steps, "")

    def _function(self, name: str, steps: tuple[Step, ...], memory: str) -> str:
        if name not in self.functions:
            body = Body(self)
            total = body.steps(steps, "%total", "")
            self.functions[name] = [
                f"func.func private @{name}(%total: i64{memory}) -> i64 {{",
                "%thread = gpu.thread_id x",
                *body.constants.values(),
                *body.lines,
                f"return {total} : i64",
                "}",
            ]
        return name

    def kernel_body(self) -> list[str]:
        """Return what a kernel does."""
        body = Body(self)
        total = body.emit("arith.index_cast %thread : index to i64")
        total = body.steps(self.program.steps, total, "")
        threads = body.constant(self.program.threads)
        base = body.emit(f"arith.muli %block, {threads} : index")
        place = body.emit(f"arith.addi {base}, %thread : index")
        body.lines.append(f"memref.store {total}, %out[{place}] : memref<?xi64>")
        return [*body.constants.values(), *body.lines]

    def workgroup(self) -> str:
        """Return the attributions of the kernel."""
        attributions = []
        for buffer in self.program.buffers.values():
            if buffer.place == "attribution":
                stated = f" {{llvm.align = {buffer.alignment} : i64}}" if buffer.alignment else ""
                attributions.append(f"%{buffer.name}: {self.type(buffer)}{stated}")
        return f" workgroup({', '.join(attributions)})" if attributions else ""

    def host(self, launch: list[str]) -> list[str]:
        """Return a host function that launches."""
        program = self.program
        values = {"flag": program.flag, "trips": program.trips, "extent": program.extent}
        values |= {"one": 1, "threads": program.threads, "blocks": program.blocks}
        constants = [f"%{name} = arith.constant {n} : index" for name, n in values.items()]
        header = f"func.func @main({', '.join(MAIN_ARGUMENTS)}) {{"
        return [header, *constants, *launch, "return", "}"]

    def print(self) -> str:
        """Return the module."""
        lines = self.launch() if self.program.form == "launch" else self.outlined()
        return "\n".join(["module attributes {gpu.container_module} {", *lines, "}", ""])

    def launch(self) -> list[str]:
        """Return a host function with the kernel inside."""
        sizes = "blocks(%block, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one) "
        sizes += "threads(%thread, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one)"
        body = [*self.kernel_body(), "gpu.terminator", "}"]
        return self.host([f"gpu.launch {sizes}{self.workgroup()} {{", *body])

    def outlined(self) -> list[str]:
        """Return a module of kernels, and a host function if there is one."""
        body = ["%thread = gpu.thread_id x", "%block = gpu.block_id x", *self.kernel_body()]
        arguments = [*MAIN_ARGUMENTS, *(f"{name}: index" for name in SCALARS)]
        size = f"known_block_size = array<i32: {self.program.threads}, 1, 1>"
        stated = f" attributes {{{size}}}" if self.program.is_size_known else ""
        kernel = [
            f"gpu.func @main_kernel({', '.join(arguments)}){self.workgroup()} kernel{stated} {{",
            *body,
            "gpu.return",
            "}",
        ]
        lines = ["gpu.module @kernels {"]
        for buffer in self.program.buffers.values():
            if buffer.place == "global":
                stated = f" {{alignment = {buffer.alignment}}}" if buffer.alignment else ""
                lines.append(
                    f'memref.global "private" @{buffer.name} : {self.type(buffer)} = uninitialized'
                    + stated
                )
        lines += [line for function in self.functions.values() for line in function]
        lines += [*kernel, "}"]
        if self.program.has_launch:
            sizes = "blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)"
            operands = [argument.replace(": ", " : ") for argument in arguments]
            lines += self.host(
                [f"gpu.launch_func @kernels::@main_kernel {sizes} args({', '.join(operands)})"]
            )
        return lines


def print_program(program: Program) -> str:
    """Return a program as MLIR."""
    return Printer(program).print()
