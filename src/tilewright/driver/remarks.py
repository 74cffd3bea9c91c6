"""Cache entries of remarks, kept beside the cubins."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tilewright.driver.cache import Cache, key_of
from tilewright.driver.compilation_result import MARSHAL
from tilewright.support.location import UNKNOWN, FileLoc, Location
from tilewright.support.remarks import Remark
from tilewright.support.source_location import source_location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.driver.cache import Warn
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.driver.settings import Settings

Make = Callable[[], "tuple[CompilationResult, list[Remark]]"]


def cached_remarks(
    data: bytes, name: str, settings: Settings, make: Make, warn: Warn
) -> tuple[CompilationResult, list[Remark]]:
    """Return the result and remarks of a program, from the cache or from `make`.

    The cubin has the cache entry of a compilation without remarks; remarks have a second entry.
    """
    cache = Cache.default(warn)
    store = cache.store
    key = "" if store is None else key_of(data, name, settings, "cubin")
    remarks_key = f"{key}-remarks"
    entry = None if store is None else store.get(remarks_key)
    result = None if entry is None else cache.get(key)
    if entry is not None and result is not None:
        remarks = unpacked(entry)
    else:
        result, remarks = make()
        cache.put(key, result, warn)
        if store is not None:
            # The cache has already warned that it cannot be written.
            with suppress(OSError):
                store.put(remarks_key, packed(remarks))
    return result, remarks


def packed(remarks: Iterable[Remark]) -> bytes:
    """Serialize remarks; only locations in source files are kept."""
    rows = [tuple(each._replace(location=_pack_location(each.location))) for each in remarks]
    return marshal.dumps(rows, MARSHAL)


def unpacked(data: bytes) -> list[Remark]:
    """Deserialize the result of `packed`."""
    remarks = [Remark(*row) for row in marshal.loads(data)]
    return [each._replace(location=_unpack_location(each.location)) for each in remarks]


def _pack_location(location: Location) -> tuple[str, int, int] | None:
    source = source_location(location)
    return None if source is None else (source.file, source.line, source.column)


def _unpack_location(packed: Any) -> Location:
    return UNKNOWN if packed is None else FileLoc(*packed)
