"""The types of tiles with layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import operand_layouts
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import laid_out, maybe_layout_of
from tilewright.ir.attributes import Type
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.ir.type_converter import Converted
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def layout_types(assignment: LayoutAssignment) -> TypeConverter:
    """A type converter that gives each tile the layout in which it is defined.

    The layout depends on the value, not on its type. A rematerializable tile is converted to no
    value at all: each use computes it in the layout that it requires; see `LayoutValues`.
    """

    def tile_type(value: Value) -> Converted:
        if maybe_layout_of(value) is not None:
            return value.type
        if assignment.classes.is_rematerializable(value):
            return ()
        layout = _defined_layout(value, assignment)
        return None if layout is None else laid_out(element_of(value.type), layout)

    types = TypeConverter()
    types.keep(Type)
    types.add_for_values(TensorType, tile_type)
    return types


def _defined_layout(value: Value, assignment: LayoutAssignment) -> Layout | None:
    op = value.defining_op()
    if op is None:
        return assignment.layout(value)
    return operand_layouts(op, assignment).results[value.index]
