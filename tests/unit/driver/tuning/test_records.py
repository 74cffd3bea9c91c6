"""Tuning records: their contents on disk, which of them are usable, and what their keys cover."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scheduled_loops import matmul
from tuned_programs import SETTINGS, enable_cache, record_of, tune_to

import tilewright
from tilewright.driver.tuning import records
from tilewright.driver.tuning.kernel_digests import kernel_digests
from tilewright.driver.tuning.records import (
    TuningRecord,
    all_records,
    record_key,
    record_store,
    records_stamp,
)
from tilewright.target.arch import ARCHES

GEMM = matmul(64, 64, 32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enable_cache(tmp_path / "cache", monkeypatch)


def test_a_record_survives_the_disk() -> None:
    record = record_of("gemm", "stages=3 agents=1")
    assert TuningRecord.unpack(record.pack()) == record


@pytest.mark.parametrize("changes", [
    {"schedule": "stages=99"},
    {"schedule": "unroll=2"},
    {"schedule": "stages=3,agents=1"},
    {"schedule": None},
    {"meter": "guess"},
    {"meter": "emulator"},
    {"cost": "fast"},
    {"kernel": 3},
    {"surprise": 1},
])  # fmt: skip
def test_records_that_cannot_be_used_are_none(changes: dict[str, object]) -> None:
    fields = {**record_of("gemm", "stages=3")._asdict(), **changes}
    assert TuningRecord.unpack(json.dumps(fields).encode()) is None


@pytest.mark.parametrize("data", [b"", b"[]", b"3", b"{}", b"\xff", b'{"kernel": "gemm"}'])
def test_anything_else_is_no_record(data: bytes) -> None:
    assert TuningRecord.unpack(data) is None


def test_locations_names_and_the_form_do_not_matter() -> None:
    """Nor whether the program is bytecode, whose values have no names."""
    module = tilewright.read(GEMM)
    moved = tilewright.read("\n\n// a comment\n" + GEMM)
    bytecode = tilewright.read(tilewright.write_bytecode(module))
    renamed = tilewright.read(GEMM.replace("%acc", "%other"))
    digests = [kernel_digests(each) for each in (module, moved, bytecode, renamed)]
    assert all(each == digests[0] for each in digests)
    assert [name for name, _ in digests[0]] == ["k"]


def test_other_kernels_of_a_program_do_not_matter() -> None:
    two = GEMM.rstrip().removesuffix("}") + "  entry @other() {\n    return\n  }\n}\n"
    assert (
        dict(kernel_digests(tilewright.read(two)))["k"]
        == dict(kernel_digests(tilewright.read(GEMM)))["k"]
    )


def test_other_operations_do_matter() -> None:
    other = kernel_digests(tilewright.read(matmul(64, 64, 64)))
    assert kernel_digests(tilewright.read(GEMM)) != other


def test_keys_cover_the_target_and_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {record_key("k", SETTINGS), record_key("l", SETTINGS)}
    keys.add(record_key("k", SETTINGS._replace(arch=ARCHES["sm_80"])))
    keys.add(record_key("k", SETTINGS._replace(opt_level=2)))
    monkeypatch.setattr(records, "identity", lambda: "another compiler")
    keys.add(record_key("k", SETTINGS))
    monkeypatch.setattr(records, "toolchain_stamp", lambda: "another ptxas")
    keys.add(record_key("k", SETTINGS))
    assert len(keys) == 6


def test_line_information_and_tensor_maps_share_a_record() -> None:
    others = [SETTINGS._replace(line_info=True), SETTINGS._replace(tensor_maps="parameters")]
    assert {record_key("k", each) for each in others} == {record_key("k", SETTINGS)}


def test_records_are_listed(folder: Path) -> None:
    store = record_store()
    assert store is not None
    assert all_records(store) == []
    tune_to(GEMM, "stages=3")
    tune_to(matmul(64, 64, 64), "agents=1")
    assert [each.schedule for each in all_records(store)] == ["agents=1", "stages=3"]


def test_a_damaged_record_is_dropped(folder: Path) -> None:
    path = tune_to(GEMM, "stages=3")
    data = path.read_bytes()
    path.write_bytes(data[:-9] + b"x" + data[-8:])
    store = record_store()
    assert store is not None
    assert all_records(store) == []
    assert not path.exists()


def test_the_stamp_changes_with_every_record(folder: Path) -> None:
    stamps = [records_stamp()]
    tune_to(GEMM, "stages=3")
    stamps.append(records_stamp())
    path = tune_to(matmul(64, 64, 64), "stages=3")
    stamps.append(records_stamp())
    assert stamps[0] == ""
    assert len(set(stamps)) == 3
    path.unlink()
    assert records_stamp() == stamps[1]


def test_there_are_none_without_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tune_to(GEMM, "stages=3")
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    assert record_store() is None
    assert records_stamp() == ""


@pytest.mark.parametrize(("record", "summary"), [
    (record_of("k", "stages=3"), "'stages=3', 10 instead of 12.5 µs"),
    (record_of("k", ""), "the compiler's own choice, 10 µs"),
    (
        record_of("k", "warps=8", meter="model", unit="predicted µs"),
        "'warps=8', 10 instead of 12.5 predicted µs",
    ),
])  # fmt: skip
def test_the_summary_says_what_was_measured(record: TuningRecord, summary: str) -> None:
    assert record.summary() == summary
