"""What is asked of a kernel beside the hints of its entry: by a forced schedule, or a record.

Passes read requests from `nv_tileaa.asked` of the kernel, and write what they choose into its
`kernel_spec`. Programs that begin at nv_tileaa may give hints as a `kernel_spec`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.requests import (
    LAUNCH_KEYS,
    NUM_CTAS,
    AskedAttr,
    Request,
)
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass, option
from tilewright.support.schedule_keys import (
    CHOICES,
    COUNTS,
    ENTRY,
    LEVEL,
    OPTIONS,
    RESTRICTIONS,
    SANITIZE,
    SCHEDULE,
    SOURCES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

RESTRICTED: Final = {
    LEVEL: "schedules are followed from -O2 on",
    SANITIZE: "--sanitize keeps accesses beside their checks",
}
"""Why no request of a schedule is followed, by what restricts the compiler."""
UNASKED: Final = -1
PLANNED_KEYS: Final = ("warps", "k_parts")
"""The keys of schedules whose values a plan has already."""


def _request(name: str, doc: str) -> int:
    """An option that is a key of schedules, or of restrictions."""

    def parse(text: str) -> int:
        values = RESTRICTIONS.get(name) or CHOICES[name]
        if not text.isdecimal() or int(text) not in values:
            raise ValueError(f"expected one of {', '.join(map(str, values))}")
        return int(text)

    return option(default=UNASKED, doc=doc, parse=parse)


def _source(text: str) -> str:
    if text not in SOURCES:
        raise ValueError(f"expected one of {', '.join(SOURCES)}")
    return text


class RecordRequests(Pass):
    """Record what is asked of every kernel, before any pass depends on it.

    Of two requests for one key, that of the first source wins: a forced schedule, the environment,
    a tuning record, the hints of the entry. The other one is recorded as refused, and so is all
    that the optimization level, `--sanitize` or a plan does not allow. A `kernel_spec` of a kernel
    without requests or a plan is taken for its hints.
    """

    name = "record-requests"
    is_required = True
    stages: int = _request("stages", "the number of stages of every pipeline")
    in_flight: int = _request("in-flight", "dots in flight over iterations")
    k_parts: int = _request("k-parts", "into how many iterations one of a loop over K is split")
    agents: int = _request("agents", "warp specialization where possible")
    multicast: int = _request("multicast", "multicast where possible")
    tma_stores: int = _request("tma-stores", "stores by TMA where possible")
    evict_first: int = _request("evict-first", "evict tiles that are read once from L2 first")
    rotate: int = _request("rotate", "rotate loops with dependent dots where possible")
    kept_tiles: int = _request("kept-tiles", "tiles of a loop that stay in shared memory, at most")
    single_trip: int = _request("single-trip", "version loops for one iteration")
    prefetch: int = _request("prefetch", "prefetch no small tiles (0), or all that fit (1)")
    warps: int = _request("warps", "the number of warps of a block")
    source: str = option(default=SCHEDULE, doc="what asks for all of these", parse=_source)
    level: int = _request("level", "the optimization level, if it restricts what passes do")
    sanitize: int = _request("sanitize", "keep accesses beside what checks them")

    def run(self, op: Operation, sink: Sink) -> None:
        requests = self._requests()
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if kernel.is_kernel:
                _take_hints(kernel)
                self._restrict(kernel)
                _record(kernel, _allowed(kernel, requests))

    def _requests(self) -> list[Request]:
        """What the options ask for."""
        requests: list[Request] = []
        for name in CHOICES:
            key = name.replace("-", "_")
            value = getattr(self, key)
            if value > 0 or (value == 0 and name not in COUNTS):
                requests.append(Request(key, value, self.source))
        return requests

    def _restrict(self, kernel: FuncOp) -> None:
        """Record what restricts the compiler; a kernel keeps what restricts it already."""
        for key, value in ((LEVEL, self.level), (SANITIZE, self.sanitize)):
            previous = kernel.asks(key)
            if value != UNASKED and (previous is None or value < previous):
                asked = kernel.asked or AskedAttr()
                kernel.asked = asked.with_request(Request(key, value, OPTIONS))


def _allowed(kernel: FuncOp, requests: Sequence[Request]) -> list[Request]:
    """The requests that no restriction refuses; those of the text are refused, too."""
    restriction = next((key for key in RESTRICTED if kernel.asks(key) is not None), None)
    if restriction is None:
        return list(requests)
    for request in [*_schedule_of(kernel), *requests]:
        if request.value:
            kernel.refuse(request.key, f"{_shown(request)}: {RESTRICTED[restriction]}")
            if kernel.asked is not None and kernel.asked.get(request.key) is request:
                kernel.asked = kernel.asked.without(request.key)
    return [each for each in requests if not each.value]


def _schedule_of(kernel: FuncOp) -> list[Request]:
    """The requests of the text that are of a schedule, but for those that its plan follows."""
    asked = kernel.asked or AskedAttr()
    followed = PLANNED_KEYS if kernel.planned else ()
    return [
        each
        for each in asked.requests
        if each.source not in (OPTIONS, ENTRY) and each.key not in followed
    ]


def _record(kernel: FuncOp, requests: Sequence[Request]) -> None:
    """Write requests into a kernel, or why they are not followed."""
    for request in requests:
        if kernel.planned and request.key in PLANNED_KEYS:
            kernel.refuse(request.key, f"{_shown(request)}: the program has a plan")
            continue
        asked = kernel.asked or AskedAttr()
        previous = asked.get(request.key) or request
        # That of the first source wins.
        winner, loser = sorted((request, previous), key=lambda each: SOURCES.index(each.source))
        if loser.value != winner.value:
            kernel.refuse(request.key, f"{_shown(loser)}: overridden by {winner.source}")
        kernel.asked = asked.with_request(winner)


def _take_hints(kernel: FuncOp) -> None:
    """Move the `kernel_spec` of a kernel without requests to what is asked.

    That of a kernel with a plan or with layouts was chosen, and so was the size of a cluster whose
    CTAs share tiles.
    """
    spec = kernel.kernel_spec
    if spec is None or kernel.asked is not None or kernel.planned:
        return
    if any(inner.dialect == "nv_tileas" for inner in kernel.walk()):
        return
    hints = dict(zip(LAUNCH_KEYS, (spec.num_ctas, spec.num_warps, spec.occupancy), strict=True))
    ctas = hints.pop(NUM_CTAS) if kernel.is_distributed else None
    requests = [Request(key, value, ENTRY) for key, value in hints.items() if value is not None]
    if requests:
        kernel.asked = AskedAttr(requests)
        kernel.kernel_spec = KernelSpecAttr(ctas)


def _shown(request: Request) -> str:
    return f"{request.value} of {request.source}"
