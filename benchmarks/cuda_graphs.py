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


def copy_us(torch: Any, accessed: int) -> float:
    """The time of a copy in device memory that reads and writes `accessed` bytes in all."""
    source = torch.empty(accessed // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return median_us(torch, lambda: target.copy_(source))
