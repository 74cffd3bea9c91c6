"""Errors of the driver, as diagnostics for the user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tilewright.runtime.messages import first_assertion
from tilewright.support.diagnostics import Diagnostic, Error, Unsupported, UserError, note
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.runtime.messages import Said
    from tilewright.support.location import Location

SANITIZER: Final = "`--sanitize=memcheck` (sanitize=True)"

DRIVER_NEEDED: Final = "580"
"""The oldest driver that supports CUDA 13."""

FAULTS: Final[Mapping[str, str]] = {
    "CUDA_ERROR_ASSERT": "an assertion of the kernel does not hold",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": "the kernel ran out of stack",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "the kernel accessed memory that is not there",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "the kernel reached an instruction that cannot be run",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": "the kernel accessed memory that is not there",
    "CUDA_ERROR_INVALID_PC": "the kernel jumped to where there is no code",
    "CUDA_ERROR_LAUNCH_FAILED": "the kernel was stopped, by a trap or an access that failed",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "the kernel took longer than the driver lets it",
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        "the kernel accessed an address that is not a multiple of the size of the access"
    ),
}
"""Faults of kernels, reported asynchronously; they invalidate the context."""

EARLIER: Final = "a kernel that was launched before"
"""The name of an unknown faulting kernel."""

_SILENT: Final = ("CUDA_ERROR_ASSERT", "CUDA_ERROR_LAUNCH_TIMEOUT")
"""Faults that a memory checker does not detect."""

_MISSING: Final[Mapping[str, str]] = {
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": "the driver's libraries are not made for this GPU",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "the GPU is in use by another process, or broken",
    "CUDA_ERROR_NO_DEVICE": "the driver finds none",
    "CUDA_ERROR_NOT_INITIALIZED": (
        "this process was forked from one that uses the GPU; start it with 'spawn' instead"
    ),
    "CUDA_ERROR_STUB_LIBRARY": "the driver's library that was found is a stub for linking",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver and its libraries are of different versions",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the system that manages the GPUs is not running",
}
_STALE: Final = (
    "CUDA_ERROR_INVALID_IMAGE",
    "CUDA_ERROR_INVALID_SOURCE",
    "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
)
"""Statuses of code that the driver does not support."""
_REFUSED: Final[Mapping[str, str]] = {
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": "the GPU cannot hold clusters of that many blocks",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "the kernel takes more registers or shared memory than a block may have"
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": "the GPU has no memory left",
}


class GpuError(UserError):
    """A fault of a kernel, or a failed call of the driver."""

    def __init__(
        self, status: str, message: str, *notes: Diagnostic, location: Location = UNKNOWN
    ) -> None:
        super().__init__([Diagnostic(message, location, notes=notes)])
        self.status = status
        """The driver's name of it: `CUDA_ERROR_ILLEGAL_ADDRESS`."""

    @property
    def is_fault(self) -> bool:
        """Whether a kernel faulted, which makes the GPU unusable in this process."""
        return self.status in FAULTS


def failure(function: str, status: str, description: str = "") -> Error:
    """The error for a failure status of a driver function."""
    if status in FAULTS:
        # Asynchronous faults are reported by the next call.
        return fault(status, EARLIER)
    if status in _MISSING:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = "" if visible is None else f" (CUDA_VISIBLE_DEVICES is '{visible}')"
        return Unsupported(f"kernels on a GPU: {_MISSING[status]} [{status}]{hint}")
    if status in _STALE:
        return Unsupported(
            f"this kernel on this driver, which does not understand its code [{status}]: "
            "compile it for this GPU, and see that the driver is not older than ptxas"
        )
    gist = _REFUSED.get(status) or description or "the driver refused"
    return GpuError(status, f"{gist} [{function}: {status}]")


def fault(status: str, kernel: str, said: Said | None = None) -> GpuError:
    """The error for a fault of a kernel; `said` is its printed output."""
    notes = [note("nothing else can run on the GPU in this process")]
    if status not in _SILENT:
        which = "to learn which access, if it is one of a view"
        notes.insert(0, note(f"compile it with {SANITIZER} {which}"))
    failed = first_assertion(said.err) if said is not None else None
    if failed is None:
        return GpuError(status, f"{kernel}: {FAULTS[status]} [{status}]", *notes)
    return GpuError(
        status,
        f"{kernel}: assertion failed in block [{failed.block}]: {failed.text}",
        *notes,
        location=failed.location,
    )
