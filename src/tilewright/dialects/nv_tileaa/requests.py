"""What is asked of a kernel, and which of it is refused."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple, Self, cast

from tilewright.ir.attribute_kinds import InstanceKind
from tilewright.ir.attributes import Parametric
from tilewright.support.schedule_keys import CHOICES, COUNTS, RESTRICTIONS, SOURCES
from tilewright.text.attribute_printer import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

NUM_CTAS: Final = "num_ctas"
WARPS: Final = "warps"
OCCUPANCY: Final = "occupancy"
LAUNCH_KEYS: Final = (NUM_CTAS, WARPS, OCCUPANCY)
"""The keys of the launch configuration: CTAs per cluster, warps per CTA, CTAs per SM."""
SCHEDULE_KEYS: Final = {
    key: values[1:] if spelling in COUNTS else values
    for spelling, values in CHOICES.items()
    if (key := spelling.replace("-", "_")) not in LAUNCH_KEYS
}
"""The other keys, with the values that ask for something."""
KEYS: Final = (*LAUNCH_KEYS, *SCHEDULE_KEYS, *RESTRICTIONS)


class Change(enum.Enum):
    """What passes do beyond what programs need to fit the GPU."""

    DISTRIBUTE = enum.auto()
    """Divide tiles between the CTAs of a cluster."""
    IMPROVE = enum.auto()
    """Generate better code."""
    REORDER = enum.auto()
    """Generate better code, with accesses apart from what checks them."""

    @property
    def least_level(self) -> int:
        """The lowest optimization level that allows it."""
        return 1 if self is Change.DISTRIBUTE else 2

    @property
    def separates_checks(self) -> bool:
        """Whether `--sanitize` forbids it."""
        return self is not Change.IMPROVE


class Request(NamedTuple):
    """One value that is asked for."""

    key: str
    value: int
    source: str

    @property
    def problem(self) -> str | None:
        """Why it is invalid, or `None`."""
        if self.key not in KEYS:
            return _unknown(self.key)
        values = SCHEDULE_KEYS.get(self.key) or RESTRICTIONS.get(self.key)
        if values is None and self.value < 1:
            return f"expected a positive number for '{self.key}', found {self.value}"
        if values is not None and self.value not in values:
            limits = " to ".join(map(str, sorted({values[0], values[-1]})))
            return f"expected {limits} for '{self.key}', found {self.value}"
        if self.source not in SOURCES:
            return f"expected one of {', '.join(SOURCES)}, found '{self.source}'"
        return None


class Refusal(NamedTuple):
    """Why a request is not followed, or not in all loops."""

    key: str
    reason: str


class AskedAttr(Parametric):
    """`#nv_tileaa.asked<warps = <8, schedule>, occupancy = <2, entry>>`: requests on a kernel.

    A request has a value and a source: `options` of the command line, a forced `schedule`, the
    `environment`, a tuning `record`, or the hints of the `entry`. No pass but `record-requests`
    changes them.
    """

    __slots__ = ("requests",)
    mnemonic = "nv_tileaa.asked"

    requests: tuple[Request, ...]

    def __new__(cls, requests: Iterable[Request] = ()) -> Self:
        return cls.unique(tuple(requests))

    def get(self, key: str) -> Request | None:
        """The request of a key, if there is one."""
        return next((each for each in self.requests if each.key == key), None)

    def without(self, key: str) -> AskedAttr:
        """The other requests."""
        return AskedAttr(each for each in self.requests if each.key != key)

    def with_request(self, request: Request) -> AskedAttr:
        """The requests with one in place of another of its key, if there is one."""
        return AskedAttr((*self.without(request.key).requests, request))

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (requests,) = cast("tuple[Sequence[Request]]", parameters)
        problems = [problem for each in requests if (problem := each.problem) is not None]
        if problems:
            return problems[0]
        keys = [each.key for each in requests]
        twice = [key for key in KEYS if keys.count(key) > 1]
        return f"expected one request for '{twice[0]}', found several" if twice else None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        pairs = [f"{each.key} = <{each.value}, {each.source}>" for each in self.requests]
        return f"<{', '.join(pairs)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""

        def request() -> Request:
            key = parser.keyword()
            parser.expect("=")
            parser.expect("<")
            value = parser.integer()
            parser.expect(",")
            source = parser.keyword()
            parser.expect(">")
            return Request(key, value, source)

        at = parser.at
        return parser.invalid(cls, parser.listed(request, "<", ">"), at=at)


class RefusedAttr(Parametric):
    """`#nv_tileaa.refused<[<stages, "no loop is pipelined">]>`: requests that are not followed."""

    __slots__ = ("refusals",)
    mnemonic = "nv_tileaa.refused"

    refusals: tuple[Refusal, ...]

    def __new__(cls, refusals: Iterable[Refusal] = ()) -> Self:
        return cls.unique(tuple(refusals))

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (refusals,) = cast("tuple[Sequence[Refusal]]", parameters)
        return next((_unknown(each.key) for each in refusals if each.key not in KEYS), None)

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        pairs = [f"<{each.key}, {quoted(each.reason)}>" for each in self.refusals]
        return f"<[{', '.join(pairs)}]>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""

        def refusal() -> Refusal:
            parser.expect("<")
            key = parser.keyword()
            parser.expect(",")
            reason = parser.string()
            parser.expect(">")
            return Refusal(key, reason)

        at = parser.at
        parser.expect("<")
        refusals = parser.listed(refusal, "[", "]")
        parser.expect(">")
        return parser.invalid(cls, refusals, at=at)


def _unknown(key: str) -> str:
    return f"expected one of {', '.join(KEYS)}, found '{key}'"


ASKED: Final = InstanceKind(AskedAttr, "requests")
REFUSED: Final = InstanceKind(RefusedAttr, "refusals")
