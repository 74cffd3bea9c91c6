"""Tuning records: the schedule that `tilewright tune` chose for a kernel, on disk beside the cache.

A record is an entry of a `Store`, which writes atomically and drops damaged entries. Its key covers
the kernel without source locations, the target, and the versions of the compiler and its tools.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tilewright.driver.cache import Cache, digest_of
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.store import Store
from tilewright.emit.toolchain import has_records, records_folder, toolchain_stamp
from tilewright.support.diagnostics import Error
from tilewright.support.identity import identity

if TYPE_CHECKING:
    from tilewright.driver.settings import Settings

GPU: Final = "gpu"
MODEL: Final = "model"
METERS: Final = (GPU, MODEL)
"""What a schedule can be chosen by: time on a GPU, or the time that the cost model predicts."""

FIELDS: Final = {
    **dict.fromkeys(("kernel", "arch", "schedule", "meter", "unit", "device"), str),
    **dict.fromkeys(("date", "compiler"), str),
    **dict.fromkeys(("cost", "default_cost", "seconds"), (int, float)),
    "candidates": int,
}
"""The types of the fields of a record on disk."""


class TuningRecord(NamedTuple):
    """The chosen schedule of a kernel, and what it was chosen by."""

    kernel: str
    arch: str
    schedule: str
    """Options as `parse_schedule` returns them; empty if the compiler's own choice was best."""
    meter: str
    unit: str
    device: str
    cost: float
    default_cost: float
    """The cost of the compiler's own choice."""
    candidates: int
    """Schedules that were measured."""
    seconds: float
    """How long tuning took."""
    date: str
    compiler: str
    """The identity of the compiler, of which the key is a digest."""

    def pack(self) -> bytes:
        """Serialize."""
        return json.dumps(self._asdict()).encode()

    @classmethod
    def unpack(cls, data: bytes) -> TuningRecord | None:
        """Deserialize; None if this compiler cannot use the record."""
        try:
            fields: dict[str, Any] = json.loads(data)
            record = cls(**fields)
            is_schedule = parse_schedule(record.schedule) == record.schedule
        except (ValueError, TypeError, AttributeError, RecursionError, Error):
            return None
        is_typed = all(isinstance(fields[name], kinds) for name, kinds in FIELDS.items())
        return record if is_schedule and is_typed and record.meter in METERS else None

    def summary(self) -> str:
        """The choice and what was measured, in one line."""
        if not self.schedule:
            return f"the compiler's own choice, {self._measured(self.cost)}"
        return f"'{self.schedule}', {self.cost:,.4g} instead of {self._measured(self.default_cost)}"

    def _measured(self, cost: float) -> str:
        return f"{cost:,.4g} {self.unit}"


def record_store() -> Store | None:
    """The store of the records; None if the cache is off."""
    cache = Cache.default(lambda _: None).store  # the cache itself warns of a wrong limit
    if cache is None:
        return None
    return Store(records_folder(), cache.limit)


def record_key(kernel: str, settings: Settings) -> str:
    """The key of the record of a kernel, which is given as its digest."""
    parts = ["tuned", kernel, settings.arch.name, str(settings.opt_level)]
    return digest_of([*parts, identity(), toolchain_stamp()])


def load_record(store: Store, key: str) -> TuningRecord | None:
    """The record of a key; None if there is none, or it is damaged."""
    data = store.get(key)
    return None if data is None else TuningRecord.unpack(data)


def all_records(store: Store) -> list[TuningRecord]:
    """All records, in the order of kernels; those of other compilers too."""
    keys = [os.path.basename(file.path) for file in store.entries()]
    records = [load_record(store, key) for key in keys]
    return sorted(record for record in records if record is not None)


def records_stamp() -> str:
    """A digest of all records, for caches of front ends; empty if there are none."""
    store = record_store() if has_records() else None
    if store is None:
        return ""
    digest, count = sha256(), 0
    for file in sorted(store.entries(), key=lambda each: each.path):
        key = os.path.basename(file.path)
        data = store.get(key)
        if data is not None:
            digest.update(f"{key} {len(data)} ".encode() + data)
            count += 1
    return digest.hexdigest()[:16] if count else ""
