"""Register pressure: the registers of PTX that are live at each source line.

ptxas allocates, schedules and rematerializes: this is an estimate from virtual registers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.explain.ptx_functions import ptx_functions
from tilewright.explain.report import Pressure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.explain.report import LevelText

SHOWN: Final = 8
MAX_INSTRUCTIONS: Final = 60_000
"""Larger kernels are left out: liveness is a fixed point over all instructions."""
_REGISTER: Final = re.compile(r"%(?:rd|rs|rq|r|fd|f|h|p)\d+")
_DECLARATION: Final = re.compile(r"\.reg\s+\.(\w+)\s+%(\w+?)<\d+>")
_LABEL: Final = re.compile(r"^(\$?[\w$]+):")
_TARGET: Final = re.compile(r"\bbra(?:\.uni)?\s+(\$?[\w$]+)")
_GUARD: Final = re.compile(r"^@!?%p\d+\s+")
_NO_RESULT: Final = (
    "st.", "red.", "bra", "ret", "bar", "cp.", "prefetch", "fence", "membar", "mbarrier.inval",
    "mbarrier.init", "mbarrier.expect", "wgmma.fence", "wgmma.commit", "wgmma.wait", "setmaxnreg",
    "stmatrix", "tensormap", "trap", "exit", "nanosleep", "griddepcontrol", "discard", "brkpt",
)  # fmt: skip
_WORD: Final = {"b64": 2, "u64": 2, "s64": 2, "f64": 2, "b128": 4, "pred": 0}
"""Registers of 32 bits that a type takes, if not one."""


class _Instruction:
    __slots__ = ("defs", "falls", "line", "target", "uses")

    def __init__(self, line: int, defs: int, uses: int, target: str, falls: bool) -> None:
        self.line = line
        self.defs = defs
        self.uses = uses
        self.target = target
        self.falls = falls


def pressure_of(ptx: LevelText, kernel: str) -> list[Pressure]:
    """The source lines of a kernel at which most registers are live, the highest first."""
    bodies = [each for each in ptx_functions(ptx.lines) if each.name == kernel]
    if not bodies:
        return []
    start, end = bodies[0].start, bodies[0].end
    numbers: dict[str, int] = {}
    code, labels, widths = _read(ptx.lines, start, end, numbers)
    if not code or len(code) > MAX_INSTRUCTIONS:
        return []
    by_width: dict[int, int] = {}
    for name, number in numbers.items():
        width = widths.get(name.rstrip("0123456789").removeprefix("%"), 1)
        by_width[width] = by_width.get(width, 0) | 1 << number
    highest: dict[int, int] = {}
    for instruction, live in zip(code, _live(code, labels), strict=True):
        count = _weigh(live, by_width)
        for position in ptx.links[instruction.line][:1]:
            highest[position] = max(highest.get(position, 0), count)
    ordered = sorted(highest.items(), key=lambda each: (-each[1], each[0]))
    return [Pressure(registers, position) for position, registers in ordered[:SHOWN]]


def _read(
    lines: Sequence[str], start: int, end: int, numbers: dict[str, int]
) -> tuple[list[_Instruction], dict[str, int], dict[str, int]]:
    """The instructions of a kernel, its labels, and the width of each kind of register."""
    code: list[_Instruction] = []
    labels: dict[str, int] = {}
    widths: dict[str, int] = {}
    for number in range(start, end):
        line = lines[number].strip()
        if match := _DECLARATION.match(line):
            widths[match[2]] = _WORD.get(match[1], 1)
        elif match := _LABEL.match(line):
            labels[match[1]] = len(code)
        elif line and not line.startswith((".", "//", "{", "}", ")", "(")):
            code.append(_instruction(number, line, numbers))
    return code, labels, widths


def _instruction(number: int, line: str, numbers: dict[str, int]) -> _Instruction:
    guard = _GUARD.match(line)
    text = line[guard.end() :] if guard else line
    opcode, _, operands = text.partition(" ") if "\t" not in text else text.partition("\t")
    names = _REGISTER.findall(operands)
    defined: list[str] = []
    if not text.startswith(_NO_RESULT):
        head = operands.strip()
        first = head[: head.index("}")] if head.startswith("{") and "}" in head else ""
        defined = _REGISTER.findall(first or head.partition(",")[0])
    # An accumulator is read and written.
    reads = names if opcode.startswith(("wgmma", "mma")) else names[len(defined) :]
    used = [*reads, *(_REGISTER.findall(guard[0]) if guard else ())]
    # A guarded instruction keeps what its registers held.
    used += defined if guard else []
    target = match[1] if (match := _TARGET.search(text)) else ""
    falls = guard is not None or not text.startswith(("bra", "ret", "exit", "trap"))
    return _Instruction(number, _mask(defined, numbers), _mask(used, numbers), target, falls)


def _mask(names: Sequence[str], numbers: dict[str, int]) -> int:
    mask = 0
    for name in names:
        mask |= 1 << numbers.setdefault(name, len(numbers))
    return mask


def _live(code: list[_Instruction], labels: dict[str, int]) -> list[int]:
    """The registers that are live before each instruction, as masks."""
    before = [0] * (len(code) + 1)
    changed = True
    while changed:
        changed = False
        for number in range(len(code) - 1, -1, -1):
            each = code[number]
            after = before[number + 1] if each.falls else 0
            if each.target:
                after |= before[labels.get(each.target, len(code))]
            live = after & ~each.defs | each.uses
            if live != before[number]:
                before[number] = live
                changed = True
    return before[:-1]


def _weigh(mask: int, by_width: dict[int, int]) -> int:
    """The registers of 32 bits of a set; `by_width` has the virtual registers of each width."""
    return sum(width * (mask & members).bit_count() for width, members in by_width.items())
