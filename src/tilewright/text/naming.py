"""Names of values: numbers, or the hints that operations give, made unique as MLIR does it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tilewright.text.aliases import sanitized

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value

_PLAIN: Final = re.compile(r"[A-Za-z$._-][A-Za-z0-9$._-]*")


class _Known(dict["Value", str]):
    """Names by value; a value from elsewhere has none, and only wrong programs use one."""

    def __missing__(self, value: Value) -> str:
        return "<<UNKNOWN SSA VALUE>>"


class Names:
    """The name of every value inside an operation.

    Numbers, argument numbers and suffixes count on from the enclosing region, and start again
    from there in its next child; a name is taken in its region and in all regions inside.
    """

    __slots__ = ("_argument", "_conflict", "_hinted", "_number", "_style", "_taken", "lefts", "of")

    def __init__(self, root: Operation, style: str, hinted: bool) -> None:
        """`hinted` says whether operations may name their values; the generic form does not."""
        self.of: dict[Value, str] = _Known()
        """What an operand prints as: `%0`, `%name`, `%pack#1`."""
        self.lefts: dict[Operation, str] = {}
        """What stands left of `=` for operations with several results."""
        self._style = style
        self._hinted = hinted
        self._taken: dict[str, None] = {}
        self._number: int = 0
        self._argument: int = 0
        self._conflict: int = 0
        self._op(root)
        self._number = self._argument = self._conflict = 0
        for region in root.regions:
            self._region(region)

    def _region(self, region: Region) -> None:
        counters = self._number, self._argument, self._conflict
        height = len(self._taken)
        inner: list[Region] = []
        parent = region.parent
        if self._hinted and parent is not None:
            for argument, hint in parent.block_argument_names(region, self._style):
                self.of[argument] = self._fresh(hint)
        for block in region.blocks:
            self._block(block, inner, block is region.blocks[0])
        for child in inner:
            self._region(child)
        while len(self._taken) > height:
            self._taken.popitem()
        self._number, self._argument, self._conflict = counters

    def _block(self, block: Block, inner: list[Region], is_entry: bool) -> None:
        for argument in block.args:
            if argument in self.of:
                continue
            if is_entry:
                self.of[argument] = self._fresh(f"arg{self._argument}")
                self._argument += 1
            else:
                self.of[argument] = self._fresh("")
        op = block.first
        while op is not None:
            if op.results:
                self._op(op)
            if op.regions:
                inner += op.regions
            op = op.next

    def _op(self, op: Operation) -> None:
        hints = op.result_names(self._style) if self._hinted else ()
        if hints == ():
            self._unnamed(op)
        else:
            self._named(op, hints)

    def _unnamed(self, op: Operation) -> None:
        results = op.results
        if len(results) == 1:
            self.of[results[0]] = f"%{self._number}"
        elif results:
            self._pack(op, f"%{self._number}", 0, len(results))
            self.lefts[op] = f"%{self._number}:{len(results)}"
        else:
            return
        self._number += 1

    def _named(self, op: Operation, hints: Iterable[tuple[int, str]]) -> None:
        heads = {index: self._fresh(hint) for index, hint in hints}
        if not heads:
            self._unnamed(op)
            return
        if 0 not in heads:
            heads[0] = self._fresh("")
        count = len(op.results)
        if count == 1:
            self.of[op.results[0]] = heads[0]
            return
        starts = sorted(heads)
        lefts: list[str] = []
        for start, end in zip(starts, [*starts[1:], count], strict=True):
            self._pack(op, heads[start], start, end)
            lefts.append(heads[start] if end - start == 1 else f"{heads[start]}:{end - start}")
        self.lefts[op] = ", ".join(lefts)

    def _pack(self, op: Operation, head: str, start: int, end: int) -> None:
        if end - start == 1:
            self.of[op.results[start]] = head
            return
        for index in range(start, end):
            self.of[op.results[index]] = f"{head}#{index - start}"

    def _fresh(self, hint: str) -> str:
        """A name made from a hint, with `%`; the next number if there is no hint."""
        if not hint:
            self._number += 1
            return f"%{self._number - 1}"
        name = hint if _PLAIN.fullmatch(hint) else sanitized(hint)
        taken = self._taken
        if name in taken:
            stem = name
            while name in taken:
                name = f"{stem}_{self._conflict}"
                self._conflict += 1
        taken[name] = None
        return f"%{name}"
