"""Cache entries of remarks, kept beside the cubins."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tilewright.driver.cache import Cache, key_of
from tilewright.driver.stage_dump import dump_folder
from tilewright.support.location import UNKNOWN, FileLoc, Location
from tilewright.support.packed_values import Damaged, decode, encode
from tilewright.support.remark_catalogue import CATALOGUE
from tilewright.support.remarks import Remark
from tilewright.support.source_location import source_location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.driver.cache import Warn
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.driver.settings import Settings
    from tilewright.driver.store import Store
    from tilewright.support.packed_values import Value

Make = Callable[[], "tuple[CompilationResult, list[Remark]]"]


def cached_remarks(
    data: bytes, name: str, settings: Settings, stage: str, make: Make, warn: Warn
) -> tuple[CompilationResult, list[Remark]]:
    """Return the result and remarks of a program, from the cache or from `make`.

    PTX and cubin have the cache entry of a compilation without remarks; remarks have a second one.
    """
    # A dump is of a compilation.
    cache = Cache(None) if dump_folder() else Cache.default(warn)
    store = cache.store
    key = "" if store is None else key_of(data, name, settings, stage)
    remarks_key = f"{key}-remarks"
    remarks = None if store is None else _kept_remarks(store, remarks_key)
    result = None if remarks is None else cache.get(key, stage)
    if remarks is None or result is None:
        result, remarks = make()
        cache.put(key, result, warn)
        if store is not None:
            # The cache has already warned that it cannot be written.
            with suppress(OSError):
                store.put(remarks_key, packed(remarks))
    return result, remarks


def _kept_remarks(store: Store, key: str) -> list[Remark] | None:
    entry = store.get(key)
    try:
        return None if entry is None else unpacked(entry)
    except Damaged:
        store.discard(key)
        return None


def packed(remarks: Iterable[Remark]) -> bytes:
    """Serialize remarks; only locations in source files are kept."""
    return encode([
        (
            each.id, each.text, each.pass_name, each.function,
            _pack_location(each.location), each.reason, each.details,
        )
        for each in remarks
    ])  # fmt: skip


def unpacked(data: bytes) -> list[Remark]:
    """Deserialize the result of `packed`; raises `Damaged`."""
    rows = decode(data)
    if not isinstance(rows, tuple):
        raise Damaged("expected remarks")
    return [_unpack_remark(row) for row in rows]


def _unpack_remark(row: Value) -> Remark:
    match row:
        case (
            str(id), str(text), str(pass_name), str(function),
            location, str(reason), tuple(details),
        ) if id in CATALOGUE:  # fmt: skip
            pairs = tuple([_unpack_detail(each) for each in details])
            source = _unpack_location(location)
            return Remark(CATALOGUE[id], text, pass_name, function, source, reason, pairs)
        case _:
            raise Damaged("expected a remark")


def _unpack_detail(pair: Value) -> tuple[str, str]:
    match pair:
        case (str(key), str(value)):
            return key, value
        case _:
            raise Damaged("expected a key and a value")


def _pack_location(location: Location) -> tuple[str, int, int] | None:
    source = source_location(location)
    return None if source is None else (source.file, source.line, source.column)


def _unpack_location(packed: Value) -> Location:
    match packed:
        case None:
            return UNKNOWN
        case (str(file), int(line), int(column)):
            return FileLoc(file, line, column)
        case _:
            raise Damaged("expected a location")
