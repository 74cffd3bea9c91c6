"""GPU modules, functions with memory attributions, and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.gpu.attributes import AddressSpace, is_shared
from tilewright.dialects.signatures import (
    attributed,
    collected,
    entry_problems,
    read_signature,
    signature_problems,
    signature_text,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    ARRAY_ATTR,
    I32_ARRAY_ATTR,
    I64_ATTR,
    STRING_ATTR,
    TYPE_ATTR,
)
from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import (
    ISOLATED,
    NO_TERMINATOR,
    SYMBOL,
    SYMBOL_TABLE,
    TERMINATOR,
    Effects,
    HasParent,
)
from tilewright.ir.types import I64, FunctionType, MemRefType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import BlockArgument
    from tilewright.support.location import Location
    from tilewright.text.parser import Argument, Parser
    from tilewright.text.printer import Printer


KERNEL: Final = "gpu.kernel"
"""The attribute of a kernel."""


class GPUModuleOp(Operation):
    """A module for a GPU, optionally with targets."""

    name = "gpu.module"
    traits = (ISOLATED, SYMBOL, SYMBOL_TABLE, NO_TERMINATOR)

    sym_name = d.attribute(STRING_ATTR)
    targets = d.optional_attribute(ARRAY_ATTR)
    body = d.region()

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `@name [targets] attributes {...} { ... }`."""
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(parser.symbol())}
        if parser.peek() == "[":
            attributes["targets"] = ArrayAttr(tuple(parser.listed(parser.attribute, "[", "]")))
        if parser.accept("attributes"):
            attributes |= parser.attr_dict()
        body = parser.region(owner=cls, field=cls.body)
        return cls((), (), attributes, [body], location)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.emit(f" {printer.attribute(SymbolRefAttr(self.sym_name))}")
        if self.targets is not None:
            printer.emit(f" [{printer.elements(ArrayAttr(self.targets))}]")
        printer.emit(f"{printer.attr_dict(self, ('sym_name', 'targets'), keyword=True)} ")
        printer.region(self.body)


class GPUFuncOp(Operation):
    """A device function or a kernel.

    After its arguments a function has memory attributions: first `workgroup` buffers in shared
    memory, then `private` buffers of each thread.
    """

    name = "gpu.func"
    traits = (ISOLATED, SYMBOL, HasParent("gpu.module"))

    sym_name = d.attribute(STRING_ATTR, discardable=True)
    function_type = d.attribute(TYPE_ATTR)
    arg_attrs = d.optional_attribute(ARRAY_ATTR)
    res_attrs = d.optional_attribute(ARRAY_ATTR)
    kernel = d.flag(spelling=KERNEL, discardable=True)
    workgroup_attributions = d.attribute(I64_ATTR, default=0, discardable=True)
    workgroup_attrib_attrs = d.optional_attribute(ARRAY_ATTR)
    private_attrib_attrs = d.optional_attribute(ARRAY_ATTR)
    known_block_size = d.optional_attribute(I32_ARRAY_ATTR)
    known_grid_size = d.optional_attribute(I32_ARRAY_ATTR)
    known_cluster_size = d.optional_attribute(I32_ARRAY_ATTR)
    body = d.region(max_blocks=None)

    @property
    def signature(self) -> FunctionType:
        """The types of arguments and results."""
        assert isinstance(self.function_type, FunctionType)
        return self.function_type

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        """The block arguments of the parameters."""
        return self.body.blocks[0].args[: len(self.signature.inputs)]

    @property
    def workgroup_buffers(self) -> tuple[BlockArgument, ...]:
        """The buffers in shared memory."""
        start = len(self.signature.inputs)
        return self.body.blocks[0].args[start : start + self.workgroup_attributions]

    @property
    def private_buffers(self) -> tuple[BlockArgument, ...]:
        """The buffers of each thread."""
        return self.body.blocks[0].args[len(self.signature.inputs) + self.workgroup_attributions :]

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `@f(%a: f32) workgroup(%b: memref<4xf32, 3>) private(...) kernel { ... }`."""
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(parser.symbol())}
        signature = read_signature(parser)
        attributes["function_type"] = TypeAttr(signature.type)
        attributes |= signature.attributes()
        arguments = signature.arguments
        shared = _read_buffers(parser, "workgroup")
        own = _read_buffers(parser, "private")
        attributes["workgroup_attributions"] = IntegerAttr(len(shared), I64)
        for name, buffers in (
            ("workgroup_attrib_attrs", shared),
            ("private_attrib_attrs", own),
        ):
            collection = collected([buffer.attributes for buffer in buffers])
            if collection is not None:
                attributes[name] = collection
        if parser.accept("kernel"):
            attributes[KERNEL] = UNIT
        if parser.accept("attributes"):
            attributes |= parser.attr_dict()
        body = parser.region([*arguments, *shared, *own], owner=cls)
        return cls((), (), attributes, [body], location)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        name = printer.attribute(SymbolRefAttr(self.sym_name))
        signature = signature_text(
            printer, self.signature, self.arguments, self.arg_attrs, self.res_attrs
        )
        printer.emit(f" {name}{signature}")
        for word, buffers, attributes in (
            ("workgroup", self.workgroup_buffers, self.workgroup_attrib_attrs),
            ("private", self.private_buffers, self.private_attrib_attrs),
        ):
            if buffers:
                printer.emit(f" {word}({', '.join(attributed(printer, buffers, attributes))})")
        printer.emit(" kernel" if self.kernel else "")
        printer.emit(f"{printer.attr_dict(self, _ELIDED, keyword=True)} ")
        printer.region(self.body, print_entry_args=False)

    def verify(self) -> Iterator[str]:
        yield from signature_problems(self.function_type, self.arg_attrs, self.res_attrs)
        signature = self.function_type
        if self.kernel and isinstance(signature, FunctionType) and signature.results:
            yield f"expected a kernel without results, got {listed(signature.results)}"
        for level, sizes in (
            ("block", self.known_block_size),
            ("grid", self.known_grid_size),
            ("cluster", self.known_cluster_size),
        ):
            if sizes is not None and (len(sizes) != 3 or min(sizes) < 1):
                yield f"expected three positive sizes of the {level}, got {list(sizes)}"

    def verify_context(self) -> Iterator[str]:
        arguments = self.body.blocks[0].args
        expected = self.signature.inputs
        yield from entry_problems(expected, arguments[: len(expected)])
        for argument in self.workgroup_buffers:
            yield from _buffer_problems(argument.type, "workgroup")
        for argument in self.private_buffers:
            yield from _buffer_problems(argument.type, "private")


_ELIDED: Final = (
    "sym_name",
    "function_type",
    "arg_attrs",
    "res_attrs",
    KERNEL,
    "workgroup_attributions",
    "workgroup_attrib_attrs",
    "private_attrib_attrs",
)


def _read_buffers(parser: Parser, word: str) -> list[Argument]:
    return parser.listed(parser.argument, "(", ")") if parser.accept(word) else []


def _buffer_problems(type: Type, word: str) -> Iterator[str]:
    if not isinstance(type, MemRefType):
        yield f"expected {word} buffers to be memrefs, got '{type}'"
        return
    private = type.space is AddressSpace.PRIVATE or (
        isinstance(type.space, IntegerAttr) and type.space.value in (0, 5)
    )
    if not (is_shared(type.space) if word == "workgroup" else private):
        yield f"expected {word} buffers in {word} memory, got '{type}'"


class ReturnOp(Operation):
    """Return from a function."""

    name = "gpu.return"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("gpu.func"))
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)

    def verify_context(self) -> Iterator[str]:
        function = self.parent_op
        if not isinstance(function, GPUFuncOp):
            return
        expected, actual = function.signature.results, types_of(self.values)
        if actual != expected:
            yield f"expected operands of types {listed(expected)}, got {listed(actual)}"


class YieldOp(Operation):
    """Yield values from the body of a gpu operation."""

    name = "gpu.yield"
    effects = Effects.PURE
    traits = (TERMINATOR,)
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)
