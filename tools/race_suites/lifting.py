"""Variables of a CUDA module as arguments of its kernels.

The emulator refuses variables that kernels write, which outlive a launch. Suites have one launch,
so nothing is lost if a kernel is given them as memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_VARIABLE = re.compile(
    r"^(?:static\s+)?__device__\s+(?P<type>(?:(?:unsigned|signed|const|volatile|struct)\s+)*"
    r"\w+(?:\s+(?:int|long|char))*)\s+(?P<name>\w+)\s*(?P<dims>(?:\[[^\]]*\]\s*)*)"
    r"(?:=\s*(?P<value>-?\d+)u?\s*)?;",
    re.M,
)
_KERNEL = re.compile(
    r"__global__[^;{}()]*?\b\w+\s*\((?P<parameters>[^(){};]*)\)(?=(?:\s|//[^\n]*\n)*\{)"
)


@dataclass(frozen=True, slots=True)
class Lifted:
    """A program whose kernels take variables behind their arguments; the numbers these begin with.

    Its lines are those of the original.
    """

    text: str
    values: tuple[int, ...]


def lift_variables(text: str) -> Lifted:
    """Make arguments of the module's variables, behind the kernels' own, which are at their ends.

    A function of the device that names a variable does not compile then.
    """
    variables = list(_VARIABLE.finditer(text))
    parameters = [
        f"{it['type']} (*{it['name']}_variable){it['dims'].strip()} = nullptr" for it in variables
    ]

    def declare(match: re.Match[str]) -> str:
        return f"#define {match['name']} (*{match['name']}_variable)" + "\n" * match[0].count("\n")

    def extend(match: re.Match[str]) -> str:
        own = match["parameters"].strip()
        given = ", ".join([*([own] if own not in ("", "void") else []), *parameters])
        begin, end = (place - match.start() for place in match.span("parameters"))
        return match[0][:begin] + given + match[0][end:]

    text = _KERNEL.sub(extend, text) if variables else text
    return Lifted(_VARIABLE.sub(declare, text), tuple(int(it["value"] or 0) for it in variables))
