"""Code that is loaded in a context: modules, and their kernels."""

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
    """The blocks of a cluster that the code asks for; zeros if it asks for none."""


class Module:
    """A cubin, or PTX, in the context that is current."""

    __slots__ = ("_kernels", "_module")

    def __init__(self, code: bytes) -> None:
        self._module = call("cuModuleLoadData", code)
        self._kernels: dict[str, Kernel] = {}

    def kernel(self, name: str) -> Kernel:
        """The kernel of a name."""
        found = self._kernels.get(name)
        if found is None:
            found = self._kernels[name] = self._find(name)
        return found

    def _find(self, name: str) -> Kernel:
        function = call("cuModuleGetFunction", self._module, name.encode())
        kinds = bindings().CUfunction_attribute
        sides = (
            int(call("cuFuncGetAttribute", getattr(kinds, each), function)) for each in _CLUSTER
        )
        width, height, depth = sides
        return Kernel(function, (width, height, depth))

    def unload(self) -> None:
        """Take the code away; nobody may be running it."""
        call("cuModuleUnload", self._module)
