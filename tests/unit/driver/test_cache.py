"""Compilations on disk: found under all that decides about them, and never in the way."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import tilewright
from tilewright.driver import cache as module
from tilewright.driver import store as store_module
from tilewright.driver.cache import Cache, cached, key_of, parse_size
from tilewright.driver.compilation_result import CompilationResult, StoredFileLoc, StoredLoc
from tilewright.driver.compile import CompiledModule
from tilewright.driver.settings import Settings
from tilewright.driver.store import Store
from tilewright.support.diagnostics import Diagnostic, Severity, UserError, note
from tilewright.support.location import UNKNOWN, ByteLoc, FileLoc, NameLoc
from tilewright.target.arch import ARCHES

PROGRAM = """\
cuda_tile.module @kernels {
  entry @add(%a: tile<f32>, %b: tile<f32>) {
    %sum = addf %a, %b rounding<nearest_even> : tile<f32>
    return
  }
}
"""

SETTINGS = Settings(ARCHES["sm_90"])

BYTECODE = tilewright.write_bytecode(tilewright.read(PROGRAM))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is on, and empty."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TILEWRIGHT_CACHE_SIZE", raising=False)
    module._cache_at.cache_clear()
    return tmp_path / "cache"


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.glob("compiled/*/*") if path.is_file()]


def stored(text: str = "ptx", remarks: list[Diagnostic] | None = None) -> CompilationResult:
    return CompilationResult("sm_90", text, b"\x7fELF", (), remarks or [])


def compiled_in_a_new_process(folder: Path, code: str) -> str:
    environment = {
        **os.environ, "TILEWRIGHT_CACHE": "1", "TILEWRIGHT_CACHE_DIR": str(folder),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def same(one: CompiledModule, other: CompiledModule) -> bool:
    resources = [[repr(each) for each in made.entries.values()] for made in (one, other)]
    return (
        (one.arch, one.ptx, one.cubin) == (other.arch, other.ptx, other.cubin)
        and resources[0] == resources[1]
        and dict(one.stages) == dict(other.stages)
        and list(map(str, one.remarks)) == list(map(str, other.remarks))
    )


def test_a_hit_gives_what_a_compilation_gives(folder: Path, ptxas: Path) -> None:
    fresh = tilewright.compile(BYTECODE)
    assert entries(folder) == []
    first = tilewright.compile(BYTECODE, cache=True)
    assert len(entries(folder)) == 1
    second = tilewright.compile(BYTECODE, cache=True)
    assert len(entries(folder)) == 1
    assert list(second.entries) == ["add"]
    assert same(fresh, first)
    assert same(fresh, second)


def test_a_hit_loads_neither_compiler_nor_llvm(folder: Path, ptxas: Path, tmp_path: Path) -> None:
    (tmp_path / "k.tileirbc").write_bytes(BYTECODE)
    code = (
        "import sys; from tilewright.driver.cli import main; "
        f"code = main(['compile', {str(tmp_path / 'k.tileirbc')!r}, "
        f"'-o', {str(tmp_path / 'k.cubin')!r}]); print(code, *sys.modules)"
    )
    first = compiled_in_a_new_process(folder, code).split()
    made = (tmp_path / "k.cubin").read_bytes()
    assert {"tilewright.bytecode.reader", "tilewright.emit.service"} <= set(first)
    second = compiled_in_a_new_process(folder, code).split()
    assert (first[0], second[0]) == ("0", "0")
    assert (tmp_path / "k.cubin").read_bytes() == made
    loaded = {name.split(".")[1] for name in second if name.startswith("tilewright.")}
    assert loaded == {"bytecode", "driver", "emit", "support", "target"}
    unwanted = ("tilewright.bytecode.reader", "tilewright.emit.service", "llvmlite", "subprocess")
    assert set(unwanted).isdisjoint(second)


def test_the_library_keeps_nothing_unless_asked(folder: Path) -> None:
    tilewright.compile(BYTECODE, emit="ptx")
    assert not folder.joinpath("compiled").exists()


def test_modules_are_found_by_their_contents(folder: Path) -> None:
    program = tilewright.read(PROGRAM)
    first = tilewright.compile(program, emit="ptx", cache=True)
    again = tilewright.compile(tilewright.read(PROGRAM), emit="ptx", cache=True)
    assert len(entries(folder)) == 1
    assert first.ptx == again.ptx
    other = tilewright.read(PROGRAM.replace("@add", "@sum"))
    assert ".entry sum" in tilewright.compile(other, emit="ptx", cache=True).ptx
    assert len(entries(folder)) == 2


def test_wrong_programs_are_wrong_every_time(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(UserError, match="unknown operation"):
            tilewright.compile(PROGRAM.replace("addf", "frobnicate"), cache=True)
    assert entries(folder) == []


def test_every_setting_is_part_of_the_key() -> None:
    others = [
        Settings(ARCHES["sm_80"]),
        Settings(ARCHES["sm_90"], 2),
        Settings(ARCHES["sm_90"], line_info=True),
        Settings(ARCHES["sm_90"], device_debug=True),
        Settings(ARCHES["sm_90"], sanitize=True),
        Settings(ARCHES["sm_90"], schedule="stages=2"),
        Settings(ARCHES["sm_90"], tensor_maps="parameters"),
    ]
    same = [SETTINGS._replace(timeout=5.0), SETTINGS._replace(schedule_source="record")]
    assert len(others) == len(Settings._fields) - len(same), "these are not part of it"
    assert {key_of(BYTECODE, "k", settings, "cubin") for settings in same} == {
        key_of(BYTECODE, "k", SETTINGS, "cubin")
    }
    keys = {key_of(BYTECODE, "k", settings, "cubin") for settings in [SETTINGS, *others]}
    keys.add(key_of(BYTECODE, "k", SETTINGS, "ptx"))
    keys.add(key_of(BYTECODE + b"\0", "k", SETTINGS, "cubin"))
    assert len(keys) == len(others) + 3


@pytest.mark.parametrize("what", ["identity", "llvm_stamp"])
def test_another_compiler_misses(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    before = key_of(BYTECODE, "k", SETTINGS, "cubin")
    monkeypatch.setattr(module, what, lambda: "different")
    assert key_of(BYTECODE, "k", SETTINGS, "cubin") != before


def test_another_ptxas_and_libdevice_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"one")
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(tool))
    monkeypatch.setenv("TILEWRIGHT_LIBDEVICE", str(tmp_path / "tool"))
    keys = {key_of(BYTECODE, "k", SETTINGS, "cubin")}
    tool.write_bytes(b"longer")
    keys.add(key_of(BYTECODE, "k", SETTINGS, "cubin"))
    os.utime(tool, (1, 1))
    keys.add(key_of(BYTECODE, "k", SETTINGS, "cubin"))
    assert len(keys) == 3


def test_ptx_needs_no_ptxas_but_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a hint is held depends on the spills that ptxas reports."""
    before = key_of(BYTECODE, "k", SETTINGS, "ptx")
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(tmp_path / "missing"))
    assert key_of(BYTECODE, "k", SETTINGS, "ptx") != before


def test_the_name_of_bytecode_does_not_matter_that_of_text_does() -> None:
    assert key_of(BYTECODE, "a", SETTINGS, "ptx") == key_of(BYTECODE, "b", SETTINGS, "ptx")
    text = PROGRAM.encode()
    assert key_of(text, "a", SETTINGS, "ptx") != key_of(text, "b", SETTINGS, "ptx")


def test_the_llvm_that_is_asked_for_its_version_is_the_one_that_runs() -> None:
    llvmlite = pytest.importorskip("llvmlite")
    assert llvmlite.__version__ in module.llvm_stamp()


@pytest.mark.parametrize("switch", ["0", "off", "No", "FALSE"])
def test_off(folder: Path, monkeypatch: pytest.MonkeyPatch, switch: str) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", switch)
    for _ in range(2):
        assert cached(b"x", "x", SETTINGS, "ptx", lambda: stored("made")).ptx == "made"
    assert not folder.exists()


def test_a_limit_of_nothing_is_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "0")
    assert Cache.default().store is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 1 << 30), ("4096", 4096), ("500M", 500 << 20), ("2g", 2 << 30), ("2GiB", 2 << 30),
        ("64 kB", 64 << 10), ("1T", 1 << 40), ("0", 0),
        ("much", None), ("-1", None), ("1.5G", None), ("G", None), ("10X", None),
    ],
)  # fmt: skip
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


def test_an_invalid_size_is_reported_and_the_default_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "much")
    said: list[str] = []
    store = Cache.default(said.append).store
    assert store is not None
    assert store.limit == 1 << 30
    assert said == [
        "TILEWRIGHT_CACHE_SIZE: expected a number of bytes, or one with K, M, G or T, "
        "found 'much'; taking 1G"
    ]


def test_the_limit_of_the_environment_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "40K")
    for number in range(30):
        cached(b"%d" % number, "x", SETTINGS, "ptx", stored)
    assert 5 <= len(entries(folder)) <= 10


def test_a_damaged_entry_is_compiled_again(folder: Path) -> None:
    for data in (b"", b"\0" * 100):
        cached(b"x", "x", SETTINGS, "ptx", lambda: stored("good"))
        [path] = entries(folder)
        path.write_bytes(data)
        assert cached(b"x", "x", SETTINGS, "ptx", lambda: stored("better")).ptx == "better"
        assert cached(b"x", "x", SETTINGS, "ptx", lambda: stored("worse")).ptx == "better"
        path.unlink()


def full(*arguments: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_reported_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "put", full)
    said: list[str] = []
    for number in range(3):
        made = cached(b"%d" % number, "x", SETTINGS, "ptx", lambda: stored("made"), said.append)
        assert made.ptx == "made"
    assert said == [
        f"the cache of compilations in '{folder / 'compiled'}' cannot be written: "
        "No space left on device; going on without it"
    ]


def test_the_library_warns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "put", full)
    with pytest.warns(RuntimeWarning, match="No space left on device; going on without it"):
        tilewright.compile(BYTECODE, emit="ptx", cache=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tilewright.compile(BYTECODE, emit="ptx", cache=True)


def test_an_impossible_folder_is_reported_once(folder: Path) -> None:
    folder.write_text("a file")
    said: list[str] = []
    for _ in range(2):
        assert cached(b"x", "x", SETTINGS, "ptx", stored, said.append).ptx == "ptx"
    assert len(said) == 1
    assert "Not a directory" in said[0]


def test_a_read_only_disk_still_serves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(b"x", "x", SETTINGS, "ptx", lambda: stored("kept"))

    def read_only(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("makedirs", "mkdir", "utime", "replace", "unlink", "write"):
        monkeypatch.setattr(store_module.os, name, read_only)
    said: list[str] = []
    assert cached(b"x", "x", SETTINGS, "ptx", stored, said.append).ptx == "kept"
    assert said == []
    for _ in range(2):
        assert cached(b"y", "x", SETTINGS, "ptx", lambda: stored("new"), said.append).ptx == "new"
    assert len(said) == 1
    assert "Read-only file system" in said[0]


def test_statistics(folder: Path) -> None:
    for data in (b"a", b"b", b"a", b"a"):
        cached(data, "x", SETTINGS, "ptx", stored)
    store = Cache.default().store
    assert store is not None
    assert (store.counted("hits"), store.counted("misses")) == (2, 2)


def test_remarks_look_the_same() -> None:
    location = NameLoc("name", FileLoc("k.py", 3, 5))
    first = Diagnostic("slow", location, Severity.REMARK, (note("because", FileLoc("k.py", 1, 1)),))
    second = Diagnostic("spills", severity=Severity.WARNING)
    back = CompilationResult.unpack(stored(remarks=[first, second]).pack())
    assert [each.render() for each in back.remarks] == [first.render(), second.render()]
    assert [each.severity for each in back.remarks] == [Severity.REMARK, Severity.WARNING]
    assert back.remarks[0].location == FileLoc("k.py", 3, 5)
    assert back.remarks[1].location is UNKNOWN
    assert back.lasting


def test_remarks_keep_the_line_they_point_at() -> None:
    remark = Diagnostic("here", StoredFileLoc("k.mlir", 1, 3, ("a line", 3)))
    [back] = CompilationResult.unpack(stored(remarks=[remark]).pack()).remarks
    assert back.render() == "k.mlir:1:3: error: here\na line\n  ^"


def test_what_names_a_byte_of_a_file_is_not_kept(folder: Path) -> None:
    remark = Diagnostic("odd", ByteLoc("a.tileirbc", 7), Severity.WARNING)
    made = stored(remarks=[remark])
    assert not made.lasting
    [back] = CompilationResult.unpack(made.pack()).remarks
    assert isinstance(back.location, StoredLoc)
    assert back.render() == remark.render()
    Cache.default().put("0" * 64, made)
    assert entries(folder) == []


def test_text_that_is_no_text_survives() -> None:
    odd = "// \udce4 ä \x00\n"
    assert CompilationResult.unpack(stored(odd).pack()).ptx == odd
