"""How the kernels of Triton programs run: the options of `enable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.support.diagnostics import Unsupported, fail
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.target.arch import Arch

DEFAULT_ARCH: Final = "sm_90"
_CHECKS: Final = frozenset({"uninitialised", "races", "barriers", "registers", "global-blocks"})


class Options(NamedTuple):
    """The GPU that Triton compiles for, the checks of the emulator, and limits of each launch."""

    arch: str = DEFAULT_ARCH
    check: bool = True
    seed: int = 0
    max_steps: int | None = None
    timeout: float | None = None
    check_proxies: bool = False

    def validate(self) -> None:
        """Reject unknown GPUs, and a seed without the checks that it is for."""
        if find_arch(self.arch) is None:
            raise Unsupported(f"Triton kernels for '{self.arch}' (known: {', '.join(ARCHES)})")
        if (self.seed or self.check_proxies) and not self.check:
            fail("'seed' and 'check_proxies' are for checks: expected check=True with them")

    @property
    def checks(self) -> frozenset[str]:
        """The checks of the emulator, by name.

        Warps of a block may load what one of them overwrites, where all compute the same value:
        races in global memory are those between blocks. Triton 3.6 orders `cp.async` before `wgmma`
        without a proxy fence, which PTX asks for and GPUs do not need: proxies are checked on
        demand alone.
        """
        if not self.check:
            return frozenset()
        return _CHECKS | {"proxies"} if self.check_proxies else _CHECKS

    @property
    def gpu(self) -> Arch:
        """The GPU."""
        gpu = find_arch(self.arch)
        assert gpu is not None, "options are validated first"
        return gpu

    @property
    def capability(self) -> int:
        """The number by which Triton knows the GPU, such as 90."""
        return int(self.gpu.name.removeprefix("sm_"))
