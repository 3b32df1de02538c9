"""``pipeline.explain``: a program compiled, run, and told of in one document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Unpack

from ..compiling.explaining import Explained, Refused, compile_as_far
from ..compiling.request import ProgramOptions

if TYPE_CHECKING:
    from pathlib import Path

    from ..errors import CompileError
    from ..program.module import Module
    from .document import Document

    Arguments = Sequence[Any] | Callable[[Module], Sequence[Any] | None] | None

BLOCKS = 1
"""Of each launch, that run if nothing is said: enough to see what accesses cost."""


class Explanation:
    """What is known of a program.

    ``document`` has all of it, as docs/explain.md describes; everything else is made of that.
    """

    def __init__(
        self, document: Document, module: Module | None, error: CompileError | None = None
    ) -> None:
        self.document = document
        self.error = error
        """Why the program is refused, as :func:`pipeline.compile` raises it; None if it is not."""
        self._module = module

    @property
    def module(self) -> Module:
        """The program itself, as compiled by :func:`pipeline.compile`.

        Raises CompileError if it is refused: what is known of it is not for being run.
        """
        if self.error is not None:
            raise self.error
        assert self._module is not None
        return self._module

    def to_json(self) -> dict[str, Any]:
        """Return the document as ``json`` can write it; ``schema.json`` describes it."""
        from ..records.findings import to_json

        data: dict[str, Any] = to_json(self.document)
        return data

    def json(self) -> str:
        """Return the document as text."""
        return json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"

    def html(self) -> str:
        """Return a page that needs nothing but a browser. Raises ToolError without Jinja2."""
        from .rendering import render

        return render(self.to_json())

    def remarks(self) -> str:
        """Return the decisions as the YAML that LLVM's viewers of remarks read."""
        from .remark_records import write_remarks

        return write_remarks(self.document.decisions)


def explain(
    source: str | Path,
    *,
    arguments: Arguments = None,
    assemble: bool = True,
    emulate: bool = True,
    blocks: int = BLOCKS,
    seed: int = 0,
    command: str = "",
    **options: Unpack[ProgramOptions],
) -> Explanation:
    """Compile a program, and tell what became of it and why; or why it is refused.

    source, and options (chip, schedule, kernel, block, grid, sync, numerics, memory_options,
        clang_options): as for :func:`pipeline.compile`.
    arguments: what the program is run on, or the kernel that is named, or a function that returns
        it for the module. Default: random values of `seed`, where shapes tell how many.
    assemble: have ptxas and nvdisasm tell registers and machine code, as far as they are installed.
    emulate: run the program on the emulator, for what accesses cost and for races.
    blocks: how many of each launch are run; 0 is all.
    command: what the report says that it was made by.

    Of a program that is refused the document tells how far it came, or, if its threads race or may
    hang at a barrier, all the same as of others; ``error`` is why.

    Raises what :func:`pipeline.compile` raises of a program that cannot be read, and of options
    that make no sense. What cannot be found out is said in the document.
    """
    explained = compile_as_far(source, **options)
    # Loading these takes as long as compiling; whoever waits for that can do it meanwhile.
    from .collecting import Collector, collect_texts
    from .machine_code import make_machine_code
    from .running import emulate as run_on_emulator

    told = _describe_options(explained, options)
    if isinstance(explained, Refused):
        from .refusing import collect_refused

        return Explanation(collect_refused(explained, command, told), None, explained.refusal)
    module = explained.module
    with ThreadPoolExecutor(3) as beside:
        # ptxas and nvdisasm are processes of their own. Texts are compared while these, the
        # emulator and the proofs go on.
        made = (
            beside.submit(make_machine_code, explained.located_ptx, module.chip)
            if assemble
            else None
        )
        facts = beside.submit(explained.find)
        values = arguments(module) if callable(arguments) else arguments
        kernel = options.get("kernel", "")
        emulation = (
            beside.submit(run_on_emulator, module, values, kernel=kernel, seed=seed, blocks=blocks)
            if emulate
            else None
        )
        texts = collect_texts(explained)
        collector = Collector(
            explained, texts, facts.result(), emulation.result() if emulation else None
        )
        document = collector.collect(made.result() if made else None, command, told)
    return Explanation(document, module, explained.refusal)


def _describe_options(explained: Explained | Refused, options: ProgramOptions) -> dict[str, str]:
    """Return what the report says of the options, defaults that matter included."""
    request = explained.request
    given: Mapping[str, Any] = {
        **{name: options.get(name) for name in ("kernel", "block", "grid")},
        **{name: getattr(request, name) for name in ("sync", "numerics", "memory_options")},
        "schedule": request.schedule[1] if request.schedule else options.get("schedule"),
    }
    return {name: str(value) for name, value in given.items() if value not in ("", None)}
