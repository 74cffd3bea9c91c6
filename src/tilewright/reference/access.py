"""One memory operation while it runs: which elements it moves, and what it gets blamed for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from tilewright.ir.types import F4E2M1FN, I1
from tilewright.reference.address_space import GAP, Allocation, Hit, Window
from tilewright.reference.errors import Fault
from tilewright.reference.tile import DTYPES, Array, from_memory, per_block

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.reference.batch import Batch

Update = Callable[[Array, Array, Sequence[Array]], Array]
"""Changes elements at places, which may repeat, by operands, and gives what was there before."""


class Token:
    """What a token stands for: the memory operations that are done when it is there.

    They are bits of an integer. Without a checker nobody asks, and all tokens are the same one.
    """

    __slots__ = ("past",)

    def __init__(self, past: int = 0) -> None:
        self.past = past

    def pick(self, lanes: Array) -> Token:
        """The token of some of the blocks: blocks that are checked run alone."""
        return self

    def join(self, tokens: Sequence[Any], order: Array) -> Token:
        """The token of blocks that meet again."""
        return self


NO_TOKEN: Final = Token()


def join_tokens(tokens: Sequence[Token]) -> Token:
    """The token that is there when all others are."""
    past = 0
    for token in tokens:
        past |= token.past
    return Token(past) if past else NO_TOKEN


class Access:
    """A memory operation that a batch of blocks runs."""

    __slots__ = ("at", "op", "places")

    def __init__(self, op: Operation, at: Batch) -> None:
        self.op = op
        self.at = at
        self.places: Array | None = None
        """For each address that is accessed, which block it belongs to; made when needed."""

    @property
    def token(self) -> Token:
        """The token that says that this is done."""
        return NO_TOKEN

    def load(
        self, addresses: Array, element: Type, where: Array | None = None, padding: Any = None
    ) -> Array:
        """The elements at addresses; where told not to look, the padding, or anything."""
        if where is None or where.all():
            return self._load(addresses, element)
        # Blocks may agree on all addresses and still each have a padding of its own.
        shape = np.broadcast_shapes(addresses.shape, where.shape, np.shape(padding))
        addresses, where = (np.broadcast_to(part, shape) for part in (addresses, where))
        values = self._undefined(shape, element) if padding is None else padding
        values = np.array(np.broadcast_to(values, shape))
        values[where] = self._load(addresses, element, where)
        return values

    def _load(self, addresses: Array, element: Type, where: Array | None = None) -> Array:
        chosen = self._choose(addresses, where)
        space = self.at.machine.space
        if element is not F4E2M1FN:
            return from_memory(space.load(self, chosen, DTYPES[element]), element)
        pairs = space.load(self, chosen >> np.uint64(1), np.dtype(np.uint8))
        return _half(pairs, chosen).view(DTYPES[F4E2M1FN])

    def store(
        self, addresses: Array, element: Type, values: Array, where: Array | None = None
    ) -> None:
        """Change the elements at addresses, where told to."""
        if where is not None and where.all():
            where = None
        if where is not None:
            addresses, where, values = np.broadcast_arrays(addresses, where, values)
            values = values[where]
        else:
            addresses, values = np.broadcast_arrays(addresses, values)
        self._store(self._choose(addresses, where), element, values)

    def _store(self, addresses: Array, element: Type, values: Array) -> None:
        space = self.at.machine.space
        if element is I1:
            space.store(self, addresses, values.view(np.uint8))
        elif element is F4E2M1FN:
            self._store_halves(addresses, values.view(np.uint8))
        else:
            space.store(self, addresses, values)

    def _store_halves(self, addresses: Array, values: Array) -> None:
        """Two elements share a byte: all that are first in their byte go before the others."""
        space = self.at.machine.space
        for odd in (0, 1):
            chosen = addresses & np.uint64(1) == odd
            places = addresses[chosen] >> np.uint64(1)
            shift = np.uint8(4 * odd)
            rest = space.load(self, places, np.dtype(np.uint8)) & np.uint8(0xF0 >> shift)
            space.store(self, places, rest | (values[chosen] << shift))

    def load_tiles(self, window: Window, element: Type) -> Array | None:
        """Whole tiles that lie in one allocation; nothing if they do not."""
        found = self.at.machine.space.tiles(window, DTYPES[element])
        if found is None:
            return None
        _, tiles, places = found
        return from_memory(tiles[places], element)

    def store_tiles(self, window: Window, element: Type, values: Array) -> bool:
        """Change whole tiles that lie in one allocation; tells if they do."""
        space = self.at.machine.space
        found = space.tiles(window, DTYPES[element])
        if found is None:
            return False
        allocation, tiles, places = found
        self._check_writable(allocation)
        tiles[np.broadcast_to(places, max(len(places), len(values)))] = values
        space.version += 1
        return True

    def update(
        self,
        addresses: Array,
        operands: Sequence[Array],
        update: Update,
        where: Array | None = None,
        otherwise: Any = 0,
    ) -> Array:
        """Change elements in one step each, in every block; gives what was there before."""
        space, addresses = self.at.machine.space, per_block(addresses, self.at.count)
        operands = [np.broadcast_to(operand, addresses.shape) for operand in operands]
        if where is None:
            return space.update(self, self._choose(addresses), operands, update)
        where = np.broadcast_to(where, addresses.shape)
        before = np.array(np.broadcast_to(otherwise, addresses.shape), operands[0].dtype)
        chosen = [operand[where] for operand in operands]
        before[where] = space.update(self, self._choose(addresses, where), chosen, update)
        return before

    def _choose(self, addresses: Array, where: Array | None = None) -> Array:
        """The addresses that are accessed; remembers whose they are, should one be wrong."""
        self.places = None
        if where is None:
            return addresses
        self.places = np.nonzero(where)[0]
        return addresses[where]

    def _undefined(self, shape: tuple[int, ...], element: Type) -> Array:
        """Elements that the program must not use."""
        return np.zeros(shape, DTYPES[element])

    def reads(self, hit: Hit, size: int) -> None:
        """The operation is about to read elements of some bytes."""

    def writes(self, hit: Hit, size: int) -> None:
        """The operation is about to write elements of some bytes."""
        self._check_writable(hit.allocation)

    def updates(self, hit: Hit, size: int) -> None:
        """The operation is about to read and write elements of some bytes in one step."""
        self._check_writable(hit.allocation)

    def _check_writable(self, allocation: Allocation) -> None:
        if not allocation.writable:
            message = f"writes to {allocation.name}, which must not change"
            self.at.fail(self.op, Fault.READ_ONLY, message)

    def fault(self, fault: Fault, wrong: Array, addresses: Array, size: int) -> NoReturn:
        """Stop because some of the addresses are wrong."""
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        lane = first[0] if self.places is None else int(self.places[first[0]])
        address = int(addresses[first])
        if fault is Fault.MISALIGNED:
            gist = f"expected an address divisible by {size}, got {address:#x}"
        else:
            gist = f"accesses {size} bytes at {address:#x}, {self._nearby(address)}"
        self.at.fail(self.op, fault, gist, lane)

    def _nearby(self, address: int) -> str:
        allocation = self.at.machine.space.find(address)
        if allocation is None or address >= allocation.end + GAP:
            return "where there is no memory"
        offset, size = address - allocation.base, len(allocation.bytes)
        return f"byte {offset} of {allocation.name}, which has {size}"


def _half(pairs: Array, addresses: Array) -> Array:
    """The half of a byte that an address in half bytes means: the low one comes first."""
    shift = (addresses & np.uint64(1)).astype(np.uint8) << np.uint8(2)
    return (pairs >> shift) & np.uint8(15)
