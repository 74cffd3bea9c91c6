"""Stream handles of any library."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from tilewright.runtime.driver import bindings, call
from tilewright.support.diagnostics import fail

HANDLES: Final = 1 << 64


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream: of a number, or of a stream of torch, CuPy or cuda.core."""
    handle = _handle(stream)
    if handle is None or not 0 <= handle < HANDLES:
        fail(f"expected a stream or its handle, got {type(stream).__name__} {stream!r}")
    return handle


def _handle(stream: Any) -> int | None:
    if isinstance(stream, np.integer):
        return int(cast("Any", stream))
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # A pair of a version and the handle; before the protocol was settled, not a method.
        pair: Any = protocol() if callable(protocol) else protocol
        return int(pair[1])
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    if type(stream).__name__ == "CUstream":
        return int(stream)
    return None


def current_stream(arguments: Sequence[Any], device: int) -> int:
    """The current stream of the library of the arguments; the default stream if there is none."""
    torch = sys.modules.get("torch")
    if torch is not None and any(
        isinstance(each, torch.Tensor) and each.is_cuda for each in arguments
    ):
        return torch.cuda.current_stream(device).cuda_stream
    cupy = sys.modules.get("cupy")
    if cupy is not None and any(isinstance(each, cupy.ndarray) for each in arguments):
        return cupy.cuda.get_current_stream().ptr
    return 0


def wait_for(producer: int, consumer: int) -> None:
    """Make a stream wait for the work that another has been given so far."""
    if producer == consumer:
        return
    flag = bindings().CUevent_flags.CU_EVENT_DISABLE_TIMING
    event = call("cuEventCreate", flag)
    try:
        call("cuEventRecord", event, producer)
        call("cuStreamWaitEvent", consumer, event, 0)
    finally:
        call("cuEventDestroy", event)
