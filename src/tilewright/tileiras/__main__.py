"""`tileiras`, as a process of its own: the console script and `python -m tilewright.tileiras`."""

from __future__ import annotations

import gc
from typing import NoReturn

from tilewright.driver.process import run


def script() -> NoReturn:
    """Run as a process of its own."""
    # One program goes in and one comes out: modules that load and the program that grows are no
    # garbage, and whatever is goes with the process.
    gc.disable()
    run(_main)


def _main() -> int:
    from tilewright.tileiras.run import main  # noqa: PLC0415

    return main()


if __name__ == "__main__":
    script()
