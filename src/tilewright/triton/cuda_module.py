"""`torch.cuda` of a torch without CUDA: one device, whose streams and events order nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from tilewright.support.diagnostics import Unsupported
from tilewright.triton.cuda_tensors import is_cuda
from tilewright.triton.device import MEMORY_BYTES, DeviceProperties, device_name
from tilewright.triton.versions import torch

if TYPE_CHECKING:
    from tilewright.triton.options import Options

_MILLISECONDS: Final = 1e3


class Stream:
    """A stream: launches end before they return, so that there is nothing to wait for."""

    def __init__(self, device: object = None, priority: int = 0, **options: Any) -> None:
        self.device = torch().device("cuda", 0)
        self.device_index = 0
        self.device_type = 1
        self.priority = priority
        self.cuda_stream = 0
        self.stream_id = 0

    def synchronize(self) -> None:
        """Return: all work has ended."""

    def wait_stream(self, stream: Any) -> None:
        """Return: all work of the other stream has ended."""

    def wait_event(self, event: Any) -> None:
        """Return: the event has happened."""

    def query(self) -> bool:
        """Whether all work has ended."""
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one if there is none."""
        event = event or Event(enable_timing=True)
        event.record()
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is to be restored: all streams are one."""


class Event:
    """An event, which happens when it is recorded; times are those of the host."""

    def __init__(self, enable_timing: bool = False, **options: Any) -> None:
        self._enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Record the event."""
        self._time = perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """The milliseconds of the host between two recorded events."""
        if not (self._enable_timing and end._enable_timing):
            raise ValueError("expected events with enable_timing=True")
        if self._time is None or end._time is None:
            raise ValueError("expected events that have been recorded")
        return (end._time - self._time) * _MILLISECONDS

    def synchronize(self) -> None:
        """Return: the event has happened."""

    def wait(self, stream: Any = None) -> None:
        """Return: the event has happened."""

    def query(self) -> bool:
        """Whether the event has happened."""
        return True


@contextmanager
def _current(stream: Any) -> Generator[Any]:
    """`torch.cuda.stream`, and `torch.cuda.device`."""
    yield stream


def _generator(own: Any) -> Any:
    class Generator(own):
        """`torch.Generator`, for the GPU too: its numbers are those of the CPU."""

        def __new__(cls, device: object = "cpu") -> Any:
            return own.__new__(cls, "cpu" if is_cuda(device) else device)

    return Generator


def _seed(seed: int) -> None:
    """`torch.cuda.manual_seed`: the GPU has the generator of the CPU."""
    torch().default_generator.manual_seed(int(seed))


def _unsupported(name: str) -> Callable[..., Any]:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise Unsupported(f"torch.cuda.{name} without a GPU")

    return fail


def replacements(options: Options) -> list[tuple[Any, str, Any]]:
    """What stands in for `torch.cuda`: objects, names of attributes, and values."""
    base = torch()
    capability = divmod(options.capability, 10)
    stream = Stream()
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": device_name(options.gpu),
        "get_device_capability": capability,
        "get_device_properties": DeviceProperties(options.gpu, capability),
        "get_arch_list": [options.gpu.name],
        "is_bf16_supported": True,
        "current_stream": stream,
        "default_stream": stream,
        "mem_get_info": (MEMORY_BYTES, MEMORY_BYTES),
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_reserved": 0,
        "can_device_access_peer": False,
        "is_current_stream_capturing": False,
        "_exchange_device": 0,
        "_maybe_exchange_device": 0,
    }
    ignored = (
        "init _lazy_init synchronize set_device set_stream empty_cache ipc_collect "
        "reset_peak_memory_stats reset_max_memory_allocated reset_accumulated_memory_stats"
    ).split()
    functions: dict[str, Any] = {
        **{name: _answer(value) for name, value in answers.items()},
        **{name: _answer(None) for name in ignored},
        "manual_seed": _seed,
        "manual_seed_all": _seed,
        "get_rng_state": lambda device=None: base.default_generator.get_state(),
        "set_rng_state": lambda state, device=None: base.default_generator.set_state(state),
        "stream": _current,
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "CUDAGraph": _unsupported("CUDAGraph"),
        "graph": _unsupported("graph"),
    }
    replaced = [(base.cuda, name, value) for name, value in functions.items()]
    return [
        *replaced,
        (base, "Generator", _generator(base.Generator)),
        (base.Tensor, "record_stream", _answer(None)),
    ]


def _answer(value: Any) -> Callable[..., Any]:
    # One function for each name: torch.compile has rules by function.
    def answer(*arguments: Any, **options: Any) -> Any:
        return value

    return answer
