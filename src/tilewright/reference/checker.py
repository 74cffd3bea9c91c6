"""The checker of a launch: what all checked memory operations have in common.

Two checkers know which accesses have an order: `lockstep` that of blocks without synchronization,
which run in batches, and `events` that of all others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, TypeVar

import numpy as np

from tilewright.ir.types import F4E2M1FN
from tilewright.reference.access import Access, Token, Update
from tilewright.reference.errors import Fault
from tilewright.reference.tile import Array, dtype, element, from_memory
from tilewright.reference.undefined import Undefined, UndefinedElements
from tilewright.reference.uninitialised import note_written, uninitialised_bytes

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.reference.address_space import AddressSpace, Allocation
    from tilewright.reference.batch import Batch


class Shadow(Protocol):
    """The shadow state of each byte of an allocation."""

    @property
    def initialised(self) -> Array:
        """Whether each byte has been written."""
        ...

    def uninitialise(self, bytes: Any) -> None:
        """Mark some bytes as never written."""


ShadowT = TypeVar("ShadowT", bound=Shadow)


class Checker(ABC, Generic[ShadowT]):
    """Checks the memory accesses of a launch, and chooses among unordered interleavings."""

    __slots__ = ("_pending", "_shadows", "random", "space", "undefined")

    checks_tiles: ClassVar = False
    """Whether accesses of whole tiles are checked as such, or as accesses of their elements."""
    runs_batches: ClassVar = False
    """Whether blocks run in batches, or each of them alone."""
    samples: ClassVar = False
    """Whether it checks some of the blocks only."""

    def __init__(self, space: AddressSpace, seed: int) -> None:
        self.space = space
        self.random = np.random.default_rng(seed)
        self._shadows: dict[Allocation, ShadowT] = {}
        self._pending: list[CheckedAccess] = []
        self.undefined = UndefinedElements()
        """The undefined elements of tiles."""

    @abstractmethod
    def access(self, op: Any, at: Batch, token: Token) -> CheckedAccess:
        """Begin a memory operation; delayed stores that precede it are performed first."""

    @abstractmethod
    def _make_shadow(self, allocation: Allocation) -> ShadowT:
        """The shadow state of an allocation that no block has accessed."""

    def choose(self, count: int) -> int:
        """Choose the next of several blocks at random."""
        return int(self.random.integers(count))

    def undefined_values(self, shape: tuple[int, ...], type: Type) -> Array:
        """Random elements for undefined values, so that their use is noticed."""
        storage = dtype(type)
        size = int(np.prod(shape)) * storage.itemsize
        bits = np.frombuffer(self.random.bytes(size), np.uint8)
        if type is F4E2M1FN:
            bits = bits & np.uint8(15)
        return from_memory(bits.view(storage), type).reshape(shape)

    def defined(self, op: Operation, at: Batch, result: Array, holds: Array, gist: str) -> Array:
        """A result that is undefined where a condition does not hold.

        An undefined scalar is an error. Undefined elements of a tile, which may be unused, are
        random.
        """
        if holds.all():
            return result
        if result.ndim == 1:
            at.require(op, holds, Fault.UNDEFINED, gist)
        return np.where(holds, result, self.undefined_values(result.shape, element(op.results[0])))

    def shadow(self, allocation: Allocation) -> ShadowT:
        """The shadow state of an allocation."""
        shadow = self._shadows.get(allocation)
        if shadow is None:
            shadow = self._shadows[allocation] = self._make_shadow(allocation)
        return shadow

    def uninitialise(self, allocation: Allocation) -> None:
        """Mark an allocation as uninitialised."""
        self.shadow(allocation).uninitialise(slice(None))

    def begin(self) -> None:
        """Take over which bytes of the arguments the host has marked as uninitialised."""
        for allocation in self.space.allocations:
            uninitialised = uninitialised_bytes(allocation.bytes)
            if uninitialised is not None:
                self.shadow(allocation).uninitialise(uninitialised)

    def end(self) -> None:
        """Record what has been written, for later launches."""
        for allocation, shadow in self._shadows.items():
            note_written(allocation.bytes, shadow.initialised)

    def delay(self, access: CheckedAccess) -> None:
        """Delay a store at random, at most until an operation that is ordered after it."""
        self._pending.append(access)
        for waiting in list(self._pending):
            if self.random.random() < 0.5:
                self._finish(waiting)

    def settle(self) -> bool:
        """Perform all delayed stores; return whether there were any."""
        waiting = list(self._pending)
        for access in waiting:
            self._finish(access)
        return bool(waiting)

    def perform(self, orders: Callable[[Any], bool]) -> None:
        """Perform the delayed stores that an operation is ordered after."""
        for access in list(self._pending):
            if orders(access):
                self._finish(access)

    def _finish(self, access: CheckedAccess) -> None:
        self._pending.remove(access)
        access.finish()


class CheckedAccess(Access):
    """A checked memory operation, whose store is delayed."""

    __slots__ = ("checker", "delayed")

    def __init__(self, op: Operation, at: Batch, checker: Checker[Any]) -> None:
        super().__init__(op, at)
        self.checker = checker
        self.delayed: Callable[[], object] | None = None

    def _store(self, addresses: Array, element: Type, values: Array) -> None:
        self.delay(partial(super()._store, addresses, element, np.array(values)))

    def delay(self, store: Callable[[], object]) -> None:
        """Perform a store later."""
        self.delayed = store
        self.checker.delay(self)

    def finish(self) -> None:
        """Perform a delayed store."""
        assert self.delayed is not None
        self.delayed()

    def _undefined(self, shape: tuple[int, ...], element: Type) -> Array:
        return self.checker.undefined_values(shape, element)

    def _note_undefined(self, values: Array, undefined: Array) -> None:
        nothing = np.zeros(undefined.shape, np.bool_)
        self.checker.undefined.put(values, Undefined(undefined, nothing, self.op))

    def store(
        self, addresses: Array, element: Type, values: Array, mask: Array | None = None
    ) -> None:
        self._check_defined(values, mask)
        super().store(addresses, element, values, mask)

    def update(
        self,
        addresses: Array,
        operands: Sequence[Array],
        update: Update,
        mask: Array | None = None,
        otherwise: Any = 0,
    ) -> Array:
        for operand in operands:
            self._check_defined(operand, mask)
        return super().update(addresses, operands, update, mask, otherwise)

    def _check_defined(self, values: Array, mask: Array | None) -> None:
        """Report a stored result of a reduction over elements of which some are undefined."""
        undefined = self.checker.undefined.get(values)
        if undefined is None or undefined.reduction is None:
            return
        stored: Array = undefined.combined if mask is None else undefined.combined & mask
        if not stored.any():
            return
        lane = int(np.argwhere(stored)[0][0])
        load = undefined.load.note(
            "leaves elements out of bounds undefined: it has no padding value "
            "(padding_mode of cuTile)"
        )
        gist = "combines elements in bounds with undefined ones, which are out of bounds"
        notes = load, self.op.note("stores the result, which is undefined")
        self.at.fail(undefined.reduction, Fault.UNDEFINED, gist, lane, *notes)

    def report_uninitialised(
        self, allocation: Allocation, row: int, size: int, lane: int = 0
    ) -> NoReturn:
        """Report an element that is read and was never written."""
        offset = f"byte {row * size} of {allocation.name}"
        element = f" (element {row})" if size > 1 else ""
        gist = f"reads {offset}{element}, which was never written"
        self.at.fail(self.op, Fault.UNINITIALISED, gist, lane)

    def report_race(
        self, allocation: Allocation, op: Operation, block: Sequence[int], lane: int = 0
    ) -> NoReturn:
        """Report a race with an access of a block."""
        message = f"is the other access, in block ({', '.join(map(str, block[:3]))})"
        gist = f"races with another access to {allocation.name}: no token orders them"
        self.at.fail(self.op, Fault.RACE, gist, lane, op.note(message))


def distinct(numbers: Array) -> list[int]:
    """The different numbers, of which there is often one."""
    if not numbers.size:
        return []
    first = int(numbers.flat[0])
    return [first] if (numbers == first).all() else np.unique(numbers).tolist()
