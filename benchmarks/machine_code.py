"""Print a digest of the machine code that a command line of `tileiras` made.

The compiler's own note is left out, which names the version.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Final

from tilewright.emit.elf import read_sections
from tilewright.emit.note import SECTION_NAME

NO_BITS: Final = 8
"""The type of a section that has a size and no data, such as shared memory."""


def digest(cubin: bytes) -> str:
    """A digest of the sections that a driver reads."""
    data = hashlib.sha256()
    for section in read_sections(cubin):
        if section.name != SECTION_NAME and section.kind != NO_BITS:
            data.update(section.name.encode() + section.data)
    return data.hexdigest()


if __name__ == "__main__":
    if "-o" in sys.argv:
        print(digest(Path(sys.argv[sys.argv.index("-o") + 1]).read_bytes()))
