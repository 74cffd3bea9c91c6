"""An instruction during decoding: modifiers one by one, operands as closures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilewright.ptxsim import async_registers, special_registers
from tilewright.ptxsim.declarations import constant_bytes
from tilewright.ptxsim.frame import FrameLayout
from tilewright.ptxsim.memory import CTA_WINDOW_BITS
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, SIGNED, UNSIGNED, Array, ScalarType
from tilewright.ptxsim.syntax import (
    DISCARD,
    Address,
    Float,
    Instruction,
    Integer,
    Name,
    Not,
    Operand,
    RegisterDeclaration,
    SymbolOffset,
    Variable,
    Vector,
)
from tilewright.support.diagnostics import Unsupported, fail

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.program import Linker, Segment
    from tilewright.ptxsim.wave import Wave

Read = Callable[["Lanes"], Array]
Write = Callable[["Lanes", Array], None]


class Operation:
    """The interface of decoders to an instruction.

    Readers return one value per lane, or a single one if it is the same for all lanes (literals,
    addresses of variables); NumPy broadcasts those, `Lanes.spread` does so explicitly.
    """

    def __init__(self, site: Instruction, layout: FrameLayout, linker: Linker) -> None:
        self.site = site
        self.layout = layout
        self.linker = linker
        self.name = ""
        self.modifiers: tuple[str, ...] = ()
        self._left: list[str] = []
        self._operands_used = 0
        self.segment: Segment | None = None

    def begin(self, name: str, modifiers: tuple[str, ...]) -> None:
        """Start decoding as `name`, with the modifiers that follow it."""
        self.name = name
        self.modifiers = modifiers
        self._left = list(modifiers)

    def finish(self) -> None:
        """Reject modifiers and operands that the decoder has not consumed."""
        if self._left:
            self.unsupported(f".{self._left[0]}")
        # The last operand may be a cache policy, which changes nothing here.
        expected = self._operands_used + ("L2::cache_hint" in self.modifiers)
        if expected < len(self.site.operands):
            self.fail(f"expected {expected} operands, got {len(self.site.operands)}")

    def unsupported(self, detail: str = "") -> NoReturn:
        """Raise `Unsupported` for this form of the instruction."""
        feature = f"instruction {self.site.opcode}"
        raise Unsupported(f"{feature} ({detail})" if detail else feature, self.site.location)

    def fail(self, message: str) -> NoReturn:
        """Raise an error for an invalid instruction."""
        fail(f"{self.site.opcode}: {message}", self.site.location)

    def needs(self, make: Callable[[Wave], object]) -> None:
        """Create the state `make(wave)` at the start of every wave of this program."""
        self.linker.states.add(make)

    def flag(self, modifier: str) -> bool:
        """Consume a modifier; return whether it is present."""
        if modifier not in self._left:
            return False
        self._left.remove(modifier)
        return True

    def choice(self, *modifiers: str) -> str | None:
        """Consume and return the first of these modifiers, if any."""
        for modifier in self._left:
            if modifier in modifiers:
                self._left.remove(modifier)
                return modifier
        return None

    def ignore(self, *modifiers: str) -> None:
        """Consume modifiers that have no effect here."""
        self._left = [modifier for modifier in self._left if modifier not in modifiers]

    def type(self, kinds: str = "") -> ScalarType:
        """Consume the next modifier that is a type, which must be of one of these kinds if any."""
        type = self.optional_type()
        if type is None:
            self.fail("expected a type")
        is_word = type.bits in (1, 16, 32, 64) and type.name != "b1"
        if kinds and (type.kind not in kinds or not is_word):
            self.fail(f"expected a type of bits or integers, got .{type.name}")
        return type

    def optional_type(self) -> ScalarType | None:
        """Consume the next modifier that is a type, if any."""
        for modifier in self._left:
            if modifier in SCALAR_TYPES:
                self._left.remove(modifier)
                return SCALAR_TYPES[modifier]
        return None

    def ignore_operands(self) -> None:
        """Consume operands that have no effect here."""
        self._operands_used = len(self.site.operands)

    def rest(self) -> tuple[str, ...]:
        """Consume and return the remaining modifiers."""
        left = tuple(self._left)
        self._left = []
        return left

    @property
    def operand_count(self) -> int:
        """The number of operands; marks all of them as consumed."""
        self.ignore_operands()
        return len(self.site.operands)

    def operand(self, operand: int | Operand) -> Operand:
        """An operand by its index, or the given one."""
        if not isinstance(operand, int):
            return operand
        operands = self.site.operands
        if operand >= len(operands):
            self.fail(f"expected at least {operand + 1} operands, got {len(operands)}")
        if operand >= self._operands_used:
            self._operands_used = operand + 1
        return operands[operand]

    def elements(self, operand: int | Operand) -> tuple[Operand, ...]:
        """The elements of a vector operand; a single operand is its own element."""
        syntax = self.operand(operand)
        return syntax.elements if isinstance(syntax, Vector) else (syntax,)

    def constant(self, index: int | Operand) -> int:
        """The value of an integer literal operand."""
        operand = self.operand(index)
        if not isinstance(operand, Integer):
            self.fail("expected an integer literal")
        return operand.value

    def register(self, name: str) -> RegisterDeclaration | None:
        """Look up a register by name."""
        declared = self.site.scope.find(name)
        return declared if isinstance(declared, RegisterDeclaration) else None

    def read(self, index: int | Operand, type: ScalarType) -> Read:
        """A reader of the operand as `type`; of wider registers the low bits."""
        operand = self.operand(index)
        if isinstance(operand, Name):
            return self._read_name(operand.text, type)
        if isinstance(operand, Integer | Float):
            read = _literal(operand, type.name)
            return self.fail(f"expected a literal of type .{type.name}") if read is None else read
        if isinstance(operand, SymbolOffset):
            return self._symbol(operand.name, operand.offset, type)
        if isinstance(operand, Not) and type.kind == "p":
            inner = self.read(operand.operand, type)
            return lambda lanes: ~inner(lanes)
        self.fail("expected a register or a literal")

    def reads(self, operand: int | Operand, type: ScalarType) -> list[Read]:
        """Readers of the elements of a vector operand, or of a single operand."""
        return [self.read(element, type) for element in self.elements(operand)]

    def predicate(self, operand: int | Operand) -> Read:
        """A reader of a predicate operand, possibly negated."""
        return self.read(operand, SCALAR_TYPES["pred"])

    def write(self, index: int | Operand, type: ScalarType) -> Write:
        """A writer of the operand as `type`; wider registers are sign- or zero-extended.

        Writing to `_` does nothing.
        """
        operand = self.operand(index)
        name = operand.text if isinstance(operand, Name) else ""
        if name == DISCARD:
            return lambda lanes, values: None
        register = self.register(name)
        if register is None:
            self.fail("expected a register as the result")
        slot = self.layout.slot(register, self._storage(register, type, widening=True))
        is_wider = SCALAR_TYPES[register.type].bits != type.bits
        write = _plain_write(slot)
        if is_wider and type.dtype.kind == "f":
            write = _write_bits(write, type.unsigned)
        if self.layout.is_watched(register):
            return async_registers.watched_write(write, register, self.site)
        return write

    def writes(self, operand: int | Operand, type: ScalarType) -> list[Write]:
        """Writers of the elements of a vector operand, or of a single operand."""
        return [self.write(element, type) for element in self.elements(operand)]

    def address(self, index: int | Operand) -> Read:
        """A reader of the address in brackets, as int64."""
        operand = self.operand(index)
        if not isinstance(operand, Address):
            self.fail("expected an address in brackets")
        base, offset = operand.base, operand.offset
        if isinstance(base, Integer):
            return _always(np.array([base.value + offset], np.int64))
        register = self.register(base.text)
        if register is None:
            return self._symbol(base.text, offset, SCALAR_TYPES["s64"])
        bits = SCALAR_TYPES[register.type].bits
        if bits not in (32, 64):
            self.fail(f"expected an address of 32 or 64 bits, got '{base.text}'")
        if bits == 32:
            return _narrow_address(self.layout.slot(register, UNSIGNED[32]), offset)
        return _wide_address(self.layout.slot(register, SIGNED[64]), offset)

    def _read_name(self, name: str, type: ScalarType) -> Read:
        register = self.register(name)
        if register is None:
            return self._symbol(name, 0, type)
        width = SCALAR_TYPES[register.type].bits
        slot = self.layout.slot(register, self._storage(register, type, widening=False))
        read = _narrowed(slot, type) if width != type.bits else _plain(slot)
        if self.layout.is_watched(register):
            return async_registers.watched_read(read, register, self.site)
        return read

    def _storage(
        self, register: RegisterDeclaration, type: ScalarType, widening: bool
    ) -> np.dtype[Any]:
        bits = SCALAR_TYPES[register.type].bits
        if bits == type.bits:
            return type.dtype
        if bits < type.bits or 1 in (bits, type.bits) or 128 in (bits, type.bits):
            self.fail(f"expected a register of {type.bits} bits, got '{register.name}' with {bits}")
        return SIGNED[bits] if widening and type.is_signed else UNSIGNED[bits]

    def _symbol(self, name: str, offset: int, type: ScalarType) -> Read:
        special = special_registers.find(name)
        if special is not None:
            return special_registers.reader(special, self.layout, type)
        declared = self.site.scope.find(name)
        if isinstance(declared, Variable) and declared.space in ("local", "param", "reg"):
            return self._frame_symbol(declared, offset, type)
        value = self.linker.address_of(name, declared if isinstance(declared, Variable) else None)
        if value is None and (what := special_registers.unsupported(name)):
            raise Unsupported(f"'{name}', {what}", self.site.location)
        if value is None:
            fail(f"'{name}' is not declared", self.site.location)
        number = (value + offset) & ((1 << type.bits) - 1)
        fixed = np.array([number], UNSIGNED[type.bits]).view(type.dtype)
        if isinstance(declared, Variable) and declared.space == "shared":
            return _in_own_cta(fixed)
        return _always(fixed)

    def _frame_symbol(self, variable: Variable, offset: int, type: ScalarType) -> Read:
        function = self.layout.function
        if function.is_entry and variable in function.parameters:
            at = self.linker.parameter_offset(function, variable) + offset
            # Short pointers, as `mov.b32` makes them, are the low bits of an address.
            unsigned, mask = UNSIGNED[type.bits], (1 << type.bits) - 1
            return lambda lanes: np.array([(lanes.wave.parameters + at) & mask], unsigned).view(
                type.dtype
            )
        at = self.layout.local_offset(variable) + offset
        at += self.linker.frame_window(variable.space)
        return lambda lanes: np.array([lanes.frame.local_base + at], type.dtype)


# Accesses to registers depend on slots alone: all programs share these.


@cache
def _plain_write(slot: int) -> Write:
    def write(lanes: Lanes, values: Array) -> None:
        lanes.cells[slot][lanes.select] = values

    return write


def _write_bits(write: Write, raw: np.dtype[Any]) -> Write:
    return lambda lanes, values: write(lanes, values.view(raw))


@cache
def _plain(slot: int) -> Read:
    return lambda lanes: lanes.cells[slot][lanes.select]


def _narrowed(slot: int, type: ScalarType) -> Read:
    narrow, dtype = UNSIGNED[max(8, type.bits)], type.dtype
    return lambda lanes: lanes.cells[slot][lanes.select].astype(narrow).view(dtype)


def _in_own_cta(offset: Array) -> Read:
    """The address of a shared variable, which depends on the CTA's rank in its cluster."""

    def read(lanes: Lanes) -> Array:
        if lanes.wave.launch.cluster_size == 1:
            return offset
        rank = lanes.wave.geometry.cta_rank[lanes.select].astype(offset.dtype)
        return (rank << CTA_WINDOW_BITS) + offset

    return read


@lru_cache(1 << 14)
def _literal(operand: Integer | Float, type_name: str) -> Read | None:
    """A reader of a literal as a type; None if it is none of that type."""
    type = SCALAR_TYPES[type_name]
    if type.kind == "p":
        return _always(np.array([isinstance(operand, Integer) and operand.value != 0]))
    if type.bits == 128 and isinstance(operand, Integer):
        value = operand.value & ((1 << 128) - 1)
        return _always(np.array([[value & (2**64 - 1), value >> 64]], np.uint64))
    # An integer where bits are expected is bits, even under the name of a float type.
    data = constant_bytes(operand, type.name)
    if data is None and isinstance(operand, Float):
        data = operand.bits.to_bytes(operand.width // 8, "little")
    if data is None or len(data) != type.bytes:
        return None
    return _always(np.frombuffer(data, type.dtype))


def _always(value: Array) -> Read:
    value.flags.writeable = False
    return lambda lanes: value


@lru_cache(1 << 14)
def _narrow_address(slot: int, offset: int) -> Read:
    if not offset:
        return lambda lanes: lanes.cells[slot][lanes.select].astype(np.int64)
    return lambda lanes: (lanes.cells[slot][lanes.select].astype(np.int64) + offset) & 0xFFFFFFFF


@lru_cache(1 << 14)
def _wide_address(slot: int, offset: int) -> Read:
    if not offset:
        return lambda lanes: lanes.cells[slot][lanes.select]
    return lambda lanes: lanes.cells[slot][lanes.select] + offset
