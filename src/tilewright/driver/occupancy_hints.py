"""The hint `occupancy` of kernels that spill with it: relaxed until ptxas has enough registers.

The blocks of an SM share its registers, and only ptxas knows how many a kernel takes. So a kernel
that spills under the hint is compiled again with a lower one, or without it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.hints import DEFAULT, hint
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nvvm.attribute_names import MINCTASM, REQNTID
from tilewright.ir.attributes import DenseArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from tilewright.ir.traits import SYMBOL_TABLE
from tilewright.ir.types import I64
from tilewright.support.remark_catalogue import OCCUPANCY_RELAXED
from tilewright.support.remarks import Remark
from tilewright.target.arch import REGISTER_BYTES, registers_per_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.emit.cubin import Cubin
    from tilewright.ir.operation import Operation
    from tilewright.target.arch import Arch

HINTS: Final = "optimization_hints"
OCCUPANCY: Final = "occupancy"
PTXAS: Final = "ptxas"


class Limit(NamedTuple):
    """For how many blocks on an SM ptxas limits the registers of a kernel."""

    blocks: int
    threads: int
    """The threads of a block."""

    @staticmethod
    def of(op: Operation) -> Limit | None:
        """That of a kernel at the last level; None for other operations."""
        blocks, extents = op.attributes.get(MINCTASM), op.attributes.get(REQNTID)
        if not isinstance(blocks, IntegerAttr) or not isinstance(extents, DenseArrayAttr):
            return None
        return Limit(blocks.value, prod(map(int, extents.values)))

    def registers(self, blocks: int) -> int:
        """The registers of a thread for some blocks."""
        return registers_per_thread(self.threads * blocks)

    def fitting(self, registers: int, most: int) -> int:
        """How many blocks, up to `most`, have these registers for a thread; at least one."""
        while most > 1 and self.registers(most) < registers:
            most -= 1
        return most


class OccupancyHints:
    """The hints `occupancy` of a program, and what remains of them after its compilations."""

    __slots__ = ("_arch", "_asked", "_left", "_spills")

    def __init__(self, program: Operation, arch: Arch) -> None:
        self._arch = arch.name
        asked = {kernel.sym_name: _occupancy(kernel, arch.name) for kernel in _kernels(program)}
        self._asked = {name: number for name, number in asked.items() if number > 1}
        self._left = dict(self._asked)
        """The present hint of each kernel: 1 if it is left out."""
        self._spills: dict[str, int] = {}
        """The bytes that a thread of each relaxed kernel stored with the hint before."""

    def __bool__(self) -> bool:
        return any(number > 1 for number in self._left.values())

    def limited(self, lowered: Operation) -> dict[str, Limit]:
        """The kernels whose threads have fewer registers for their hints, by name.

        `lowered` is the program at the last level, with the occupancy that passes have left.
        """
        limits: dict[str, Limit] = {}
        for op in lowered.walk():
            limit, name = Limit.of(op), op.attributes.get("sym_name")
            if limit is not None and isinstance(name, StringAttr):
                limits[name.value] = limit
        return {
            name: limit
            for name, limit in limits.items()
            if self._left.get(name, 1) > 1 and limit.registers(limit.blocks) < limit.registers(1)
        }

    def relax(self, cubin: Cubin, limited: Mapping[str, Limit]) -> bool:
        """Lower the hints of limited kernels that spill; whether there are any."""
        spilling = {
            name: (limit, cubin.entries[name])
            for name, limit in limited.items()
            if cubin.entries[name].spill_stores
            # Where an SM has too few threads for the blocks, ptxas ignores the limit.
            and cubin.entries[name].registers <= limit.registers(limit.blocks)
        }
        for name, (limit, resources) in spilling.items():
            needed = resources.registers + -(-resources.stack // REGISTER_BYTES)
            # A second estimate that is too high costs more time than one that is too low.
            most = limit.blocks // 2 if name in self._spills else limit.blocks - 1
            self._left[name] = limit.fitting(needed, most)
            self._spills[name] = resources.spill_stores
        return bool(spilling)

    def apply(self, program: Operation) -> None:
        """Replace the hints of a program by what remains of them."""
        for kernel in _kernels(program):
            if kernel.sym_name in self._spills:
                _give(kernel, self._arch, self._left[kernel.sym_name])

    def remarks(self, program: Operation) -> Iterator[Remark]:
        """Report each hint that was relaxed."""
        for kernel in _kernels(program):
            name = kernel.sym_name
            if name not in self._spills:
                continue
            asked, left = str(self._asked[name]), str(self._left[name])
            spills = str(self._spills[name])
            yield Remark(
                OCCUPANCY_RELAXED,
                f"Occupancy {asked} relaxed to {left}",
                PTXAS,
                name,
                kernel.location,
                f"above it, a thread spills {spills} bytes",
                (("Asked", asked), ("Occupancy", left), ("SpillStores", spills)),
            )


def _kernels(program: Operation) -> Iterator[EntryOp | FuncOp]:
    """The kernels of a program at a tile level."""
    for block in [block for region in program.regions for block in region.blocks]:
        for op in block:
            if isinstance(op, EntryOp | FuncOp):
                yield op
            elif SYMBOL_TABLE in op.traits:
                yield from _kernels(op)


def _occupancy(kernel: EntryOp | FuncOp, arch: str) -> int:
    """The blocks of an SM that a kernel asks for; 1 if it does not."""
    if isinstance(kernel, FuncOp):
        asked = None if kernel.kernel_spec is None else kernel.kernel_spec.occupancy
    else:
        hints = kernel.attributes.get(HINTS)
        given = hints if isinstance(hints, OptimizationHintsAttr) else None
        asked = hint(given, arch, OCCUPANCY)
    return asked or 1


def _give(kernel: EntryOp | FuncOp, arch: str, occupancy: int) -> None:
    """Replace the hint of a kernel; 1 leaves it out, so that the compiler chooses."""
    if isinstance(kernel, FuncOp):
        spec = kernel.kernel_spec
        assert spec is not None
        number = occupancy if occupancy > 1 else None
        kernel.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, spec.num_warps, number)
        return
    hints = kernel.attributes[HINTS]
    assert isinstance(hints, OptimizationHintsAttr)
    entries = dict(hints.entries.entries)
    for key in (arch, DEFAULT):
        entry = entries.get(key)
        if isinstance(entry, DictionaryAttr):
            others = dict(entry.entries)
            others.pop(OCCUPANCY, None)
            if occupancy > 1:
                others[OCCUPANCY] = IntegerAttr(occupancy, I64)
            entries[key] = DictionaryAttr(others)
    kernel.attributes[HINTS] = OptimizationHintsAttr(entries)
