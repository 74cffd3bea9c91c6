"""A memory operation during execution: its addresses, its mask and its errors."""

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
"""Updates elements at indices, which may repeat, by operands, and returns the old values."""


class Token:
    """A token of each block of a batch: the set of memory operations that precede it.

    A set is the bits of an integer. Without a checker it is unused, and all tokens are equal.
    """

    __slots__ = ("pasts", "which")

    def __init__(self, pasts: tuple[int, ...] = (0,), which: Array | None = None) -> None:
        self.pasts = pasts
        """The different sets."""
        self.which = which
        """Which of them is that of each block; None if there is only one."""

    @property
    def past(self) -> int:
        """The set, which is the same for all blocks."""
        (past,) = self.pasts
        return past

    def after(self, operation: int) -> Token:
        """The token that depends on another operation, too."""
        return Token(tuple([past | 1 << operation for past in self.pasts]), self.which)

    def pick(self, lanes: Array) -> Token:
        """The tokens of some of the blocks."""
        return self if self.which is None else Token(self.pasts, self.which[lanes])

    def join(self, tokens: Sequence[Token], counts: Sequence[int], order: Array) -> Token:
        """The tokens of blocks that reconverge; `counts` are the blocks of each token."""
        if self.which is None and all(token.pasts == self.pasts for token in tokens):
            return self
        starts = np.cumsum([0, *(len(token.pasts) for token in tokens)])
        which = [
            np.full(count, start) if token.which is None else token.which + start
            for token, count, start in zip(tokens, counts, starts, strict=False)
        ]
        return _distinct([p for t in tokens for p in t.pasts], np.concatenate(which)[order])


NO_TOKEN: Final = Token()


def _distinct(pasts: Sequence[int], which: Array) -> Token:
    """A token with each set once."""
    used, which = np.unique(which, return_inverse=True)
    numbers: dict[int, int] = {}
    renumbered = [numbers.setdefault(pasts[number], len(numbers)) for number in used.tolist()]
    if len(numbers) == 1:
        return Token((*numbers,))
    return Token((*numbers,), np.array(renumbered)[which])


def join_tokens(tokens: Sequence[Token]) -> Token:
    """The token that depends on all others."""
    joined = NO_TOKEN
    for token in tokens:
        joined = _united(joined, token)
    return joined


def _united(one: Token, other: Token) -> Token:
    """The token that depends on two others."""
    if one.which is None and other.which is None:
        past = one.past | other.past
        return Token((past,)) if past else NO_TOKEN
    count = len(other.pasts)
    pasts = [past | others for past in one.pasts for others in other.pasts]
    return _distinct(pasts, _choice(one) * count + _choice(other))


def _choice(token: Token) -> Array:
    return np.zeros(1, np.int64) if token.which is None else token.which


class Access:
    """A memory operation of a batch of blocks."""

    __slots__ = ("at", "lanes", "op")

    def __init__(self, op: Operation, at: Batch) -> None:
        self.op = op
        self.at = at
        self.lanes: Array | None = None
        """For each accessed address the lane of its block, if a mask selects addresses."""

    @property
    def token(self) -> Token:
        """The token that depends on this operation."""
        return NO_TOKEN

    def load(
        self, addresses: Array, element: Type, mask: Array | None = None, padding: Any = None
    ) -> Array:
        """Load elements; where the mask is false, the padding, or an undefined value."""
        if mask is None or mask.all():
            return self._load(addresses, element)
        # Addresses may be uniform over the blocks while the padding is not.
        shape = np.broadcast_shapes(addresses.shape, mask.shape, np.shape(padding))
        addresses, mask = (np.broadcast_to(part, shape) for part in (addresses, mask))
        values = self._undefined(shape, element) if padding is None else padding
        values = np.array(np.broadcast_to(values, shape))
        values[mask] = self._load(addresses, element, mask)
        if padding is None:
            self._note_undefined(values, ~mask)
        return values

    def _load(self, addresses: Array, element: Type, mask: Array | None = None) -> Array:
        chosen = self._choose(addresses, mask)
        space = self.at.machine.space
        if element is not F4E2M1FN:
            return from_memory(space.load(self, chosen, DTYPES[element]), element)
        pairs = space.load(self, chosen >> np.uint64(1), np.dtype(np.uint8))
        return _nibble(pairs, chosen).view(DTYPES[F4E2M1FN])

    def store(
        self, addresses: Array, element: Type, values: Array, mask: Array | None = None
    ) -> None:
        """Store elements, where the mask is true."""
        if mask is not None and mask.all():
            mask = None
        if mask is not None:
            addresses, mask, values = np.broadcast_arrays(addresses, mask, values)
            values = values[mask]
        else:
            addresses, values = np.broadcast_arrays(addresses, values)
        self._store(self._choose(addresses, mask), element, values)

    def _store(self, addresses: Array, element: Type, values: Array) -> None:
        space = self.at.machine.space
        if element is I1:
            space.store(self, addresses, values.view(np.uint8))
        elif element is F4E2M1FN:
            self._store_nibbles(addresses, values.view(np.uint8))
        else:
            space.store(self, addresses, values)

    def _store_nibbles(self, addresses: Array, values: Array) -> None:
        """Store 4-bit elements, two per byte: all low nibbles first, then the high ones."""
        space = self.at.machine.space
        for odd in (0, 1):
            chosen = addresses & np.uint64(1) == odd
            bytes_at = addresses[chosen] >> np.uint64(1)
            shift = np.uint8(4 * odd)
            rest = space.load(self, bytes_at, np.dtype(np.uint8)) & np.uint8(0xF0 >> shift)
            space.store(self, bytes_at, rest | (values[chosen] << shift))

    def load_tiles(self, window: Window, element: Type) -> Array | None:
        """Load whole tiles within one allocation; None if they are not within one."""
        region = self.at.machine.space.tiles(window, DTYPES[element])
        if region is None:
            return None
        _, tiles, indices = region
        return from_memory(tiles[indices], element)

    def store_tiles(self, window: Window, element: Type, values: Array) -> bool:
        """Store whole tiles within one allocation; return whether they are."""
        space = self.at.machine.space
        region = space.tiles(window, DTYPES[element])
        if region is None:
            return False
        allocation, tiles, indices = region
        self._check_writable(allocation)
        indices = np.broadcast_to(indices, max(len(indices), len(values)))
        before = tiles[indices] if space.compares else values
        space.note_change(before, np.broadcast_to(values, before.shape))
        tiles[indices] = values
        return True

    def update(
        self,
        addresses: Array,
        operands: Sequence[Array],
        update: Update,
        mask: Array | None = None,
        otherwise: Any = 0,
    ) -> Array:
        """Update elements atomically, in every block; return the old values."""
        space, addresses = self.at.machine.space, per_block(addresses, self.at.count)
        operands = [np.broadcast_to(operand, addresses.shape) for operand in operands]
        if mask is None:
            return space.update(self, self._choose(addresses), operands, update)
        mask = np.broadcast_to(mask, addresses.shape)
        before = np.array(np.broadcast_to(otherwise, addresses.shape), operands[0].dtype)
        chosen = [operand[mask] for operand in operands]
        before[mask] = space.update(self, self._choose(addresses, mask), chosen, update)
        return before

    def _choose(self, addresses: Array, mask: Array | None = None) -> Array:
        """The accessed addresses; records their lanes for diagnostics."""
        self.lanes = None
        if mask is None:
            return addresses
        self.lanes = np.nonzero(mask)[0]
        return addresses[mask]

    def _undefined(self, shape: tuple[int, ...], element: Type) -> Array:
        """Elements with undefined values."""
        return np.zeros(shape, DTYPES[element])

    def _note_undefined(self, values: Array, undefined: Array) -> None:
        """Called with loaded values of which some elements are undefined."""

    def reads(self, hit: Hit, size: int) -> None:
        """Called before the operation reads elements of `size` bytes."""

    def writes(self, hit: Hit, size: int) -> None:
        """Called before the operation writes elements of `size` bytes."""
        self._check_writable(hit.allocation)

    def updates(self, hit: Hit, size: int) -> None:
        """Called before the operation updates elements of `size` bytes atomically."""
        self._check_writable(hit.allocation)

    def _check_writable(self, allocation: Allocation) -> None:
        if not allocation.writable:
            message = f"writes to {allocation.name}, which must not change"
            self.at.fail(self.op, Fault.READ_ONLY, message)

    def fault(self, fault: Fault, wrong: Array, addresses: Array, size: int) -> NoReturn:
        """Report the first wrong address."""
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        lane = first[0] if self.lanes is None else int(self.lanes[first[0]])
        address = int(addresses[first])
        if fault is Fault.MISALIGNED:
            nearby = self._nearby(address, size)
            gist = f"expected an address divisible by {size}, got {address:#x}, {nearby}"
        else:
            gist = f"accesses {size} bytes at {address:#x}, {self._nearby(address, size)}"
        self.at.fail(self.op, fault, gist, lane)

    def _nearby(self, address: int, element_size: int) -> str:
        allocation = self.at.machine.space.find(address)
        if allocation is None or address >= allocation.end + GAP:
            return "where there is no memory"
        offset, size = address - allocation.base, len(allocation.bytes)
        text = f"byte {offset} of {allocation.name}, which has {size}"
        if element_size == 1 or offset % element_size:
            return text
        return f"{text} (element {offset // element_size} of {size // element_size})"


def _nibble(pairs: Array, addresses: Array) -> Array:
    """The nibble of a byte that a nibble address selects: the low one first."""
    shift = (addresses & np.uint64(1)).astype(np.uint8) << np.uint8(2)
    return (pairs >> shift) & np.uint8(15)
