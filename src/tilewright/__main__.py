"""`python -m tilewright` and the console script `tilewright`: the command line."""

from __future__ import annotations

from typing import NoReturn

from tilewright.driver.cli import main
from tilewright.driver.process import run


def script() -> NoReturn:
    """Run the command line as a process of its own."""
    run(main)


if __name__ == "__main__":
    script()
