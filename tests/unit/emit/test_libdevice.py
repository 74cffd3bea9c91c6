"""Functions of libdevice: linked one by one, inlined, and kept in the user's cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.emit import libdevice
from tilewright.emit.ptx import compile_ptx
from tilewright.emit.toolchain import find_libdevice
from tilewright.support.diagnostics import Unsupported


def call(name: str, type: str, count: int = 1) -> str:
    arguments = ", ".join([f"%x{n}: {type}" for n in range(count)])
    values = ", ".join([f"%x{n}" for n in range(count)])
    types = ", ".join([type] * count)
    return f"""
      llvm.func @{name}({types}) -> {type}
      llvm.func @k({arguments}, %p: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{
        %r = llvm.call @{name}({values}) : ({types}) -> {type}
        llvm.store %r, %p : {type}, !llvm.ptr<1>
        llvm.return
      }}
    """


def function(name: str, folder: Path) -> bytes:
    (made,) = libdevice.library_functions([name], find_libdevice(), str(folder))
    return made


FUNCTIONS = [
    *[
        (f"__nv_{n}", 1)
        for n in ("exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "rsqrt")
    ],
    *[(f"__nv_{n}", 1) for n in ("sinh", "cosh", "erf", "atan", "asin", "acos", "log1p", "expm1")],
    *[(f"__nv_{n}", 2) for n in ("pow", "atan2", "fmod", "hypot")],
]


@pytest.mark.parametrize(("name", "count"), FUNCTIONS)
def test_a_function_is_inlined(name: str, count: int, emit) -> None:
    for full, type in ((f"{name}f", "f32"), (name, "f64")):
        ptx = compile_ptx(emit(call(full, type, count)))
        # Of f64 some have a slow path that libdevice wants to be a function.
        assert type == "f64" or "call" not in ptx
        assert ".extern" not in ptx
        assert ".visible .func" not in ptx


@pytest.mark.parametrize(
    "name",
    ["cos", "exp10", "exp", "log10", "log2", "log", "sin", "tan"],
)
def test_fast_functions(name: str, emit) -> None:
    ptx = compile_ptx(emit(call(f"__nv_fast_{name}f", "f32")))
    assert ".approx" in ptx
    assert "call" not in ptx


@pytest.mark.parametrize(("name", "type"), [("__nv_sqrtf", "f32"), ("__nv_sqrt", "f64")])
def test_square_roots_are_rounded_to_nearest(name: str, type: str, emit) -> None:
    ptx = compile_ptx(emit(call(name, type)))
    assert f"sqrt.rn.{type}" in ptx
    assert "sqrt.approx" not in ptx


def test_tiny_numbers_as_zero(emit) -> None:
    flags = 'passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]'
    text = call("__nv_expf", "f32")
    plain = compile_ptx(emit(text))
    flushed = compile_ptx(emit(text.replace("{nvvm.kernel}", f"{{nvvm.kernel, {flags}}}")))
    assert "ex2.approx.ftz.f32" in flushed
    assert flushed.count(".ftz") > plain.count(".ftz")


def test_a_function_that_libdevice_does_not_have(emit) -> None:
    with pytest.raises(Unsupported) as caught:
        compile_ptx(emit(call("__nv_unsafe_divf", "f32", 2)))
    assert caught.value.feature == "'__nv_unsafe_divf': libdevice has no function of this name"


def test_the_cache_is_used(private_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libdevice, "_functions", {})
    first = function("__nv_cbrtf", private_cache)
    (file,) = private_cache.glob("libdevice/*/__nv_cbrtf.bc")
    assert file.read_bytes().endswith(first)
    monkeypatch.setattr(libdevice, "_functions", {})

    def fail(library: bytes, name: str) -> bytes:
        raise AssertionError("the cache has this function")

    monkeypatch.setattr(libdevice, "extract_function", fail)
    assert function("__nv_cbrtf", private_cache) == first


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_entry_is_made_again(
    private_cache: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    monkeypatch.setattr(libdevice, "_functions", {})
    first = function("__nv_cbrtf", private_cache)
    (file,) = private_cache.glob("libdevice/*/__nv_cbrtf.bc")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"?" if damage is None else damage)
    monkeypatch.setattr(libdevice, "_functions", {})
    assert function("__nv_cbrtf", private_cache) == first
    assert file.read_bytes() == whole


@pytest.mark.parametrize("planted", [b"", b"no bitcode", b"BC\xc0\xde", "__nv_sinf"])
def test_an_entry_that_llvm_cannot_use_is_made_again(
    private_cache: Path, monkeypatch: pytest.MonkeyPatch, planted: bytes | str
) -> None:
    """Its checksum is right."""
    monkeypatch.setattr(libdevice, "_functions", {})
    first = function("__nv_cbrtf", private_cache)
    bitcode = planted if isinstance(planted, bytes) else function(planted, private_cache)
    (file,) = private_cache.glob("libdevice/*/__nv_cbrtf.bc")
    whole = file.read_bytes()
    file.write_bytes(libdevice._checksum("__nv_cbrtf", bitcode) + bitcode)
    monkeypatch.setattr(libdevice, "_functions", {})
    assert function("__nv_cbrtf", private_cache) == first
    assert file.read_bytes() == whole


def test_an_entry_that_others_may_write_is_made_again(
    private_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libdevice, "_functions", {})
    first = function("__nv_cbrtf", private_cache)
    (file,) = private_cache.glob("libdevice/*/__nv_cbrtf.bc")
    planted = function("__nv_sinf", private_cache)
    file.write_bytes(libdevice._checksum("__nv_cbrtf", planted) + planted)
    file.chmod(0o666)
    monkeypatch.setattr(libdevice, "_functions", {})
    assert function("__nv_cbrtf", private_cache) == first
    assert file.stat().st_mode & 0o777 == 0o600


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libdevice, "_functions", {})
    monkeypatch.chdir(tmp_path)
    path = find_libdevice()
    assert libdevice.library_functions(["__nv_cbrtf"], path, "")
    assert list(tmp_path.iterdir()) == []


def test_a_library_that_cannot_be_read(
    tmp_path: Path, emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    garbage = tmp_path / "libdevice.10.bc"
    garbage.write_bytes(b"garbage")
    monkeypatch.setenv("TILEWRIGHT_LIBDEVICE", str(garbage))
    with pytest.raises(Unsupported, match="as libdevice: it is no bitcode"):
        compile_ptx(emit(call("__nv_sinf", "f32")))


def test_llvm_is_not_loaded_by_a_process_that_needs_a_function() -> None:
    code = (
        "import sys, tilewright\n"
        "assert 'sin.approx' not in tilewright.compile(sys.stdin.read(), emit='ptx').ptx\n"
        "print('llvmlite' in sys.modules, 'llvm' in open('/proc/self/maps').read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=call("__nv_sinf", "f32"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "False"]


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setattr(libdevice, "_functions", {})
    assert function("__nv_cbrtf", blocked).startswith(b"BC")


def test_another_library_has_another_entry(
    tmp_path: Path, private_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function("__nv_roundf", private_cache)
    other = tmp_path / "libdevice.10.bc"
    shutil.copy(find_libdevice(), other)
    libdevice.library_functions(["__nv_roundf"], str(other), str(private_cache))
    folders = {file.parent for file in private_cache.glob("libdevice/*/__nv_roundf.bc")}
    # The contents decide, not the path.
    assert len(folders) == 1
