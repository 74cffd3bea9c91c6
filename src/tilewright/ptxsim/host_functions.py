"""Device runtime functions that a kernel may call: printf, assert, malloc, free."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

import numpy as np

from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import GLOBAL_WINDOW, LOCAL_WINDOW, OFFSET_IN_CTA, SHARED_WINDOW
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.syntax import Instruction

# Lanes, arguments, the call; the result is one value for each lane.
HostFunction = Callable[[Lanes, Sequence[Array], Instruction], Array]

_CONVERSION: Final = re.compile(
    r"%[-+ #0]*([0-9]+|\*)?(?:\.([0-9]*|\*))?(hh|h|ll|l|z|j|t|L)?([a-zA-Z%])"
)
_MOST_CHARACTERS: Final = 4095
"""The largest width and precision: C guarantees no more characters of one conversion."""
_TRAILING_ZEROS: Final = re.compile(r"\.?0+(p)")
_SIGNED: Final = "di"
_UNSIGNED: Final = "uoxXc"
_FLOATS: Final = "eEfFgGaA"


def _byte(lanes: Lanes, lane: int, address: int, site: Instruction) -> int:
    """Read one byte at a generic address of one thread."""
    memory = lanes.wave.memory
    thread = int(lanes.threads[lane])
    if address >= GLOBAL_WINDOW:
        data, offset = memory.device.arena.bytes, address - GLOBAL_WINDOW
    elif address >= LOCAL_WINDOW:
        data = memory.local.bytes
        offset = thread * memory.local_stride + address - LOCAL_WINDOW
    else:
        data = memory.shared_of_cta(int(lanes.wave.cta_of_thread[thread]))
        offset = (address - SHARED_WINDOW) & OFFSET_IN_CTA
    if offset >= len(data):
        lanes.wave.violation(f"reads a byte at {address:#x}, where no memory is", site, thread)
    return int(data[offset])


def _string(lanes: Lanes, lane: int, address: int, site: Instruction) -> str:
    text = bytearray()
    while address and (byte := _byte(lanes, lane, address + len(text), site)):
        text.append(byte)
    return text.decode("utf-8", "replace")


class _Arguments:
    """The argument buffer of `vprintf`: every argument aligned to its own size."""

    def __init__(self, lanes: Lanes, lane: int, address: int, site: Instruction) -> None:
        self.lanes = lanes
        self.lane = lane
        self.at = address
        self.site = site

    def take(self, size: int) -> bytes:
        self.at = -(-self.at // size) * size
        data = bytes(_byte(self.lanes, self.lane, self.at + at, self.site) for at in range(size))
        self.at += size
        return data

    def integer(self, size: int, signed: bool) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def convert(self, match: re.Match[str]) -> str:
        width, precision, length, letter = match.groups()
        if letter == "%":
            return "%"
        if letter not in f"{_SIGNED}{_UNSIGNED}{_FLOATS}ps":
            self._reject(match, "expected one of d i u o x X e E f F g G a A c p s %")
        stars = tuple(self.integer(4, True) for part in (width, precision) if part == "*")
        self._check_sizes(match, stars)
        size = 8 if length in ("ll", "l", "z", "j", "t") else 4
        form = match[0].replace(length or "", "", 1) if length else match[0]
        if letter in _SIGNED:
            return form % (*stars, self.integer(size, True))
        if letter in _UNSIGNED:
            return _unsigned(form, stars, self.integer(size, False))
        if letter == "p":
            return f"0x{self.integer(8, False):x}"
        if letter == "s":
            text = _string(self.lanes, self.lane, self.integer(8, False), self.site)
            return form % (*stars, text)
        value = float(np.frombuffer(self.take(8), np.float64)[0])
        return _hexadecimal(form, stars, value) if letter in "aA" else form % (*stars, value)

    def _check_sizes(self, match: re.Match[str], stars: tuple[int, ...]) -> None:
        """Reject a width or precision that would fill the memory of the host."""
        written = [part.lstrip("0") for part in match.group(1, 2) if part and part != "*"]
        longest = max([len(part) for part in written], default=0)
        sizes = [int(part or 0) for part in written] if longest < 10 else [10**longest]
        if max([*sizes, *map(abs, stars)], default=0) > _MOST_CHARACTERS:
            self._reject(match, f"expected a width and a precision of at most {_MOST_CHARACTERS}")

    def _reject(self, match: re.Match[str], expected: str) -> NoReturn:
        what = f"conversion '{match[0]}' at character {match.start() + 1} of the format"
        thread = int(self.lanes.threads[self.lane])
        self.lanes.wave.violation(f"vprintf: {what}: {expected}", self.site, thread)


def _unsigned(form: str, stars: tuple[int, ...], value: int) -> str:
    """Format as C does: the alternate form of zero has no prefix, that of octal is a zero."""
    if "#" in form and (value == 0 or form.endswith("o")):
        form = form.replace("#", "")
        if value:
            return f"{form[:-1]}s" % (*stars, f"0{value:o}")
    return form.replace("u", "d") % (*stars, value)


def _hexadecimal(form: str, stars: tuple[int, ...], value: float) -> str:
    """Format a float as hexadecimal, without trailing zeros."""
    text = _TRAILING_ZEROS.sub(r"\1", value.hex())
    return f"{form[:-1]}s" % (*stars, text if form.endswith("a") else text.upper())


def _vprintf(lanes: Lanes, arguments: Sequence[Array], site: Instruction) -> Array:
    formats, buffers = arguments
    for lane in range(lanes.count):
        text = _string(lanes, lane, int(formats[lane]), site)
        values = _Arguments(lanes, lane, int(buffers[lane]), site)
        lanes.wave.print(_CONVERSION.sub(values.convert, text))
    return np.ones(lanes.count, np.int32)


def _assertfail(lanes: Lanes, arguments: Sequence[Array], site: Instruction) -> Array:
    message, file, line, function = (int(argument[0]) for argument in arguments[:4])
    text = _string(lanes, 0, message, site)
    name = _string(lanes, 0, function, site)
    location = f"{_string(lanes, 0, file, site)}:{line} in {name}"
    lanes.wave.violation(f"assertion '{text}' fails at {location}", site, int(lanes.threads[0]))


def _malloc(lanes: Lanes, arguments: Sequence[Array], site: Instruction) -> Array:
    device = lanes.wave.memory.device
    addresses = [device.allocate(int(size), 16, "malloc") for size in arguments[0]]
    return np.array(addresses, np.uint64)


def _free(lanes: Lanes, arguments: Sequence[Array], site: Instruction) -> Array:
    for address in arguments[0]:
        if int(address):
            lanes.wave.memory.device.release(int(address))
    return np.zeros(lanes.count, np.uint32)


HOST_FUNCTIONS: Final[dict[str, HostFunction]] = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}
