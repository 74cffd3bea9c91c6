"""Module structure: modules, kernels and globals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.attributes import AssumePredicate
from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import SCALAR_PTR
from tilewright.dialects.cuda_tile.debug_info import (
    function_debug_problems,
    global_debug_problems,
)
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.kinds import OPTIMIZATION_HINTS, SYMBOL_VISIBILITY
from tilewright.dialects.cuda_tile.operand_types import listed, pointer, types_of
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    ARRAY_ATTR,
    ELEMENTS_ATTR,
    I64_ATTR,
    STRING_ATTR,
    SYMBOL_ATTR,
    TYPE_ATTR,
)
from tilewright.ir.attributes import DictionaryAttr, StringAttr
from tilewright.ir.traits import (
    GRAPH_REGION,
    ISOLATED,
    NO_TERMINATOR,
    SYMBOL,
    SYMBOL_TABLE,
    Effects,
)
from tilewright.ir.types import FunctionType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import BlockArgument
    from tilewright.support.diagnostics import Diagnostic

PUBLIC_DIALECTS: Final = frozenset({"cuda_tile", "builtin"})
"""The dialects that a module may contain."""

PUBLIC_OPERATIONS: Final = frozenset({"arith.constant", "func.constant"})
"""The operations of other dialects that a module may contain."""


class ModuleOp(TileOp):
    """Define a module of kernels and globals with unique names.

    It contains only operations of Tile IR, and a few of MLIR's own dialects that front ends emit.
    """

    name = "cuda_tile.module"
    since = (13, 1)
    traits = (ISOLATED, SYMBOL_TABLE, NO_TERMINATOR, GRAPH_REGION)
    syntax = "$sym_name attr-dict-with-keyword $body"
    default_dialect = "cuda_tile"

    sym_name = d.attribute(STRING_ATTR)
    producer = d.optional_attribute(STRING_ATTR, since=(13, 3))
    body = d.region(min_blocks=0)

    def entries(self) -> Iterator[EntryOp]:
        """The kernels, in order."""
        for block in self.body.blocks:
            yield from (op for op in block if isinstance(op, EntryOp))

    def globals(self) -> Iterator[GlobalOp]:
        """The globals, in order."""
        for block in self.body.blocks:
            yield from (op for op in block if isinstance(op, GlobalOp))

    def verify_context(self) -> Iterator[str | Diagnostic]:
        for block in self.body.blocks:
            if block.args:
                yield "expected a body without arguments"
            for op in block:
                yield from _member_problems(op)


def _member_problems(op: Operation) -> Iterator[Diagnostic]:
    if isinstance(op, EntryOp):
        return
    if isinstance(op, GlobalOp):
        yield from map(op.error, global_debug_problems(op))
    elif _is_public(op):
        yield op.error("cannot stand directly in 'cuda_tile.module'")
    else:
        yield _not_public(op)


def _is_public(op: Operation) -> bool:
    return op.dialect in PUBLIC_DIALECTS or op.name in PUBLIC_OPERATIONS


def _not_public(op: Operation) -> Diagnostic:
    return op.error("is not of a public dialect, and cannot stand in a program")


class EntryOp(TileOp):
    """Define a kernel, which every tile block of a launch runs.

    The arguments are scalars: numbers, and pointers to global memory. A kernel has no results. An
    attribute of an argument that is a predicate of `assume` asserts it of the argument.
    """

    name = "cuda_tile.entry"
    since = (13, 1)
    traits = (ISOLATED, SYMBOL)
    syntax = "$sym_name `` custom<Kernel>($function_type, $arg_attrs, $hints, $body) attr-dict"
    default_dialect = "cuda_tile"

    sym_name = d.attribute(STRING_ATTR)
    function_type = d.attribute(TYPE_ATTR)
    arg_attrs = d.optional_attribute(ARRAY_ATTR, since=(13, 5))
    res_attrs = d.optional_attribute(ARRAY_ATTR)
    hints = d.optional_attribute(OPTIMIZATION_HINTS, spelling="optimization_hints")
    body = d.region(terminator="cuda_tile.return")

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        """The parameters of the kernel."""
        return self.body.block.args

    def assumptions(self) -> Iterator[tuple[int, AssumePredicate]]:
        """The predicates among the attributes of arguments, with the number of the argument."""
        for number, attributes in enumerate(self.arg_attrs or ()):
            for _, value in attributes.entries if isinstance(attributes, DictionaryAttr) else ():
                if isinstance(value, AssumePredicate):
                    yield number, value

    def verify(self) -> Iterator[str]:
        signature = self.function_type
        if not isinstance(signature, FunctionType):
            yield f"expected a function type, got '{signature}'"
            return
        yield from _attribute_problems(self.arg_attrs, len(signature.inputs))
        if signature.results:
            yield f"must not return values, got {listed(signature.results)}"
        for index, type in enumerate(signature.inputs):
            if isinstance(type, TileType) and type.shape:
                yield f"argument #{index} must be a scalar tile, got '{type}'"
        for index, predicate in self.assumptions():
            if index < len(signature.inputs):
                problem = predicate.value_problem(signature.inputs[index])
                if problem is not None:
                    yield f"argument #{index}: {problem}"

    def verify_context(self) -> Iterator[str | Diagnostic]:
        assert isinstance(self.function_type, FunctionType)
        actual = types_of(self.arguments)
        if actual != self.function_type.inputs:
            expected = listed(self.function_type.inputs)
            yield f"expected block arguments of types {expected}, got {listed(actual)}"
        # One walk for both checks: it dominates the cost of verifying a kernel.
        first_at: dict[int, Operation] = {}
        for op in self.walk():
            first_at.setdefault(id(op.location), op)
            if not isinstance(op, TileOp) and not _is_public(op):
                yield _not_public(op)
        yield from function_debug_problems(self, first_at.values())


def _attribute_problems(arg_attrs: tuple[Attribute, ...] | None, count: int) -> Iterator[str]:
    if arg_attrs is None:
        return
    if len(arg_attrs) != count:
        yield f"expected attributes for {count} arguments, got {len(arg_attrs)}"
    elif not all(isinstance(each, DictionaryAttr) for each in arg_attrs):
        yield "expected dictionaries as attributes of arguments"


class GlobalOp(TileOp):
    """Define an array in global memory, initialized with `value` when the module is loaded.

    A constant global is never written; a private one is invisible to the host.
    """

    name = "cuda_tile.global"
    since = (13, 1)
    traits = (SYMBOL,)
    syntax = (
        "custom<SymbolVisibility>($symbol_visibility) (`constant` $constant^)? $sym_name "
        "(`alignment` `=` $alignment^)? attr-dict custom<DenseElements>($value)"
    )

    sym_name = d.attribute(STRING_ATTR)
    value = d.attribute(ELEMENTS_ATTR)
    alignment = d.attribute(I64_ATTR, default=0)
    constant = d.flag(since=(13, 3))
    symbol_visibility = d.attribute(
        SYMBOL_VISIBILITY, default=SymbolVisibility.PUBLIC, since=(13, 3)
    )

    def verify(self) -> Iterator[str]:
        type = self.value.type
        if not isinstance(type, TileType) or type.rank != 1:
            yield f"expected a value of rank 1, got '{type}'"


class GetGlobalOp(TileOp):
    """Return the address of the first element of a global."""

    name = "cuda_tile.get_global"
    since = (13, 1)
    effects = Effects.PURE
    syntax = "$symbol attr-dict `:` type($result)"

    symbol = d.attribute(SYMBOL_ATTR, spelling="name")
    result = d.result(SCALAR_PTR)

    def verify_context(self) -> Iterator[str]:
        target = _find_symbol(self, self.symbol)
        if not isinstance(target, GlobalOp):
            yield f"expected '@{self.symbol}' to name a global"
            return
        value, pointee = target.value.type, pointer(self.result).pointee
        # If it is not a tile, the verifier of the global reports it.
        if isinstance(value, TileType) and pointee is not value.element:
            expected = f"'{value.element}' as '@{self.symbol}' has"
            yield f"expected a pointer to {expected}, got '{pointee}'"


def _find_symbol(op: Operation, name: str) -> Operation | None:
    """Look up a symbol in the nearest enclosing symbol table."""
    table = next((outer for outer in op.ancestors() if SYMBOL_TABLE in outer.traits), None)
    if table is None:
        return None
    wanted = StringAttr(name)
    return next((op for op in table.members() if op.attributes.get("sym_name") is wanted), None)
