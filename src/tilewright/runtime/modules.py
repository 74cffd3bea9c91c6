"""Loaded modules and their kernels."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tilewright.runtime.driver import bindings, call

Extents = tuple[int, int, int]

_CLUSTER: Final = tuple(
    f"CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_{side}" for side in ("WIDTH", "HEIGHT", "DEPTH")
)


class Kernel(NamedTuple):
    """A kernel that can be launched."""

    function: Any
    cluster: Extents
    """The required cluster dimensions; zeros if there are none."""


class Module:
    """A cubin or PTX, loaded in the current context."""

    __slots__ = ("_kernels", "_module")

    def __init__(self, code: bytes) -> None:
        self._module = call("cuModuleLoadData", code)
        self._kernels: dict[str, Kernel] = {}

    def kernel(self, name: str) -> Kernel:
        """Find a kernel by name."""
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = self._find(name)
        return kernel

    def _find(self, name: str) -> Kernel:
        function = call("cuModuleGetFunction", self._module, name.encode())
        kinds = bindings().CUfunction_attribute
        sides = (
            int(call("cuFuncGetAttribute", getattr(kinds, each), function)) for each in _CLUSTER
        )
        x, y, z = sides
        return Kernel(function, (x, y, z))

    def unload(self) -> None:
        """Unload the code; no kernel of it may be running."""
        call("cuModuleUnload", self._module)
