"""The enumerations and the other attributes of the LLVM dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.llvm.flags import FastMathFlags, FlagsKind, OverflowFlags
from tilewright.ir.attribute_kinds import EnumKind, InstanceKind
from tilewright.ir.attributes import Attribute, EnumAttr, Parametric
from tilewright.ir.types import IntegerType
from tilewright.support.diagnostics import InvalidValue

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

__all__ = [
    "AsmDialect",
    "AtomicBinOp",
    "AtomicOrdering",
    "CallingConvention",
    "ConstantRangeAttr",
    "FastMathFlags",
    "Linkage",
    "LoopAnnotationAttr",
    "LoopUnrollAttr",
    "OverflowFlags",
    "UnnamedAddress",
    "Visibility",
]


class Linkage(EnumAttr, mnemonic="llvm.linkage"):
    """The linkage of a symbol."""

    PRIVATE = 0
    INTERNAL = 1
    AVAILABLE_EXTERNALLY = 2
    LINKONCE = 3
    WEAK = 4
    COMMON = 5
    APPENDING = 6
    EXTERN_WEAK = 7
    LINKONCE_ODR = 8
    WEAK_ODR = 9
    EXTERNAL = 10


class CallingConvention(EnumAttr, mnemonic="llvm.cconv"):
    """The calling convention of a function."""

    CCC = 0
    FASTCC = 8
    PTX_KERNELCC = 71
    PTX_DEVICECC = 72


class Visibility(EnumAttr, width=64):
    """The visibility of a symbol."""

    DEFAULT = 0
    HIDDEN = 1
    PROTECTED = 2


class UnnamedAddress(EnumAttr, width=64):
    """Whether the address of a global is significant."""

    NONE = 0
    LOCAL = 1
    GLOBAL = 2

    @property
    def keyword(self) -> str:
        prefix = {"NONE": "", "LOCAL": "local_", "GLOBAL": ""}[self.name]
        return "" if self is UnnamedAddress.NONE else f"{prefix}unnamed_addr"

    @classmethod
    def from_keyword(cls, keyword: str) -> Self | None:
        return next((member for member in cls if keyword and member.keyword == keyword), None)


class AsmDialect(EnumAttr, width=64):
    """The dialect of inline assembly; without meaning for PTX."""

    ATT = 0
    INTEL = 1


class AtomicOrdering(EnumAttr, width=64):
    """The memory ordering of an atomic access."""

    NOT_ATOMIC = 0
    UNORDERED = 1
    MONOTONIC = 2
    ACQUIRE = 4
    RELEASE = 5
    ACQ_REL = 6
    SEQ_CST = 7


class AtomicBinOp(EnumAttr, width=64):
    """The operation of an atomic read-modify-write."""

    XCHG = 0
    ADD = 1
    SUB = 2
    AND = 3
    NAND = 4
    OR = 5
    XOR = 6
    MAX = 7
    MIN = 8
    UMAX = 9
    UMIN = 10
    FADD = 11
    FSUB = 12
    FMAX = 13
    FMIN = 14
    UINC_WRAP = 15
    UDEC_WRAP = 16
    USUB_COND = 17
    USUB_SAT = 18

    @property
    def keyword(self) -> str:
        # MLIR's own spelling: its C++ could not call an enumerator `and`.
        return f"_{self.name.lower()}" if self.name in ("AND", "OR", "XOR") else self.name.lower()

    @classmethod
    def from_keyword(cls, keyword: str) -> Self | None:
        return next((member for member in cls if member.keyword == keyword), None)


class ConstantRangeAttr(Parametric):
    """`#llvm.constant_range<i32, 0, 128>`: the half-open range [0, 128)."""

    __slots__ = ("type", "lower", "upper")  # noqa: RUF023 - the order of the parameters
    mnemonic = "llvm.constant_range"

    type: IntegerType
    lower: int
    upper: int

    def __new__(cls, type: IntegerType, lower: int, upper: int) -> Self:
        return cls.unique(type, lower, upper)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        if parameters[1] != parameters[2]:
            return None
        return f"expected a range that is neither empty nor full, got {parameters[1]} twice"

    def print(self, printer: AttributePrinter) -> str:
        """Return the text after the mnemonic."""
        return f"<{self.type}, {self.lower}, {self.upper}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        parser.expect("<")
        type = parser.type()
        if not isinstance(type, IntegerType):
            raise InvalidValue(f"expected an integer type, got '{type}'")
        parser.expect(",")
        lower = parser.integer()
        parser.expect(",")
        upper = parser.integer()
        parser.expect(">")
        return cls(type, lower, upper)


class LoopUnrollAttr(Parametric):
    """`#llvm.loop_unroll<disable = true>`: whether and by how much to unroll a loop."""

    __slots__ = ("disable", "count", "full")  # noqa: RUF023 - the order of the parameters
    mnemonic = "llvm.loop_unroll"

    disable: bool
    count: int
    full: bool

    def __new__(cls, disable: bool = False, count: int = 0, full: bool = False) -> Self:
        return cls.unique(disable, count, full)

    def print(self, printer: AttributePrinter) -> str:
        """Return the text after the mnemonic."""
        parts = ["disable = true"] if self.disable else []
        parts += [f"count = {self.count} : i32"] if self.count else []
        parts += ["full = true"] if self.full else []
        return f"<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        entries = _entries(parser, {"disable", "count", "full"})
        values = {name: getattr(value, "value", 0) for name, value in entries.items()}
        count = values.get("count", 0)
        return cls(bool(values.get("disable")), count, bool(values.get("full")))


class LoopAnnotationAttr(Parametric):
    """`#llvm.loop_annotation<unroll = <disable = true>>`: metadata of the loop of a branch."""

    __slots__ = ("unroll",)
    mnemonic = "llvm.loop_annotation"

    unroll: LoopUnrollAttr

    def __new__(cls, unroll: LoopUnrollAttr) -> Self:
        return cls.unique(unroll)

    def print(self, printer: AttributePrinter) -> str:
        """Return the text after the mnemonic."""
        return f"<unroll = {self.unroll.print(printer)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        parser.expect("<")
        parser.expect("unroll")
        parser.expect("=")
        at = parser.at
        unroll = LoopUnrollAttr.parse(parser) if parser.peek() == "<" else parser.attribute()
        if not isinstance(unroll, LoopUnrollAttr):
            parser.error("expected a loop_unroll attribute", at)
        parser.expect(">")
        return cls(unroll)


def _entries(parser: Parser, known: set[str]) -> dict[str, Attribute]:
    """Parse `<name = attribute, ...>`."""
    entries: dict[str, Attribute] = {}

    def entry() -> None:
        if parser.peek() not in known:
            parser.unexpected(f"one of {', '.join(sorted(known))}")
        name = parser.next()
        parser.expect("=")
        entries[name] = parser.attribute()

    parser.listed(entry, "<", ">")
    return entries


LINKAGE: Final = EnumKind(Linkage)
CALLING_CONVENTION: Final = EnumKind(CallingConvention)
VISIBILITY: Final = EnumKind(Visibility)
UNNAMED_ADDRESS: Final = EnumKind(UnnamedAddress)
ASM_DIALECT: Final = EnumKind(AsmDialect)
ATOMIC_ORDERING: Final = EnumKind(AtomicOrdering)
ATOMIC_BIN_OP: Final = EnumKind(AtomicBinOp)
FAST_MATH: Final = FlagsKind(FastMathFlags, "fast-math flags")
OVERFLOW: Final = FlagsKind(OverflowFlags, "overflow flags")
CONSTANT_RANGE: Final = InstanceKind(ConstantRangeAttr, "constant range attribute")
LOOP_ANNOTATION: Final = InstanceKind(LoopAnnotationAttr, "loop annotation attribute")
