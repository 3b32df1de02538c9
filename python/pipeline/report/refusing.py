"""Programs that are refused: why, and how far they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .decisions import list_choices, list_decisions
from .differences import list_changes
from .document import FORMAT, VERSION, Document, Fault, Note, Refusal, Statement
from .lines import LineTable
from .provenance import describe_provenance
from .trust import OPEN

if TYPE_CHECKING:
    from ..compiling.explaining import Refused
    from ..errors import CompileError


def describe_refusal(error: CompileError, table: LineTable, *, is_compiled: bool) -> Refusal:
    """Return why a program is refused; `is_compiled` if not for the proof it would not be."""
    return Refusal(
        stage=error.stage,
        text=str(error),
        faults=tuple(
            Fault(
                message=one.message,
                place=table.place(one.location),
                notes=tuple(Note(note.message, table.place(note.location)) for note in one.notes),
            )
            for one in error.diagnostics
            if one.severity == "error"
        ),
        is_compiled=is_compiled,
    )


def collect_refused(refused: Refused, command: str, options: Mapping[str, str]) -> Document:
    """Return the document of a program that does not compile: what there is up to the failure."""
    program, request, reached = refused.program, refused.request, refused.reached
    table = LineTable(program.name, {})
    texts = {"source": program.text}
    if reached.schedule is not None:
        texts["transform"] = reached.schedule
    texts |= reached.texts
    stage = refused.refusal.stage
    reason = f"the compilation ends in stage {stage}"
    choices = list_choices(refused.chooser, table)
    return Document(
        format=FORMAT,
        version=VERSION,
        program=program.name,
        refusal=describe_refusal(refused.refusal, table, is_compiled=False),
        stages=tuple(table.stage(name, text.rstrip("\n")) for name, text in texts.items()),
        passes=list_changes(reached.snapshots),
        kernels=(),
        decisions=list_decisions(reached.remarks, table),
        choices=choices,
        statements=(Statement(OPEN, "", f"nothing is known: {reason}", "the compiler"),),
        provenance=describe_provenance(
            program.text, "", command=command, chip=request.chip or "", options=options
        ),
        missing={"sass": reason} | ({} if choices else {"choices": reason}),
    )
