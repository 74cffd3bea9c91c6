"""Bit-enum attributes: `#arith.fastmath<nnan,contract>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from tilewright.ir.attributes import Parametric

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class FlagsAttr(Parametric):
    """Base of the bit enums. A subclass has the slot `bits` and names the flags, lowest first."""

    __slots__ = ()

    flags: ClassVar[tuple[str, ...]] = ()
    everything: ClassVar[str] = ""
    """The keyword for all flags together, if there is one."""
    separator: ClassVar[str] = ", "

    bits: int

    def __new__(cls, *names: str) -> Self:
        bits = 0
        for name in names:
            bits |= cls._bits_of(name) or 0
        return cls.unique(bits)

    @classmethod
    def of_bits(cls, bits: int) -> Self:
        """The flags of a bit mask."""
        return cls.unique(bits)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.names

    @classmethod
    def _bits_of(cls, name: str) -> int | None:
        if name in cls.flags:
            return 1 << cls.flags.index(name)
        if name == "none":
            return 0
        return (1 << len(cls.flags)) - 1 if name and name == cls.everything else None

    @property
    def names(self) -> tuple[str, ...]:
        """The flags that are set."""
        return tuple([flag for bit, flag in enumerate(self.flags) if self.bits >> bit & 1])

    def __contains__(self, name: str) -> bool:
        bits = self._bits_of(name)
        return bits is not None and self.bits & bits == bits

    def __or__(self, other: Self) -> Self:
        return self.of_bits(self.bits | other.bits)

    def __and__(self, other: Self) -> Self:
        return self.of_bits(self.bits & other.bits)

    def __bool__(self) -> bool:
        return bool(self.bits)

    def __str__(self) -> str:
        if not self.bits:
            return "none"
        all_set = self.everything and self.bits == (1 << len(self.flags)) - 1
        return self.everything if all_set else self.separator.join(self.names)

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<{self}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        bits = 0
        parser.expect("<")
        while True:
            at = parser.at
            flag = cls._bits_of(parser.keyword())
            if flag is None:
                keywords = ", ".join(("none", *cls.flags, *filter(None, (cls.everything,))))
                parser.error(f"expected one of {keywords}, got '{parser.tokens[at]}'", at)
            bits |= flag
            if not parser.accept(","):
                break
        parser.expect(">")
        return cls.of_bits(bits)
