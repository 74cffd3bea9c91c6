"""The printer: operations, blocks and regions in MLIR's text form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from tilewright.ir.attributes import Attribute, DenseArrayAttr, EnumAttr, Type
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.ir.types import I32
from tilewright.support.stack import DeepRecursion
from tilewright.text.aliases import AliasPrinter
from tilewright.text.attribute_printer import quoted
from tilewright.text.naming import Names
from tilewright.text.syntax_printer import printer_of

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Region
    from tilewright.ir.values import BlockArgument, Value
    from tilewright.support.location import Location


_LEVELS: Final = 16
_FRAMES: Final = 12
"""An upper bound of the frames per region nesting level."""


class Style(Enum):
    """The custom assembly formats."""

    PUBLIC = "public"
    """The syntax of NVIDIA's public tools."""
    TILEIRAS = "tileiras"
    """Named blocks and short value names, as in the dumps of tileiras."""


class _TypeTexts(dict[Type, str]):
    """A cache of the text of each type, without prefix for those of one dialect."""

    __slots__ = ("_prefix", "_printer")

    def __init__(self, printer: Printer, dialect: str) -> None:
        super().__init__()
        self._printer = printer
        self._prefix = f"{dialect}." if dialect else "!"

    def __missing__(self, type: Type) -> str:
        bare = type.mnemonic.startswith(self._prefix)
        text = self[type] = type.spell() if bare else AliasPrinter.type(self._printer, type)
        return text


class _TextsOfDialects(dict[str, _TypeTexts]):
    """The type texts by the dialect whose prefix is omitted; "" for none."""

    __slots__ = ("_printer",)

    def __init__(self, printer: Printer) -> None:
        super().__init__()
        self._printer = printer

    def __missing__(self, dialect: str) -> _TypeTexts:
        texts = self[dialect] = _TypeTexts(self._printer, dialect)
        return texts


class _Keywords(dict[EnumAttr, str]):
    """The keyword of each enumeration member in one style."""

    __slots__ = ("_style",)

    def __init__(self, style: Style) -> None:
        super().__init__()
        self._style = style.value

    def __missing__(self, member: EnumAttr) -> str:
        keyword = self[member] = member.keyword_in(self._style)
        return keyword


Form = tuple[str, Callable[["Printer", Any], None]]
"""The name of an operation, and the function that prints the rest."""

_forms: dict[tuple[Style, bool, str], dict[type[Operation], Form]] = {}
_keywords: dict[Style, _Keywords] = {}


class Printer(AliasPrinter):
    """Prints operations piece by piece through `emit`.

    An operation class may define `print(self, printer)`, which prints the text after the name.
    """

    __slots__ = (
        "_debug",
        "_default_dialect",
        "_forms",
        "_generic",
        "_labels",
        "_line",
        "_locations",
        "_nesting",
        "_texts_inside",
        "emit",
        "keywords",
        "lefts",
        "names",
        "out",
        "style",
        "type_texts",
    )

    emit: Callable[[str], None]
    """Append a text to the output."""

    def __init__(self, root: Operation, style: Style, debug: bool, generic: bool) -> None:
        super().__init__()
        self.style = style
        names = Names(root, style.value, not generic)
        self.names = names.of
        self.lefts = names.lefts
        self.type_texts = _TextsOfDialects(self)
        self._texts_inside: dict[object, _TypeTexts] = {}
        """The type texts by the class of the operation whose custom form is printed."""
        self.keywords = _keywords.setdefault(style, _Keywords(style))
        self._debug = debug
        self._generic = generic
        self._nesting = 0
        self._labels: dict[Block, str] = {}
        self._default_dialect = ""
        self._forms: dict[type[Operation], Form] = {}
        self._enter("builtin")
        self._line = "\n"
        """A line break and the indentation of the current line."""
        self._locations: dict[int, str] = {}
        self.out: list[str] = []
        """The output so far."""
        self.emit = self.out.append

    def value(self, value: Value) -> str:
        """Return the name of a value, with `%`."""
        return self.names[value]

    def type(self, type: Type, op: Operation | None = None) -> str:
        """Print a type; in the custom form of `op` types of its dialect may omit the prefix."""
        texts = self._texts_inside.get(op.__class__)
        if texts is None:
            bare = op.dialect if op is not None and op.elides_type_prefix else ""
            texts = self._texts_inside[op.__class__] = self.type_texts[bare]
        return texts[type]

    def attr_dict(
        self, op: Operation, elided: Collection[str] = (), *, keyword: bool = False
    ) -> str:
        """Print ` {a = 1 : i32}` for all attributes but elided ones and defaults."""
        entries = [
            (name, op.attributes[name])
            for name in sorted(op.attributes)
            if name not in elided and not op.schema.is_default(op, name)
        ]
        if not entries:
            return ""
        return f"{' attributes' if keyword else ''} {{{self.entries(entries)}}}"

    def trailing_location(self, location: Location) -> str:
        """Print the trailing ` loc(...)` of an operation; empty unless locations are requested."""
        if not self._debug:
            return ""
        text = self._locations.get(id(location))
        if text is None:
            text = f" loc({self.visit_location(location, True)})"
            self._locations[id(location)] = text
        return text

    def argument(self, argument: BlockArgument, op: Operation | None = None) -> str:
        """Print `%x: type`, with the full location if locations are requested."""
        text = f"{self.value(argument)}: {self.type(argument.type, op)}"
        if not self._debug:
            return text
        self.visit_location(argument.location, False)
        return f"{text} loc({self.location_body(argument.location)})"

    def region(
        self,
        region: Region,
        *,
        print_entry_args: bool = True,
        print_terminators: bool = True,
        print_empty_block: bool = False,
        label: str | None = None,
    ) -> None:
        """Print `{ ... }`; with `label`, the entry block has that label, which is printed."""
        owner = region.parent
        outer, line = self._default_dialect, self._line
        self._deeper()
        self.emit("{")
        if owner is not None and region.blocks:
            self._enter(owner.default_dialect or "")
            first, *others = region.blocks
            sources = self._name_blocks(region, label or "bb0") if others else {}
            arguments = print_entry_args and first.args
            if label is not None or arguments or (print_empty_block and first.first is None):
                self._label(first, label or "bb0", bool(arguments), sources.get(first))
            self._block(first, print_terminators)
            for block in others:
                self._label(block, self._labels[block], True, sources.get(block, []))
                self._block(block, True)
        self._enter(outer)
        self._nesting -= 1
        self.emit(f"{line}}}")

    def _name_blocks(self, region: Region, entry: str) -> dict[Block, list[str]]:
        """Assign block labels, and collect the predecessors of each block."""
        names = [entry, *[f"bb{index}" for index in range(1, len(region.blocks))]]
        self._labels.update(zip(region.blocks, names, strict=True))
        sources: dict[Block, list[str]] = {}
        for block, name in zip(region.blocks, names, strict=True):
            for successor in block.last.successors if block.last is not None else ():
                sources.setdefault(successor, []).append(f"^{name}")
        return sources

    def _deeper(self) -> None:
        """Raise the recursion limit for nested regions."""
        self._nesting += 1
        if self._nesting % _LEVELS == 0:
            DeepRecursion.need(_FRAMES * (self._nesting + _LEVELS) + 1000)

    def _enter(self, dialect: str) -> None:
        self._default_dialect = dialect
        self._forms = _forms.setdefault((self.style, self._generic, dialect), {})

    def _label(
        self, block: Block, name: str, with_arguments: bool, sources: list[str] | None
    ) -> None:
        arguments = ", ".join(map(self.argument, block.args)) if with_arguments else ""
        text = f"({arguments})" if arguments else ""
        comment = "" if sources is None else _sources_comment(sources)
        self.emit(f"{self._line}^{name}{text}:{comment}")

    def _block(self, block: Block, print_terminator: bool) -> None:
        outer = self._line
        line = self._line = f"{outer}  "
        last = None if print_terminator else block.terminator
        op = block.first
        while op is not last and op is not None:
            self.operation(op, line)
            op = op.next
        self._line = outer

    def newline(self, indent: int = 0) -> None:
        """Start a new line, indented by `indent` relative to the current operation."""
        self.emit(f"{self._line}{' ' * indent}")

    def operation(self, op: Operation, before: str = "") -> None:
        """Print `%results = name ... loc(...)`, preceded by `before`."""
        form = self._forms.get(type(op))
        if form is None:
            form = self._form(op)
        name, prints = form
        results = op.results
        if not results:
            self.emit(before + name)
        elif len(results) == 1:
            self.emit(f"{before}{self.names[results[0]]} = {name}")
        else:
            self.emit(f"{before}{self.lefts[op]} = {name}")
        if not self._debug:
            prints(self, op)
            return
        # The location is visited before the contents of the operation, though it is printed last.
        location = self.trailing_location(op.location)
        prints(self, op)
        self.emit(location)

    def _form(self, op: Operation) -> Form:
        kind = type(op)
        if isinstance(op, UnregisteredOp):
            return quoted(op.name), Printer.generic
        prints = None if self._generic else printer_of(kind)
        if prints is None:
            form = quoted(op.name), Printer.generic
        else:
            name = kind.other_names.get(self.style.value, op.name)
            dialect, _, rest = name.partition(".")
            # A name with a second dot would read as one of another dialect.
            bare = dialect == self._default_dialect and "." not in rest
            form = rest if bare else name, prints
        self._forms[kind] = form
        return form

    def generic(self, op: Operation) -> None:
        """Print the generic form, starting with the operands."""
        emit = self.emit
        emit(f"({', '.join(map(self.value, op.operands))})")
        if op.successors:
            emit(f"[{', '.join(map(self.block_name, op.successors))}]")
        properties, others = _split_attributes(op)
        if properties:
            emit(f" <{{{self.entries(sorted(properties.items()))}}}>")
        if op.regions:
            emit(" (")
            for index, region in enumerate(op.regions):
                emit(", " if index else "")
                self.region(region, print_empty_block=True)
            emit(")")
        if others:
            emit(f" {{{self.entries(sorted(others.items()))}}}")
        operands = [value.type for value in op.operands]
        emit(f" : {self.signature(operands, tuple([result.type for result in op.results]))}")

    def block_name(self, block: Block) -> str:
        """Return the label of a block, such as `^bb1`."""
        return f"^{self._labels.get(block, 'INVALIDBLOCK')}"

    def finish(self) -> str:
        """Return the output, with the definitions of aliases."""
        return self.resolve("".join(self.out))

    def top_level(self, ops: Iterable[Operation], default_dialect: str) -> str:
        """Print operations in sequence, with shared aliases."""
        self._enter(default_dialect)
        for op in ops:
            self.operation(op)
            self.emit("\n")
        return self.finish()


def _split_attributes(op: Operation) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Return inherent and discardable attributes; unregistered ops have only the latter."""
    properties: dict[str, Attribute] = {}
    others: dict[str, Attribute] = {}
    for name, value in op.attributes.items():
        field = op.schema.inherent.get(name)
        (others if field is None or field.discardable else properties)[name] = value
    if op.segments is not None:
        properties["operandSegmentSizes"] = DenseArrayAttr(I32, op.segments)
    return properties, others


def _sources_comment(names: list[str]) -> str:
    """Print the comment that lists the predecessors of a block."""
    if not names:
        return "  // no predecessors"
    if len(names) == 1:
        return f"  // pred: {names[0]}"
    return f"  // {len(names)} preds: {', '.join(names)}"


def print_op(
    op: Operation,
    *,
    style: Style = Style.PUBLIC,
    debug: bool = False,
    generic: bool = False,
    default_dialect: str = "builtin",
) -> str:
    """Print an operation, with a line break at the end.

    `debug` adds locations, `generic` prints the generic form of everything. The names of
    operations of the default dialect go without prefix, as inside an operation that sets one.
    """
    root = next(reversed([op, *op.ancestors()]))
    with DeepRecursion():
        return Printer(root, style, debug, generic).top_level([op], default_dialect)


def print_contents(
    op: Operation, *, style: Style = Style.PUBLIC, debug: bool = False, generic: bool = False
) -> str:
    """Print the operations of a module without the module itself, with shared aliases."""
    inside = op.default_dialect or "builtin"
    with DeepRecursion():
        return Printer(op, style, debug, generic).top_level(op.regions[0].block, inside)
