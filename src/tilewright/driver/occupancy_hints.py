"""The occupancy of kernels that spill with it: relaxed until ptxas has enough registers.

The blocks of an SM share its registers and its memory, and only ptxas knows how many registers a
kernel takes. So a kernel that spills under the hint `occupancy` is compiled again with a lower one,
or without it; and so is one for which passes chose how many blocks are to be resident.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.hints import DEFAULT, hint
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY, Request
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nvvm.attribute_names import MINCTASM, REQNTID
from tilewright.ir.attributes import DenseArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from tilewright.ir.traits import SYMBOL_TABLE
from tilewright.ir.types import I64
from tilewright.schedule.registers import fitting_blocks
from tilewright.support.remark_catalogue import OCCUPANCY_RELAXED
from tilewright.support.remarks import Remark
from tilewright.support.schedule_keys import ENTRY
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.ir.operation import Operation
    from tilewright.target.arch import Arch

HINTS: Final = "optimization_hints"
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


class OccupancyHints:
    """The occupancy that each kernel of a program asks for, and what remains of it.

    Where kernels ask for none, passes may choose one.
    """

    __slots__ = ("_arch", "_asked", "_first", "_left", "_spills")

    def __init__(self, program: Operation, arch: Arch) -> None:
        self._arch = arch.name
        self._asked = {
            kernel.sym_name: _occupancy(kernel, arch.name) for kernel in _kernels(program)
        }
        """The hint of each kernel; 0 without one."""
        self._first: dict[str, int] = {}
        """The occupancy of each relaxed kernel in the first compilation."""
        self._left: dict[str, int] = {}
        """The present hint of each relaxed kernel; 0 if it is left out."""
        self._spills: dict[str, int] = {}
        """The bytes that a thread of each relaxed kernel stored before."""

    def limit(self, lowered: Operation) -> bool:
        """Whether the compilation depends on whether a kernel spills under its hint.

        `lowered` is the program at the last level.
        """
        return any(self._asked.get(name, 0) > 0 for name, _ in _limits(lowered))

    def relax(self, cubin: Cubin, lowered: Operation) -> bool:
        """Lower the occupancy of kernels that spill for want of registers; whether there are any.

        `lowered` is the program at the last level, with the occupancy that passes have left.
        """
        if not any(resources.spill_stores for resources in cubin.entries.values()):
            return False
        relaxed = False
        for name, limit in _limits(lowered):
            resources = cubin.entries.get(name)
            if name not in self._asked or resources is None:
                continue
            # Also where an SM has too few threads for the blocks, ptxas saves registers.
            if resources.spill_stores:
                self._lower(name, limit, resources)
                relaxed = True
        return relaxed

    def _lower(self, name: str, limit: Limit, resources: Resources) -> None:
        needed = resources.registers + -(-resources.stack // REGISTER_BYTES)
        # A second estimate that is too high costs more time than one that is too low.
        most = limit.blocks // 2 if name in self._left else limit.blocks - 1
        fitting = fitting_blocks(limit.threads, needed, most)
        is_asked = self._left.get(name, self._asked[name]) > 0
        self._left[name] = 0 if fitting == 1 and is_asked else fitting
        self._first.setdefault(name, self._asked[name] or limit.blocks)
        self._spills[name] = resources.spill_stores

    def apply(self, program: Operation) -> None:
        """Replace the hints of a program by what remains of them."""
        for kernel in _kernels(program):
            if kernel.sym_name in self._left:
                _give(kernel, self._arch, self._left[kernel.sym_name])

    def remarks(self, program: Operation) -> Iterator[Remark]:
        """Report each kernel whose occupancy was relaxed."""
        for kernel in _kernels(program):
            name = kernel.sym_name
            if name not in self._left:
                continue
            first, left = str(self._first[name]), str(max(self._left[name], 1))
            spills = str(self._spills[name])
            yield Remark(
                OCCUPANCY_RELAXED,
                f"Occupancy {first} relaxed to {left}",
                PTXAS,
                name,
                kernel.location,
                f"above it, a thread spills {spills} bytes",
                (("Asked", first), ("Occupancy", left), ("SpillStores", spills)),
            )


def _symbols(program: Operation) -> Iterator[Operation]:
    """The operations of a program and of the modules in it, without those inside of functions."""
    for block in [block for region in program.regions for block in region.blocks]:
        for op in block:
            if SYMBOL_TABLE in op.traits:
                yield from _symbols(op)
            else:
                yield op


def _kernels(program: Operation) -> Iterator[EntryOp | FuncOp]:
    """The kernels of a program at a tile level."""
    for op in _symbols(program):
        if isinstance(op, EntryOp) or (isinstance(op, FuncOp) and op.is_kernel):
            yield op


def _limits(lowered: Operation) -> Iterator[tuple[str, Limit]]:
    """The kernels of which several blocks are to fit on an SM.

    They may spill for it even where each thread has all registers that one block would have: with
    less shared memory for each block, a pipeline has fewer stages, and takes more registers.
    """
    for op in _symbols(lowered):
        limit, name = Limit.of(op), op.attributes.get("sym_name")
        if limit is not None and limit.blocks > 1:
            assert isinstance(name, StringAttr)
            yield name.value, limit


def _occupancy(kernel: EntryOp | FuncOp, arch: str) -> int:
    """The blocks of an SM that a kernel asks for; 0 if it does not."""
    if isinstance(kernel, FuncOp):
        chosen = None if kernel.kernel_spec is None else kernel.kernel_spec.occupancy
        asked = chosen or kernel.asks(OCCUPANCY)
    else:
        hints = kernel.attributes.get(HINTS)
        given = hints if isinstance(hints, OptimizationHintsAttr) else None
        asked = hint(given, arch, OCCUPANCY)
    return asked or 0


def _give(kernel: EntryOp | FuncOp, arch: str, occupancy: int) -> None:
    """Replace the hint of a kernel; 0 leaves it out, so that passes may choose."""
    if isinstance(kernel, FuncOp):
        spec, asked = kernel.kernel_spec, kernel.asked
        assert spec is not None
        if asked is None or spec.occupancy is not None:
            kernel.kernel_spec = KernelSpecAttr(spec.num_ctas, spec.num_warps, occupancy or None)
        elif occupancy:
            kernel.asked = asked.with_request(Request(OCCUPANCY, occupancy, ENTRY))
        else:
            kernel.asked = asked.without(OCCUPANCY)
        return
    hints = kernel.attributes.get(HINTS)
    entries = dict(hints.entries.entries) if isinstance(hints, OptimizationHintsAttr) else {}
    entries.setdefault(arch, DictionaryAttr({}))
    for key in (arch, DEFAULT):
        entry = entries.get(key)
        if isinstance(entry, DictionaryAttr):
            others = dict(entry.entries)
            others.pop(OCCUPANCY, None)
            if occupancy:
                others[OCCUPANCY] = IntegerAttr(occupancy, I64)
            entries[key] = DictionaryAttr(others)
    kernel.attributes[HINTS] = OptimizationHintsAttr(entries)
