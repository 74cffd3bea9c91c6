"""How kernels of cuTile are compiled and run: the options of `enable`, and their text."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.support.diagnostics import Unsupported, fail

DEVICES: Final = ("gpu", "cpu", "emulator")

_CHECK: Final = "check"
_SEED: Final = "seed="


class Options(NamedTuple):
    """A device, and the checks of the two that need no GPU."""

    on: str = DEVICES[0]
    check: bool = False
    seed: int = 0

    def validate(self) -> None:
        """Reject unknown devices, and checks on a GPU."""
        if self.on not in DEVICES:
            raise Unsupported(f"cuTile kernels on '{self.on}' (known: {', '.join(DEVICES)})")
        if self.on == "gpu" and (self.check or self.seed):
            fail("'check' and 'seed' need no GPU: expected on='cpu' or on='emulator' with them")

    def __str__(self) -> str:
        """The text that child processes inherit, such as `cpu,check,seed=7`."""
        words = [self.on]
        words += [_CHECK] if self.check else []
        words += [f"{_SEED}{self.seed}"] if self.seed else []
        return ",".join(words)

    @staticmethod
    def parse(text: str) -> Options:
        """Read the text of options; unknown devices are rejected where they are used."""
        on, *flags = text.split(",")
        seeds = [flag.removeprefix(_SEED) for flag in flags if flag.startswith(_SEED)]
        seed = int(seeds[-1]) if seeds and seeds[-1].isdecimal() else 0
        return Options(on, _CHECK in flags, seed)
