"""Digests of kernels: the same for programs that differ in source locations or in their form."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tilewright.driver.cache import Cache, digest_of
from tilewright.driver.tuning.records import load_record, record_key, record_store
from tilewright.support.identity import identity
from tilewright.support.packed_values import Damaged, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.driver.settings import Settings
    from tilewright.driver.store import Store
    from tilewright.driver.tuning.records import TuningRecord
    from tilewright.ir.operation import Operation

TUNABLE: Final = ("cuda_tile", "nv_tileaa")
"""The levels whose programs are lowered by all passes that have options of a schedule."""

KernelDigests = list[tuple[str, str]]
"""Names of kernels, and their digests."""


def digests_of(data: bytes, name: str, read: Callable[[], Operation] | None) -> KernelDigests:
    """The digests of the kernels of a program; kept in the cache, since they need a parser."""
    cache = Cache.default(lambda _: None).store
    assert cache is not None
    key = digest_of(["kernels", identity()], data)
    known = _kept_digests(cache, key)
    if known is not None:
        return known
    digests = kernel_digests(_read(data, name) if read is None else read())
    with suppress(OSError):
        cache.put(key, encode(digests))
    return digests


def _kept_digests(cache: Store, key: str) -> KernelDigests | None:
    """The digests in the cache; None if there are none, or they are damaged."""
    entry = cache.get(key)
    if entry is None:
        return None
    digests: KernelDigests = []
    try:
        rows = decode(entry)
    except Damaged:
        rows = None
    for row in rows if isinstance(rows, tuple) else (rows,):
        match row:
            # pyrefly: ignore[unreachable-match-case]: it does not unfold the recursive `Value`
            case (str(kernel), str(digest)):
                digests.append((kernel, digest))
            case _:
                cache.discard(key)
                return None
    return digests


def _read(data: bytes, name: str) -> Operation:
    # A program that was looked at before is not parsed.
    from tilewright.driver.api import read_level  # noqa: PLC0415
    from tilewright.ir.verifier import verify  # noqa: PLC0415

    module = read_level(data, name)
    verify(module)
    return module


def kernel_digests(module: Operation) -> KernelDigests:
    """The digest of each kernel with all that it uses, without source locations.

    Empty for programs below the levels at which loops are scheduled.
    """
    from tilewright.driver.kernel_isolation import keep_kernel  # noqa: PLC0415
    from tilewright.driver.pipelines import level_of  # noqa: PLC0415
    from tilewright.reference.programs import kernels  # noqa: PLC0415

    if level_of(module) not in TUNABLE:
        return []
    names = [kernel.sym_name for kernel in kernels(module)]
    return [(name, _digest(keep_kernel(module, name))) for name in names]


def _digest(program: Operation) -> str:
    """The digest of a program; changes its name, which bytecode does not have."""
    from tilewright.ir.attributes import StringAttr  # noqa: PLC0415
    from tilewright.text.printer import print_op  # noqa: PLC0415

    if "sym_name" in program.attributes:
        program.attributes["sym_name"] = StringAttr("kernels")
    return digest_of((), print_op(program, generic=True).encode("utf-8", "surrogatepass"))


def find_record(settings: Settings, module: Operation, kernel: str) -> TuningRecord | None:
    """The record of one kernel of a program."""
    store = record_store()
    if store is None:
        return None
    return load_record(store, record_key(dict(kernel_digests(module))[kernel], settings))


def put_record(settings: Settings, module: Operation, record: TuningRecord) -> Store | None:
    """Store the record of a kernel; None if the cache is off. Raises `OSError`."""
    store = record_store()
    if store is not None:
        digest = dict(kernel_digests(module))[record.kernel]
        store.put(record_key(digest, settings), record.pack())
    return store
