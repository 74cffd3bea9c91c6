"""The versions of the bytecode format, and what each of them added to the container."""

from __future__ import annotations

from typing import Final

from tilewright.support.diagnostics import fail
from tilewright.support.location import UNKNOWN, Location

Version = tuple[int, int]

VERSIONS: Final[tuple[Version, ...]] = ((13, 1), (13, 2), (13, 3), (13, 4))
"""The released versions."""
OLDEST: Final = VERSIONS[0]
NEWEST: Final = VERSIONS[-1]
"""The newest released version, which is written by default."""
PREVIEW: Final[Version] = (13, 5)
"""The version under development, as cuTile Python 1.7 encodes it; no release has fixed it yet."""
KNOWN: Final = (*VERSIONS, PREVIEW)
"""The versions that are read and written."""

PRODUCER: Final[Version] = (13, 3)
"""The section that names the program which made the file."""
GLOBAL_FLAGS: Final[Version] = (13, 3)
"""The visibility of a global, and whether it is constant."""
VIEW_OPTIONS: Final[Version] = (13, 3)
"""A bit field for the optional parameters of view types; a presence byte before."""
POINTER_OPTIONS: Final[Version] = (13, 4)
"""A bit field for the optional parameters of pointers and tensor views; none before."""
ARGUMENT_ATTRIBUTES: Final[Version] = (13, 5)
"""The hints and the argument attributes of a kernel, which are always there; before, a flag says
whether hints are, and there are no attributes of arguments."""
SUBPROGRAM_FLAGS: Final[Version] = (13, 5)
"""The flags of a subprogram in the debug information; no bit has a meaning yet."""


def spell(version: Version) -> str:
    """`13.3`."""
    return f"{version[0]}.{version[1]}"


def parse_version(text: str) -> Version:
    """The version of a text like "13.3"."""
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        fail(f"expected a bytecode version like {spell(NEWEST)}, found '{text}'")
    version = int(major), int(minor)
    check_supported(version)
    return version


def check_supported(version: Version, location: Location = UNKNOWN) -> None:
    """Refuse versions of the format that do not exist, or not yet."""
    if version in KNOWN:
        return
    known = f"from {spell(OLDEST)} to {spell(PREVIEW)}"
    newer = ", which is newer than all of them" if version > PREVIEW else ""
    fail(f"expected a bytecode version {known}, found {spell(version)}{newer}", location)
