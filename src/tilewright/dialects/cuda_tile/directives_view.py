"""Custom assembly directives of views: their construction, and accesses to their tiles.

NVIDIA's compiler prints these operations in another order than its public tools, without the types
of indices, and with masks (decision 0004); both forms can be parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.cuda_tile.directives_memory import parse_attributes
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType, ViewType
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.types import DYNAMIC, I1, I32
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState

DIALECT: Final = "cuda_tile"


class _Extents:
    """`[%n, 64]`: static extents, and operands for the dynamic ones."""

    __slots__ = ("at", "extents", "operands")

    def __init__(self, parser: Parser) -> None:
        self.at = parser.at
        self.operands: list[int] = []

        def extent() -> int:
            if not parser.peek().startswith("%"):
                return parser.integer()
            self.operands.append(parser.operand())
            return DYNAMIC

        self.extents = tuple(parser.listed(extent, "[", "]"))

    def check(self, parser: Parser, what: str, expected: tuple[int, ...]) -> None:
        """Check the extents against those of the type."""
        if self.extents != expected:
            actual, wanted = map(_spell_extents, (self.extents, expected))
            parser.error(f"expected {what} {wanted} as the tensor_view has, got {actual}", self.at)


def _spell_extents(extents: tuple[int, ...]) -> str:
    return f"[{', '.join('?' if extent == DYNAMIC else str(extent) for extent in extents)}]"


def _parse_tensor_view(
    parser: Parser, state: ParseState, base: str, shape: str, strides: str, result: str
) -> None:
    """`%base, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<...>`.

    The type of the operands is omitted if there are none. The type of the base precedes it if
    the tensor does not determine it.
    """
    state.operands[base] = [parser.operand()]
    parser.expect(",")
    parser.expect("shape")
    parser.expect("=")
    extents = _Extents(parser)
    parser.expect(",")
    parser.expect("strides")
    parser.expect("=")
    steps = _Extents(parser)
    parse_attributes(parser, state)
    parser.expect(":")
    start = parser.at
    types = parser.listed(lambda: parser.type(DIALECT))
    tensor = parser.type(DIALECT) if parser.accept("->") else types.pop()
    if not isinstance(tensor, TensorViewType):
        parser.error(f"expected a tensor_view, got '{tensor}'", start)
    extents.check(parser, "shape", tensor.shape)
    steps.check(parser, "strides", tensor.strides)
    pointer: Type = TileType((), PtrType(tensor.element, tensor.attr))
    if types and isinstance(getattr(types[0], "element", None), PtrType):
        pointer = types.pop(0)
    operands = extents.operands + steps.operands
    if len(types) != bool(operands):
        parser.error(f"expected {int(bool(operands))} operand types, got {len(types)}", start)
    state.operand_types[base] = [pointer]
    state.result_types[result] = [tensor]
    for name, parsed in ((shape, extents), (strides, steps)):
        state.operands[name] = parsed.operands
        state.operand_types[name] = types * len(parsed.operands)


def _print_tensor_view(printer: Printer, op: Any, *fields: str) -> None:
    tensor: TensorViewType = op.result.type
    base: PtrType = op.base.type.element
    types = [op.base.type] if base.attr is not None else []
    types += [value.type for value in op.operands[1:2]]
    arrow = " -> " if types else ""
    printer.emit(
        f"{printer.value(op.base)}, "
        f"shape = [{_print_extents(printer, tensor.shape, op.dynamic_shape)}], "
        f"strides = [{_print_extents(printer, tensor.strides, op.dynamic_strides)}]"
        f"{printer.attr_dict(op)} : "
        f"{', '.join([printer.type(type, op) for type in types])}{arrow}"
        f"{printer.type(tensor, op)}"
    )


def _print_extents(printer: Printer, extents: tuple[int, ...], operands: Iterable[Value]) -> str:
    names = map(printer.value, operands)
    return ", ".join([next(names) if n == DYNAMIC else str(n) for n in extents])


def _parse_view_of_tensor(parser: Parser, state: ParseState, tensor: str, result: str) -> None:
    """Parse the type of a view, which contains that of the tensor."""
    at = parser.at
    type = parser.type(DIALECT)
    if not isinstance(type, ViewType):
        parser.error(f"expected the type of a view, got '{type}'", at)
    state.operand_types[tensor] = [type.tensor_view]
    state.result_types[result] = [type]


def _print_view_of_tensor(printer: Printer, op: Operation, tensor: str, result: str) -> None:
    printer.emit(printer.type(op.results[0].type, op))


def _parse_each_extent(parser: Parser, state: ParseState, src: str, extents: str) -> None:
    """Parse one type for all results, or one for each."""
    (source,) = state.operand_types[src]
    if isinstance(source, TensorViewType):
        rank = source.rank
    elif isinstance(source, ViewType):
        rank = source.index_rank
    else:
        parser.error(f"expected the type of a view, got '{source}'")
    start = parser.at
    types = parser.listed(lambda: parser.type(DIALECT))
    if len(types) not in (1, rank):
        parser.error(f"expected one type or {rank}, got {len(types)}", start)
    state.result_types[extents] = types * rank if len(types) == 1 else types


def _print_each_extent(printer: Printer, op: Operation, src: str, extents: str) -> None:
    types = dict.fromkeys(result.type for result in op.results) or {TileType((), I32): None}
    printed = [result.type for result in op.results] if len(types) > 1 else types
    printer.emit(", ".join([printer.type(type, op) for type in printed]))


def _parse_mask(parser: Parser, state: ParseState, mask: str) -> None:
    """Parse `, %mask`, whose type is that of the definition."""
    if parser.accept(","):
        ref = parser.operand()
        state.operands[mask] = [ref]
        state.operand_types[mask] = [parser.lookup(ref).type]


def _print_mask(printer: Printer, op: Any, mask: str) -> None:
    if op.mask is not None:
        printer.emit(f", {printer.value(op.mask)}")


def _parse_indexed(parser: Parser, state: ParseState, view: str, indices: str) -> None:
    """Parse `%view[%i, %j]`."""
    state.operands[view] = [parser.operand()]
    parser.expect("[")
    state.operands[indices] = parser.operand_list()
    parser.expect("]")


def _print_indexed(printer: Printer, op: Any) -> str:
    return f"{printer.value(op.view)}[{', '.join(map(printer.value, op.indices))}]"


def _print_loaded_tile(printer: Printer, op: Operation, *fields: str) -> None:
    printer.emit(_print_indexed(printer, op))


def _parse_stored_tile(
    parser: Parser, state: ParseState, tile: str, view: str, indices: str
) -> None:
    """Parse `%tile, %view[%i, %j]`, or the tile last."""
    tile_first = parser.tokens[parser.at + 1] == ","
    if tile_first:
        state.operands[tile] = [parser.operand()]
        parser.expect(",")
    _parse_indexed(parser, state, view, indices)
    if not tile_first:
        parser.expect(",")
        state.operands[tile] = [parser.operand()]


def _print_stored_tile(printer: Printer, op: Any, *fields: str) -> None:
    indexed, tile = _print_indexed(printer, op), printer.value(op.tile)
    first, second = (indexed, tile) if printer.style.value == "tileiras" else (tile, indexed)
    printer.emit(f"{first}, {second}")


def _parse_inbounds(parser: Parser, state: ParseState, inbounds: str) -> None:
    """Parse `inbounds = [true, false]`, omitted if none is true."""
    if not parser.accept("inbounds"):
        return
    parser.expect("=")
    flags = parser.listed(lambda: parser.integer_of(I1), "[", "]")
    state.attributes[inbounds] = DenseArrayAttr(I1, tuple(flags))


def _print_inbounds(printer: Printer, op: Any, inbounds: str) -> None:
    flags: tuple[int, ...] = getattr(op, inbounds)
    if any(flags):
        keywords = ["true" if flag else "false" for flag in flags]
        printer.emit(f" inbounds = [{', '.join(keywords)}]")


def _parse_index_types(parser: Parser, state: ParseState, indices: str) -> None:
    """Parse `, tile<i32>` for all indices, one for each, or none: the types of the definitions."""
    refs = state.operands[indices]
    if not parser.accept(","):
        state.operand_types[indices] = [parser.lookup(ref).type for ref in refs]
        return
    start = parser.at
    types = parser.listed(lambda: parser.type(DIALECT))
    if len(types) == 1:
        types *= len(refs)
    if len(types) != len(refs):
        parser.error(f"expected {len(refs)} index types, got {len(types)}", start)
    state.operand_types[indices] = types


def _print_index_types(printer: Printer, op: Any, *fields: str) -> None:
    if printer.style.value == "tileiras":
        return
    types: list[Type] = [index.type for index in op.indices]
    if len(set(types)) == 1:
        types = types[:1]
    for type in types:
        printer.emit(f", {printer.type(type, op)}")


def _parse_store_types(
    parser: Parser, state: ParseState, tile: str, view: str, indices: str
) -> None:
    """Parse the types of tile and view, in any order, and those of the indices."""
    first = parser.type(DIALECT)
    parser.expect(",")
    second = parser.type(DIALECT)
    if isinstance(first, ViewType):
        first, second = second, first
    state.operand_types[tile] = [first]
    state.operand_types[view] = [second]
    _parse_index_types(parser, state, indices)


def _print_store_types(printer: Printer, op: Any, tile: str, *fields: str) -> None:
    types = [printer.type(value.type, op) for value in (getattr(op, tile), op.view)]
    if printer.style.value == "tileiras":
        types.reverse()
    printer.emit(", ".join(types))
    _print_index_types(printer, op)


VIEWS: Final = {
    "EachExtent": Directive(_parse_each_extent, _print_each_extent),
    "Inbounds": Directive(_parse_inbounds, _print_inbounds),
    "IndexTypes": Directive(_parse_index_types, _print_index_types),
    "LoadedTile": Directive(_parse_indexed, _print_loaded_tile),
    "Mask": Directive(_parse_mask, _print_mask),
    "StoreTypes": Directive(_parse_store_types, _print_store_types),
    "StoredTile": Directive(_parse_stored_tile, _print_stored_tile),
    "TensorView": Directive(_parse_tensor_view, _print_tensor_view),
    "ViewOfTensor": Directive(_parse_view_of_tensor, _print_view_of_tensor),
}
