"""Kernel times on a GPU: CUDA graphs of several launches between events, on one set of arrays."""

from __future__ import annotations

import copy
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.launch import Plan, start
from tilewright.driver.launch_checks import check_grid
from tilewright.driver.staging import Staging
from tilewright.runtime.device import Gpu, current_gpu
from tilewright.runtime.driver import bindings, call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.driver.compile import CompiledModule
    from tilewright.driver.tuning.job import Job

GRAPH_TIME: Final = 1000.0
"""The time of a graph in µs, so that what the events measure beside kernels does not count."""
MOST_LAUNCHES: Final = 50
ESTIMATES: Final = 3
NON_BLOCKING: Final = 1
"""The flag of a stream that does not wait for the default stream."""


class GpuMeter:
    """Times of kernels on the current GPU.

    Each run starts from the arguments of the job; launches that are timed change one set of arrays
    again and again.
    """

    __slots__ = ("_gpu", "_graphs", "_job", "_passed", "_plans", "_stream")

    def __init__(self, job: Job) -> None:
        self._job = job
        self._gpu: Gpu = current_gpu()
        self._gpu.use()
        self._passed = Staging(self._gpu).upload_arguments(copy.deepcopy(job.values))
        self._gpu.synchronize()
        self._stream = int(call("cuStreamCreate", NON_BLOCKING))
        self._plans: dict[bytes, Plan] = {}
        self._graphs: dict[bytes, Graph] = {}

    def run(self, kernel: CompiledModule) -> list[Any]:
        values = copy.deepcopy(self._job.values)
        start(self._plan(kernel), self._job.grid, values, None, wait=True, write=lambda text: None)
        return values

    def estimate(self, kernel: CompiledModule) -> float:
        launch, clock = self._launcher(kernel), Stopwatch(self._stream)
        return min(clock.time(launch) for _ in range(ESTIMATES))

    def measure(self, kernels: Sequence[CompiledModule], repeats: int) -> list[float]:
        graphs = [self._graph(kernel) for kernel in kernels]
        times: list[list[float]] = [[] for _ in graphs]
        # In turn, so that a change of the clocks is one of all kernels.
        for _ in range(repeats):
            for graph, each in zip(graphs, times, strict=True):
                each.append(graph.time())
        return [median(each) for each in times]

    def _plan(self, kernel: CompiledModule) -> Plan:
        plan = self._plans.get(kernel.cubin)
        if plan is None:
            plan = self._plans[kernel.cubin] = Plan.of(kernel, self._job.entry)
        return plan

    def _graph(self, kernel: CompiledModule) -> Graph:
        graph = self._graphs.get(kernel.cubin)
        if graph is None:
            fitting = int(GRAPH_TIME / max(self.estimate(kernel), 1.0))
            launches = max(1, min(MOST_LAUNCHES, fitting))
            graph = Graph(self._stream, self._launcher(kernel), launches)
            self._graphs[kernel.cubin] = graph
        return graph

    def _launcher(self, kernel: CompiledModule) -> Callable[[], None]:
        """A function that launches a kernel on the arrays of all launches that are timed."""
        plan, gpu = self._plan(kernel), self._gpu
        with gpu.current() as context:
            loaded = gpu.kernel(context, plan.cubin, plan.signature.name)
        cluster = (1, 1, 1) if plan.counts_clusters else loaded.cluster
        extents = check_grid(self._job.grid, gpu, cluster)
        passed = plan.signature.encode(self._passed)
        if plan.map_arguments.maps:
            passed += plan.map_arguments.of(tuple(passed))

        def launch() -> None:
            gpu.launch(loaded.function, extents, plan.threads, passed, stream=self._stream)

        return launch


class Stopwatch:
    """A pair of events on a stream."""

    __slots__ = ("_end", "_start", "_stream")

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._start = call("cuEventCreate", 0)
        self._end = call("cuEventCreate", 0)

    def time(self, work: Callable[[], object]) -> float:
        """The time in µs that work on the stream takes; waits for it."""
        call("cuEventRecord", self._start, self._stream)
        work()
        call("cuEventRecord", self._end, self._stream)
        call("cuEventSynchronize", self._end)
        return 1000.0 * float(call("cuEventElapsedTime", self._start, self._end))


class Graph:
    """A CUDA graph of launches, without the host's share of them."""

    __slots__ = ("_clock", "_graph", "_launches", "_stream")

    def __init__(self, stream: int, launch: Callable[[], None], launches: int) -> None:
        self._stream = stream
        self._launches = launches
        mode = bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        call("cuStreamBeginCapture", stream, mode)
        for _ in range(launches):
            launch()
        captured = call("cuStreamEndCapture", stream)
        self._graph = call("cuGraphInstantiate", captured, 0)
        call("cuGraphDestroy", captured)
        self._clock = Stopwatch(stream)
        self.time()  # the first one uploads the graph

    def time(self) -> float:
        """The time of one launch in µs."""
        work = self._clock.time(lambda: call("cuGraphLaunch", self._graph, self._stream))
        return work / self._launches
