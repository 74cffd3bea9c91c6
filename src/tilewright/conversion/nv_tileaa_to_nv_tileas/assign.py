"""Layout assignment: one layout for each class of tiles, by what its members cost in others.

Accesses to memory and products know the layouts that suit them. A class takes that of its
heaviest member; one without such members takes what reaches it through changes of shape; what
nothing reaches is spread evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.axis import AxisFacts
from tilewright.conversion.nv_tileaa_to_nv_tileas.classes import REARRANGEMENTS, Classes, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.natural import (
    Access,
    accessed,
    natural,
    settled,
)
from tilewright.conversion.nv_tileaa_to_nv_tileas.products import Product, choose_product
from tilewright.conversion.nv_tileaa_to_nv_tileas.warpgroup_accesses import (
    factor_access,
    sums_access,
)
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import aggregate, shape
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.view import TileStoreOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.types import memory_bits
from tilewright.layout.packing import BYTE, unpacked
from tilewright.layout.spread import spread

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch

LOOP_WEIGHT: Final = 8
"""How often a loop is taken to run."""
PRODUCT_WEIGHT: Final = 64
"""An access weighs as much as its elements have bytes; a product in another layout than its
own would move its operands each time."""

LINKS: Final = (*REARRANGEMENTS, aggregate.ReduceOp, shape.PackOp, shape.UnpackOp)
"""Through what layouts reach other classes."""


class Assignment:
    """The layouts of all tiles of a function, and how its memory is accessed."""

    __slots__ = ("_layouts", "accesses", "classes", "products", "warps")

    def __init__(self, function: Operation, arch: Arch, warps: int) -> None:
        self.warps = warps
        self.classes = Classes(function)
        self.accesses: dict[Operation, Access] = {}
        self.products: dict[Operation, Product] = {}
        self._layouts: dict[Value, Layout] = {}
        for op in function.walk():
            if isinstance(op, DotOp):
                self.products[op] = choose_product(op, arch, warps)
        votes = self._votes(function)
        for kind, layouts in votes.items():
            self._layouts[kind] = max(layouts, key=lambda layout: layouts[layout])
        self._settle()
        self._store_sums()
        self._spread_through_shapes(function)

    def layout(self, value: Value) -> Layout:
        """The layout of a tile's class; a flexible one is spread evenly."""
        if self.classes.is_flexible(value):
            return spread(extents(value.type), self.warps)
        kind = self.classes.of(value)
        found = self._layouts.get(kind)
        if found is None:
            found = self._layouts[kind] = spread(extents(value.type), self.warps)
        return found

    def _settle(self) -> None:
        """Let accesses of one class agree: a narrower access costs less than another layout."""
        plain = {(access.layout, access.dim) for access in self.accesses.values()}
        for op, access in self.accesses.items():
            tile = accessed(op)
            if tile is None or self.classes.is_flexible(tile):
                continue
            chosen = self._layouts[self.classes.of(tile)]
            if (chosen, access.dim) in plain:
                self.accesses[op] = settled(access, chosen)

    def _store_sums(self) -> None:
        """Let sums of warpgroups be stored from where they are, if that is as good."""
        sums = {each.total for each in self.products.values() if each.atom is Atom.WGMMA}
        for op, access in self.accesses.items() if sums else ():
            chosen = self._made_in(op) if isinstance(op, TileStoreOp) else None
            if isinstance(op, TileStoreOp) and chosen is not None and chosen in sums:
                found = sums_access(access, op.tile, chosen)
                if found is not access:
                    self.accesses[op] = found
                    self._layouts[self.classes.of(op.tile)] = found.layout

    def _made_in(self, op: TileStoreOp) -> Layout | None:
        """The layout of what is stored before its last change of shape; none if that is open."""
        source = op.tile
        made = source.defining_op()
        if isinstance(made, shape.ViewOp | shape.ExpandDimsOp):
            source = made.source
        if self.classes.is_flexible(source):
            return None
        return self._layouts.get(self.classes.of(source))

    def _votes(self, function: Operation) -> dict[Value, dict[Layout, int]]:
        votes: dict[Value, dict[Layout, int]] = {}
        facts: AxisFacts | None = None
        for op in function.walk():
            product = self.products.get(op)
            if product is not None:
                self._vote(votes, op, op.results[0], product.total, PRODUCT_WEIGHT)
            tile = accessed(op)
            if tile is not None and is_tile(tile):
                facts = facts or AxisFacts(function)
                access = natural(op, tile, self.warps, facts)
                if op.results and self.products:
                    access = factor_access(tile, access, self.products, self.warps)
                self.accesses[op] = access
                self._vote(votes, op, tile, access.layout, pointee_bytes(element_of(tile.type)))
        return votes

    def _vote(
        self,
        votes: dict[Value, dict[Layout, int]],
        op: Operation,
        tile: Value,
        layout: Layout,
        weight: int,
    ) -> None:
        if self.classes.is_flexible(tile):
            return
        depth = sum(isinstance(outer, ForOp | WhileOp) for outer in op.ancestors())
        layouts = votes.setdefault(self.classes.of(tile), {})
        cost = count(tile.type) * weight * LOOP_WEIGHT**depth
        layouts[layout] = layouts.get(layout, 0) + cost

    def _spread_through_shapes(self, function: Operation) -> None:
        """Carry layouts over to what is the same tile in another shape, until nothing changes."""
        links = [op for op in function.walk() if isinstance(op, LINKS)]
        changed = True
        while changed:
            changed = any([self._carry(op) for op in links])

    def _carry(self, op: Operation) -> bool:
        source, result = op.operands[0], op.results[0]
        if not is_tile(result) or self.classes.is_flexible(source):
            return False
        before = self._layouts.get(self.classes.of(source))
        after = self._layouts.get(self.classes.of(result))
        if before is not None and after is None:
            found = forward(op, before)
            if found is not None:
                self._layouts[self.classes.of(result)] = found
                return True
        elif before is None and after is not None:
            found = backward(op, after)
            if found is not None:
                self._layouts[self.classes.of(source)] = found
                return True
        return False


def forward(op: Operation, layout: Layout) -> Layout | None:
    """The layout that a result gets for nothing from a source in a layout, if there is one."""
    wanted = extents(op.results[0].type)
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return layout.reshape(wanted)
        case shape.PermuteOp():
            return layout.permute(op.order)
        case aggregate.ReduceOp():
            return layout.drop(op.axis).distinct_registers()
        case shape.UnpackOp() if (bits := memory_bits(element_of(op.result.type))) < BYTE:
            return unpacked(layout, bits)
        case _:
            return None


def backward(op: Operation, layout: Layout) -> Layout | None:
    """The layout of the source from which a result in a layout comes for nothing."""
    wanted = extents(op.operands[0].type)
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return layout.reshape(wanted)
        case shape.PermuteOp():
            return layout.permute([op.order.index(dim) for dim in range(len(op.order))])
        case shape.BroadcastOp():
            return layout.resize(wanted).distinct_registers()
        case shape.PackOp() if (bits := memory_bits(element_of(op.source.type))) < BYTE:
            return unpacked(layout, bits)
        case _:
            return None
