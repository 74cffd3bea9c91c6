"""Use tuning records in compilations: the schedule of a program that asks for none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tilewright.driver.schedules import LEAST_LEVEL
from tilewright.emit.toolchain import has_records
from tilewright.support.diagnostics import Diagnostic, Error, Severity
from tilewright.support.schedule_keys import RECORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.driver.settings import Settings
    from tilewright.driver.tuning.records import TuningRecord
    from tilewright.ir.operation import Operation
    from tilewright.support.remarks import Remark


class Tuned(NamedTuple):
    """The settings of a compilation, and what a tuning record has to do with them."""

    settings: Settings
    remarks: tuple[Remark, ...] = ()
    is_forced: bool = False
    """Whether the schedule of the settings is that of a record."""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The remarks as the command line prints them."""
        return [Diagnostic(each.message, severity=Severity.REMARK) for each in self.remarks]

    def without_record(self) -> Tuned:
        """The same without the schedule of the record, with which the program does not compile."""
        remarks = tuple(_failed(each.function) for each in self.remarks)
        return Tuned(self.settings._replace(schedule=""), remarks)


T = TypeVar("T")


def compile_tuned(
    choice: Tuned, attempt: Callable[[Settings], T], failure: type[Exception] = Error
) -> tuple[T, Tuned]:
    """Compile as a record says; if that raises `failure`, without the record.

    Kernels were compiled with their schedule when they were tuned, but without debug information,
    for instance. Returns the settings that were used, too.
    """
    if not choice.is_forced:
        return attempt(choice.settings), choice
    try:
        return attempt(choice.settings), choice
    except failure:
        plain = choice.without_record()
        return attempt(plain.settings), plain


def tuned(
    settings: Settings, data: bytes, name: str, read: Callable[[], Operation] | None = None
) -> Tuned:
    """Add the schedule of a tuning record to settings that force none.

    `read` returns the program of `data`, where the caller has it already.
    """
    unscheduled = settings.opt_level < LEAST_LEVEL or settings.sanitize or settings.device_debug
    if settings.schedule or unscheduled or not has_records():
        return Tuned(settings)
    # Loaded only where there are records.
    from tilewright.driver.tuning.kernel_digests import digests_of  # noqa: PLC0415
    from tilewright.driver.tuning.records import (  # noqa: PLC0415
        load_record,
        record_key,
        record_store,
    )

    store = record_store()
    if store is None:
        return Tuned(settings)
    try:
        digests = digests_of(data, name, read)
    except Error:
        return Tuned(settings)  # the compilation reports it
    records = {kernel: load_record(store, record_key(each, settings)) for kernel, each in digests}
    return _applied(settings, records)


def _applied(settings: Settings, records: dict[str, TuningRecord | None]) -> Tuned:
    """Apply the records of all kernels of a program, which is compiled with one schedule."""
    known = {kernel: each for kernel, each in records.items() if each is not None}
    schedules = {"" if each is None else each.schedule for each in records.values()}
    if schedules <= {""}:
        return Tuned(settings)
    if len(schedules) > 1:
        return Tuned(settings, tuple(_unused(kernel) for kernel, each in known.items()
                                     if each.schedule))  # fmt: skip
    [schedule] = schedules
    remarks = tuple(_used(kernel, each) for kernel, each in known.items())
    asked = settings._replace(schedule=schedule, schedule_source=RECORD)
    return Tuned(asked, remarks, is_forced=True)


def _used(kernel: str, record: TuningRecord) -> Remark:
    # Loaded only where there are records.
    from tilewright.support.remark_catalogue import TUNED  # noqa: PLC0415
    from tilewright.support.remarks import Remark  # noqa: PLC0415

    reason = f"{record.summary()}, on {record.device}"
    return Remark(TUNED, f"'@{kernel}' is compiled as tuned", "tune", kernel, reason=reason)


def _unused(kernel: str) -> Remark:
    return _refused(kernel, "other kernels of the program are not tuned to the same schedule")


def _failed(kernel: str) -> Remark:
    return _refused(kernel, "it does not compile with that schedule")


def _refused(kernel: str, reason: str) -> Remark:
    from tilewright.support.remark_catalogue import TUNED_REFUSED  # noqa: PLC0415
    from tilewright.support.remarks import Remark  # noqa: PLC0415

    text = f"'@{kernel}' is not compiled as tuned"
    return Remark(TUNED_REFUSED, text, "tune", kernel, reason=reason)
