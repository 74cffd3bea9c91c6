"""`tilewright cache`: show or clear the compilation cache."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tilewright.driver.cache import DEFAULT_SIZE, HITS, MISSES, SIZE, SWITCH, Cache
from tilewright.driver.cli.options import Command
from tilewright.driver.cli.results import warn
from tilewright.driver.files import FileError, write_line
from tilewright.driver.tuning.records import all_records, record_store
from tilewright.emit.toolchain import CACHE_VARIABLE, cache_folder, has_records
from tilewright.support.identity import identity

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.store import Store
    from tilewright.driver.tuning.records import TuningRecord

ACTIONS: Final = ("show", "clear", "tuned")

LIBRARY: Final = "libdevice"
"""The folder of bitcode extracted from libdevice."""

UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))

COMMAND: Final = Command(
    "cache",
    "Show or clear the cache of compilations.",
    "show: folder, size and hit rate; clear: remove all entries; tuned: list tuning records",
    (),
    "Results of `tilewright compile`, `tileiras` and GPU kernels are cached on disk. The key\n"
    "covers the contents of the program, all options, and the versions of this compiler, LLVM,\n"
    "ptxas and libdevice. Processes may share the cache, also while it is cleared; the least\n"
    "recently used entries are evicted first. What `tilewright tune` has chosen is in the same\n"
    "folder.\n\n"
    "environment:\n"
    f"  {CACHE_VARIABLE:<23} the folder (default: ~/.cache/tilewright)\n"
    f"  {SIZE:<23} the limit, such as 500M or 2G (default: {DEFAULT_SIZE >> 30}G)\n"
    f"  {SWITCH}=0{'':<5} disable the cache\n\n"
    "examples:\n"
    "  tilewright cache\n"
    "  tilewright cache clear\n"
    "  tilewright cache tuned\n"
    f"  {SIZE}=200M tilewright compile kernel.tileirbc -o kernel.cubin",
    operand="ACTION",
    default="show",
    words=ACTIONS,
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    action = arguments.file
    if action not in ACTIONS:
        COMMAND.fail(f"expected {', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}, found '{action}'")
    if refusal := Cache.default(_ignore).refusal:
        raise FileError(refusal)
    cache = Cache.default(warn)
    store = cache.store
    if store is None:
        write_line(f"off ({SWITCH} or {SIZE} says so)")
        return 0
    try:
        _check_readable(cache_folder())
        if action == "clear":
            _clear(store)
    except OSError as error:
        verb = "clear" if action == "clear" else "read"
        raise FileError(
            f"cannot {verb} the cache in '{cache_folder()}': {error.strerror}"
        ) from error
    write_line(tuned_kernels() if action == "tuned" else overview(store))
    return 0


def _ignore(message: str) -> None:
    """Issue no warning: the message is an error here."""


def _check_readable(folder: str) -> None:
    """Raise `OSError` if the folder exists and cannot be read."""
    with suppress(FileNotFoundError), os.scandir(folder):
        pass


def _clear(store: Store) -> None:
    shutil.rmtree(os.path.join(cache_folder(), LIBRARY), ignore_errors=True)
    store.clear()
    if records := record_store():
        records.clear()
        # Compilations look for records only if there is a folder.
        shutil.rmtree(records.folder, ignore_errors=True)


def tuned_kernels() -> str:
    """List the tuning records, one line per kernel."""
    records = record_store() if has_records() else None
    lines = [
        f"@{record.kernel} ({record.arch}): {record.summary()}; {record.candidates} schedules in "
        f"{record.seconds} s on {record.device}, {record.date}{_age(record)}"
        for record in (all_records(records) if records is not None else ())
    ]
    return "\n".join(lines) or "no kernel is tuned"


def _age(record: TuningRecord) -> str:
    return "" if record.compiler == identity() else "; of another version of the compiler: not used"


def overview(store: Store) -> str:
    """Summarize the cache, one line per property."""
    store.sweep()
    entries = store.entries()
    taken = sum(entry.size for entry in entries)
    rows = [
        ("folder", cache_folder()),
        ("entries", f"{len(entries)}, {format_size(taken)} of at most {format_size(store.limit)}"),
        ("hits", _hits(store)),
        ("libdevice", format_size(_size_below(os.path.join(cache_folder(), LIBRARY)))),
    ]
    records = record_store() if has_records() else None
    if records is not None:
        count = len(records.entries())
        rows.append(("tuned", f"{count} {'kernel' if count == 1 else 'kernels'}"))
    if drafts := len(store.drafts()):
        rows.append(("drafts", f"{drafts}, being written or left by processes that were killed"))
    return "\n".join(f"{name:<10} {value}" for name, value in rows)


def _hits(store: Store) -> str:
    hits, misses = store.counted(HITS), store.counted(MISSES)
    if not hits + misses:
        return "none yet"
    return f"{hits} of {hits + misses} compilations ({100 * hits // (hits + misses)}%)"


def _size_below(folder: str) -> int:
    size = 0
    for here, _, names in os.walk(folder):
        for name in names:
            # The folder may be cleared concurrently.
            with suppress(OSError):
                size += os.path.getsize(os.path.join(here, name))
    return size


def format_size(size: int) -> str:
    """Format a size in bytes with a binary unit."""
    for unit, bytes in UNITS:
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"
