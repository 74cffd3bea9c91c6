"""`tilewright cache`: what is kept of earlier compilations, and how to be rid of it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tilewright.driver.cache import DEFAULT_SIZE, HITS, MISSES, SIZE, SWITCH, Cache
from tilewright.driver.cli.options import Command
from tilewright.driver.cli.results import warn
from tilewright.driver.files import FileError, write_line
from tilewright.emit.toolchain import CACHE_VARIABLE, cache_folder

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.store import Store

ACTIONS: Final = ("show", "clear")

LIBRARY: Final = "libdevice"
"""The folder of what was taken from NVIDIA's library of device functions."""

UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))

COMMAND: Final = Command(
    "cache",
    "Show or clear the cache of compilations.",
    "show: where it is, how much is in it, how often it helped; clear: remove all of it",
    (),
    "What `tilewright compile`, `tileiras` and kernels on the GPU compile is kept on disk, under\n"
    "the contents of the program, all options, and the versions of this compiler, LLVM, ptxas and\n"
    "libdevice: change any of them, and the program is compiled again. Many processes may use the\n"
    "cache at once, also while it is cleared. What was not used for longest goes first.\n\n"
    "environment:\n"
    f"  {CACHE_VARIABLE:<23} the folder (default: ~/.cache/tilewright)\n"
    f"  {SIZE:<23} the limit, such as 500M or 2G (default: {DEFAULT_SIZE >> 30}G)\n"
    f"  {SWITCH}=0{'':<5} compile everything anew, keep nothing\n\n"
    "examples:\n"
    "  tilewright cache\n"
    "  tilewright cache clear\n"
    f"  {SIZE}=200M tilewright compile kernel.tileirbc -o kernel.cubin",
    operand="ACTION",
    default="show",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    action = arguments.file
    if action not in ACTIONS:
        COMMAND.fail(f"expected {' or '.join(ACTIONS)}, found '{action}'")
    cache = Cache.default(warn)
    store = cache.store
    if store is None:
        write_line(f"off ({SWITCH} or {SIZE} says so)")
        return 0
    try:
        _look(cache_folder())
        if action == "clear":
            _clear(store)
    except OSError as error:
        verb = "clear" if action == "clear" else "read"
        raise FileError(
            f"cannot {verb} the cache in '{cache_folder()}': {error.strerror}"
        ) from error
    write_line(overview(store))
    return 0


def _look(folder: str) -> None:
    """Raise `OSError` for a folder that is none, or of somebody else; there may be none yet."""
    with suppress(FileNotFoundError), os.scandir(folder):
        pass


def _clear(store: Store) -> None:
    shutil.rmtree(os.path.join(cache_folder(), LIBRARY), ignore_errors=True)
    store.clear()


def overview(store: Store) -> str:
    """What there is, a line each."""
    store.sweep()
    entries = store.entries()
    taken = sum(entry.size for entry in entries)
    rows = [
        ("folder", cache_folder()),
        ("entries", f"{len(entries)}, {spelled(taken)} of at most {spelled(store.limit)}"),
        ("hits", _hits(store)),
        ("libdevice", spelled(_size_below(os.path.join(cache_folder(), LIBRARY)))),
    ]
    if drafts := len(store.drafts()):
        rows.append(("drafts", f"{drafts}, being written or left by processes that were killed"))
    return "\n".join(f"{name:<10} {value}" for name, value in rows)


def _hits(store: Store) -> str:
    hits, misses = store.counted(HITS), store.counted(MISSES)
    if not hits + misses:
        return "none yet"
    return f"{hits} of {hits + misses} compilations ({100 * hits // (hits + misses)}%)"


def _size_below(folder: str) -> int:
    found = 0
    for here, _, names in os.walk(folder):
        for name in names:
            # Others may be clearing it.
            with suppress(OSError):
                found += os.path.getsize(os.path.join(here, name))
    return found


def spelled(size: int) -> str:
    """A size as people read it."""
    for unit, bytes in UNITS:
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"
