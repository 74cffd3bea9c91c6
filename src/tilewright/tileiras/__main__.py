"""Entry points of `tileiras`: the console script and `python -m tilewright.tileiras`."""

from __future__ import annotations

import gc
from typing import NoReturn

from tilewright.driver.process import run


def script() -> NoReturn:
    """Run as a process of its own."""
    # One program is compiled per process: the garbage collector would free nothing.
    gc.disable()
    run(_main)


def _main() -> int:
    from tilewright.tileiras.run import main  # noqa: PLC0415

    return main()


if __name__ == "__main__":
    script()
