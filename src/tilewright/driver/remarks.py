"""Cache entries of remarks, kept beside the cubins."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tilewright.driver.cache import Cache, key_of
from tilewright.driver.stored import MARSHAL
from tilewright.support.location import UNKNOWN, FileLoc, Location
from tilewright.support.remarks import Remark
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.driver.cache import Warn
    from tilewright.driver.settings import Settings
    from tilewright.driver.stored import Stored

Make = Callable[[], "tuple[Stored, list[Remark]]"]


def cached_remarks(
    data: bytes, name: str, settings: Settings, make: Make, warn: Warn
) -> tuple[bytes, list[Remark]]:
    """The cubin of a program and what there is to remark: from the cache, or made and kept there.

    The cubin is kept as if nobody had asked for remarks, and they have an entry of their own.
    """
    cache = Cache.default(warn)
    store = cache.store
    key = "" if store is None else key_of(data, name, settings, "cubin")
    beside = f"{key}-remarks"
    kept = None if store is None else store.get(beside)
    made = None if kept is None else cache.get(key)
    if kept is not None and made is not None:
        remarks = unpacked(kept)
    else:
        made, remarks = make()
        cache.put(key, made, warn)
        if store is not None:
            # That it cannot be written, the cache has said already.
            with suppress(OSError):
                store.put(beside, packed(remarks))
    assert made.cubin is not None
    return made.cubin, remarks


def packed(remarks: Iterable[Remark]) -> bytes:
    """As bytes; of places, those in a source are kept."""
    rows = [tuple(each._replace(location=_packed_place(each.location))) for each in remarks]
    return marshal.dumps(rows, MARSHAL)


def unpacked(data: bytes) -> list[Remark]:
    """What was packed."""
    found = [Remark(*row) for row in marshal.loads(data)]
    return [each._replace(location=_place(each.location)) for each in found]


def _packed_place(location: Location) -> tuple[str, int, int] | None:
    place = source_place(location)
    return None if place is None else (place.file, place.line, place.column)


def _place(packed: Any) -> Location:
    return UNKNOWN if packed is None else FileLoc(*packed)
