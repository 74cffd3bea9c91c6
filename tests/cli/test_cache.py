"""`tilewright cache`, and the cache under `tilewright compile`."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from command_line import Run

from tilewright.driver import cache
from tilewright.driver.store import Store


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is on, and empty."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TILEWRIGHT_CACHE_SIZE", raising=False)
    cache._cache_at.cache_clear()
    return tmp_path / "cache"


def entries(store: Path) -> list[Path]:
    return [path for path in store.glob("compiled/*/*") if path.is_file()]


def test_compile_keeps_and_finds(run: Run, store: Path, folder: Path) -> None:
    assert run("compile", "good.tileirbc", "-o", "a.ptx") == (0, "", "")
    [entry] = entries(store)
    os.utime(entry, (1, 1))
    assert run("compile", "good.tileirbc", "-o", "b.ptx") == (0, "", "")
    assert entries(store) == [entry]
    assert entry.stat().st_mtime > 1
    assert (folder / "a.ptx").read_bytes() == (folder / "b.ptx").read_bytes()
    assert b".entry add" in (folder / "b.ptx").read_bytes()


def test_resources_and_standard_output_come_from_the_cache_too(run: Run, ptxas: Path) -> None:
    first = run("compile", "good.tileirbc", "-o", "k.cubin", "--resources")
    second = run("compile", "good.tileirbc", "-o", "k.cubin", "--resources")
    assert first == second
    assert "add     128x1x1 " in first.err
    run("compile", "good.tileirbc", "--emit", "ptx")
    assert ".entry add" in run("compile", "good.tileirbc", "--emit", "ptx").out


@pytest.mark.parametrize("option", ["--no-cache", "--timing", "--verify-each", "--print-after-all"])
def test_observing_options_bypass_the_cache(run: Run, store: Path, option: str) -> None:
    assert run("compile", "good.tileirbc", "-o", "k.ptx", option).code == 0
    assert entries(store) == []


@pytest.mark.parametrize("stage", ["nv_tileaa", "nvvm", "llvm"])
def test_intermediate_stages_are_not_cached(run: Run, store: Path, stage: str) -> None:
    assert run("compile", "good.tileirbc", "--emit", stage).code == 0
    assert entries(store) == []


def test_wrong_programs_are_reported_every_time(run: Run, store: Path) -> None:
    first, second = (run("compile", "unknown.mlir", "-o", "k.ptx") for _ in range(2))
    assert first == second
    assert first.code == 1
    assert "unknown operation" in first.err
    assert entries(store) == []


def test_a_full_disk_is_one_warning(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Store, "put", full)
    result = run("compile", "good.tileirbc", "-o", "k.ptx")
    assert result.code == 0
    assert result.err.startswith("tilewright: warning: the cache of compilations in '")
    assert result.err.endswith("No space left on device; going on without it\n")
    assert result.err.count("\n") == 1
    assert b".entry add" in (folder / "k.ptx").read_bytes()


def test_show(run: Run, store: Path) -> None:
    assert run("cache").out.splitlines() == [
        f"folder     {store}",
        "entries    0, 0 bytes of at most 1 GiB",
        "hits       none yet",
        "libdevice  0 bytes",
    ]
    for _ in range(4):
        run("compile", "good.tileirbc", "-o", "k.ptx")
    lines = run("cache", "show").out.splitlines()
    assert lines[1] == "entries    1, 4 KiB of at most 1 GiB"
    assert lines[2] == "hits       3 of 4 compilations (75%)"


def test_show_with_a_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "1500K")
    assert "of at most 1.5 MiB" in run("cache").out


def test_drafts_of_killed_processes_are_shown(run: Run, store: Path) -> None:
    run("compile", "good.tileirbc", "-o", "k.ptx")
    (entries(store)[0].parent / "draft-0123456789abcdef").write_bytes(b"")
    assert "drafts     1, " in run("cache").out
    assert "drafts     " not in run("cache", "clear").out


def test_clear(run: Run, store: Path) -> None:
    run("compile", "good.tileirbc", "-o", "k.ptx")
    (store / "libdevice" / "x").mkdir(parents=True)
    (store / "libdevice" / "x" / "sin.bc").write_bytes(bytes(2048))
    assert "libdevice  2 KiB" in run("cache").out
    result = run("cache", "clear")
    assert result.code == 0
    assert "entries    0, " in result.out
    assert "libdevice  0 bytes" in result.out
    assert [path for path in store.rglob("*") if path.is_file()] == []


def test_a_failure_to_clear_is_an_error(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("compile", "good.tileirbc", "-o", "k.ptx")

    def read_only(self: Store) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Store, "clear", read_only)
    message = f"tilewright: error: cannot clear the cache in '{store}': Read-only file system\n"
    assert run("cache", "clear") == (2, "", message)


@pytest.mark.parametrize(("action", "verb"), [("show", "read"), ("clear", "clear")])
def test_a_folder_that_is_none(run: Run, store: Path, action: str, verb: str) -> None:
    store.write_text("a file")
    message = f"tilewright: error: cannot {verb} the cache in '{store}': Not a directory\n"
    assert run("cache", action) == (2, "", message)


def test_the_folder_may_be_below_home(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", "~/kept")
    assert run("cache").out.startswith(f"folder     {folder}/home/kept\n")


def test_off(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    assert run("cache") == (0, "off (TILEWRIGHT_CACHE or TILEWRIGHT_CACHE_SIZE says so)\n", "")


def test_wrong_actions(run: Run) -> None:
    result = run("cache", "burn")
    assert result.code == 2
    assert "expected show, clear or tuned, found 'burn'" in result.err
    assert "expected one ACTION, found 2" in run("cache", "show", "clear").err


def test_help_teaches(run: Run) -> None:
    text = run("cache", "--help").out
    for word in ("TILEWRIGHT_CACHE_DIR", "TILEWRIGHT_CACHE_SIZE", "TILEWRIGHT_CACHE=0", "clear"):
        assert word in text
    assert "show or clear the compilation cache" in run("--help").out


@pytest.mark.parametrize("action", ["show", "clear", "tuned"])
def test_a_folder_that_others_may_write_is_an_error(run: Run, store: Path, action: str) -> None:
    run("compile", "good.tileirbc", "-o", "k.ptx")
    store.chmod(0o775)
    result = run("cache", action)
    assert (result.code, result.out) == (2, "")
    gist = f"the cache folder '{store}' is not used: other users may write to it (mode 775)"
    assert result.err.startswith(f"tilewright: error: {gist}; `chmod go-w`")
    assert len(entries(store)) == 1


def test_compile_warns_of_a_folder_that_others_may_write(
    run: Run, store: Path, folder: Path
) -> None:
    store.mkdir(mode=0o700)
    store.chmod(0o777)
    result = run("compile", "good.tileirbc", "-o", "k.ptx")
    assert result.code == 0
    assert result.err.startswith(f"tilewright: warning: the cache folder '{store}' is not used: ")
    assert b".entry add" in (folder / "k.ptx").read_bytes()
    assert list(store.iterdir()) == []


def test_an_entry_that_cannot_be_decoded_is_no_error(run: Run, store: Path, folder: Path) -> None:
    run("compile", "good.tileirbc", "-o", "a.ptx")
    [entry] = entries(store)
    Store(str(store / "compiled"), 1 << 20).put(entry.name, b"forged")
    assert run("compile", "good.tileirbc", "-o", "b.ptx") == (0, "", "")
    assert (folder / "a.ptx").read_bytes() == (folder / "b.ptx").read_bytes()
