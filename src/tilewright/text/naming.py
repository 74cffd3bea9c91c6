"""Names of SSA values: numbers, or hints of operations, made unique as in MLIR."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tilewright.text.aliases import sanitized

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value

_MAX_REMEMBERED: Final = 1 << 12

_identifiers: dict[str, str] = {}
"""A cache of the identifiers made from hints."""


class _Known(dict["Value", str]):
    """Names by value; values from outside of the root, which only invalid IR uses, have none."""

    def __missing__(self, value: Value) -> str:
        return "<<UNKNOWN SSA VALUE>>"


class Names:
    """The name of every value inside an operation.

    Numbers, argument numbers and suffixes count on from the enclosing region, and start again
    from there in its next child; a name is taken in its region and in all regions inside.
    """

    __slots__ = ("_argument", "_conflict", "_hinted", "_number", "_style", "_taken", "lefts", "of")

    def __init__(self, root: Operation, style: str, hinted: bool) -> None:
        """Assign the names; `hinted` is whether to use hints, which the generic form does not."""
        self.of: dict[Value, str] = _Known()
        """The text of a value as an operand: `%0`, `%name`, `%pack#1`."""
        self.lefts: dict[Operation, str] = {}
        """The text left of `=` of operations with several results."""
        self._style = style
        self._hinted = hinted
        self._taken: dict[str, None] = {}
        self._number: int = 0
        self._argument: int = 0
        self._conflict: int = 0
        if root.results:
            self._results(root, root.result_names(style) if hinted else ())
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
        names = self.of
        for argument in block.args:
            if argument in names:
                continue
            if is_entry:
                names[argument] = self._fresh(f"arg{self._argument}")
                self._argument += 1
            else:
                names[argument] = self._fresh("")
        style, hinted = self._style, self._hinted
        op = block.first
        while op is not None:
            results = op.results
            hints = op.result_names(style) if hinted and results else ()
            if len(results) == 1:
                first = ""
                for _, hint in hints:
                    first = hint
                names[results[0]] = self._fresh(first)
            elif results:
                self._results(op, hints)
            if op.regions:
                inner += op.regions
            op = op.next

    def _results(self, op: Operation, hints: Iterable[tuple[int, str]]) -> None:
        count = len(op.results)
        heads: dict[int, str] = {}
        for index, hint in hints:
            heads[index] = self._fresh(hint)
        if 0 not in heads and count:
            heads[0] = self._fresh("")
        if count == 1:
            self.of[op.results[0]] = heads[0]
            return
        if len(heads) == count:
            self.of.update([(op.results[index], name) for index, name in heads.items()])
            self.lefts[op] = ", ".join([heads[index] for index in range(count)])
            return
        starts = sorted(heads)
        lefts: list[str] = []
        for start, end in zip(starts, [*starts[1:], count], strict=True):
            lefts.append(self._group(op, heads[start], start, end))
        self.lefts[op] = ", ".join(lefts)

    def _group(self, op: Operation, head: str, start: int, end: int) -> str:
        """Name the results of a group after the first one; return the text left of `=`."""
        size = end - start
        if size == 1:
            self.of[op.results[start]] = head
            return head
        for index in range(size):
            self.of[op.results[start + index]] = f"{head}#{index}"
        return f"{head}:{size}"

    def _fresh(self, hint: str) -> str:
        """Return a unique name with `%` from a hint, or the next number without one."""
        if not hint:
            self._number += 1
            return f"%{self._number - 1}"
        name = _identifiers.get(hint)
        if name is None:
            name = _identifier(hint)
        taken = self._taken
        if name in taken:
            stem, number = name, self._conflict
            while name in taken:
                name = f"{stem}_{number}"
                number += 1
            self._conflict = number
        taken[name] = None
        return f"%{name}"


def _identifier(hint: str) -> str:
    if len(_identifiers) >= _MAX_REMEMBERED:
        _identifiers.clear()
    name = _identifiers[hint] = sanitized(hint)
    return name
