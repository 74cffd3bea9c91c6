"""Times of kernel launches on a GPU, without the host's share of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

LAUNCHES: Final = 20


def median_us(torch: Any, launch: Callable[[], object], repeats: int = 5) -> float:
    """The median time of a launch in microseconds, in a CUDA graph of several."""
    for _ in range(3):
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            launch()
    graph.replay()
    torch.cuda.synchronize()
    times: list[float] = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / LAUNCHES)
    return sorted(times)[repeats // 2]


def cold_launch(torch: Any, launch: Callable[[], object]) -> Callable[[], float]:
    """Capture a launch; return a function that launches it once and gives its microseconds.

    Other data has filled the L2 cache before each launch, as in cuTile's benchmarks.
    """
    for _ in range(3):
        launch()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        start, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        others = torch.empty(cache, dtype=torch.uint8, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            others.zero_()
            start.record()
            launch()
            end.record()

    def launch_once() -> float:
        with torch.cuda.stream(stream):
            graph.replay()
            end.synchronize()
        return start.elapsed_time(end) * 1000

    return launch_once


def eager_launch(torch: Any, launch: Callable[[], object]) -> Callable[[], float]:
    """Return a function that launches once and gives its microseconds, the host's share included.

    For what a graph cannot capture, because the host waits for results.
    """
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def launch_once() -> float:
        start.record()
        launch()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1000

    launch_once()
    return launch_once


def cold_us(torch: Any, launch: Callable[[], object], repeats: int = 20) -> float:
    """The median time of a launch in microseconds, after other data has filled the L2 cache."""
    launch_once = cold_launch(torch, launch)
    return sorted(launch_once() for _ in range(repeats))[repeats // 2]


def copy_us(torch: Any, accessed: int, time: Callable[..., float] = median_us) -> float:
    """The time of a copy in device memory that reads and writes `accessed` bytes in all.

    It is the faster one of torch's copy, which is a memcpy, and of a kernel for each element.
    """
    source = torch.empty(accessed // 8, dtype=torch.int32, device="cuda")
    target = torch.empty_like(source)
    by_memcpy = time(torch, lambda: target.copy_(source))
    return min(by_memcpy, time(torch, lambda: torch.bitwise_not(source, out=target)))
