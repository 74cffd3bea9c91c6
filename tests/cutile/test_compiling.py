"""In-process compilation for cuTile: results, errors, options and logs as of its own compiler."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import pytest

import tilewright
from tilewright.driver.compile import Compilation
from tilewright.emit import ptx, service
from tilewright.emit.note import own_note, read_note
from tilewright.support.diagnostics import InternalError, Unsupported
from tilewright.support.location import UNKNOWN
from tilewright.tileiras.run import version_text

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
cutile = pytest.importorskip("tilewright.cutile")
ConstInt = ct.Constant[int]
PATIENCE_S = 600
"""A generous time limit for busy machines."""

import cuda.tile._compile as own  # noqa: E402
from cuda.tile._cext import default_tile_context  # noqa: E402
from cuda.tile._exception import (  # noqa: E402
    TileCompilerExecutionError,
    TileCompilerTimeoutError,
)

from tilewright.cutile import compiling  # noqa: E402


@ct.kernel
def add(a, b, c, size: ConstInt):
    at = ct.bid(0)
    result = ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,))
    ct.store(c, (at,), result)


LINE = add._pyfunc.__code__.co_firstlineno + 3
"""The line of the addition in the kernel."""


@pytest.fixture(autouse=True)
def switched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Our compiler, no cache."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    monkeypatch.setattr(default_tile_context.config, "cache_dir", None)
    cutile.enable()
    yield
    cutile.disable()


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def config(**values: Any) -> None:
        for name, value in values.items():
            monkeypatch.setattr(default_tile_context.config, name, value)

    return config


def export(kernel: Any = add, size: int = 256, gpu: str = "sm_90") -> bytes:
    """The cubin of a kernel, through cuTile."""
    array = ct.compilation.ArrayConstraint(
        ct.float32,
        1,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(1,),
        base_addr_divisible_by=16,
    )
    convention = ct.compilation.CallingConvention.cutile_python_v1()
    signature = ct.compilation.KernelSignature([array, array, array, size], convention)
    output = BytesIO()
    ct.compilation.export_kernel(kernel, [signature], output, gpu_code=gpu, output_format="cubin")
    return output.getvalue()


def test_no_process_of_a_compiler_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*words: object, **options: object) -> NoReturn:
        pytest.fail("cuTile starts a process")

    monkeypatch.setattr(own._CompilerBinary, "run", forbidden)
    assert read_note(export()) == own_note()


@pytest.mark.peer
def test_the_compiler_of_cutile_is_restored() -> None:
    cutile.disable()
    assert read_note(export()) is None


@pytest.mark.parametrize("gpu", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_every_gpu_that_cutile_names(gpu: str) -> None:
    assert read_note(export(gpu=gpu)) == own_note()


def test_threads_compile_at_the_same_time() -> None:
    with ThreadPoolExecutor(4) as pool:
        cubins = list(pool.map(lambda size: export(size=size), (64, 128, 256, 512) * 2))
    assert all(read_note(cubin) == own_note() for cubin in cubins)
    assert cubins[:4] == cubins[4:]
    assert len(set(cubins)) == 4


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], Exception]], None]:
    """Make the compiler fail at the addition."""

    def failing(failure: Callable[[Any], Exception]) -> None:
        def to(self: Compilation, stage: str) -> NoReturn:
            add = next(op for op in self.module.walk() if op.name == "cuda_tile.addf")
            raise failure(add.location)

        monkeypatch.setattr(Compilation, "to", to)

    return failing


def test_errors_have_the_location_in_the_kernel(failing: Callable[..., None]) -> None:
    failing(lambda location: Unsupported("addition", location))
    with pytest.raises(TileCompilerExecutionError) as caught:
        export()
    error = caught.value
    assert error.message == "Return code 5\nunsupported: addition"
    assert (error.loc.filename, error.loc.line) == (__file__, LINE)
    assert "--gpu-name sm_90 -O3 --lineinfo" in error.compiler_flags
    assert error.compiler_version == f"{version_text()}\n"
    shown = str(error)
    assert f'"{__file__}", line {LINE}' in shown
    assert "in add:" in shown
    assert "result = ct.load(a, (at,), (size,))" in shown
    assert f"{' ' * 16}^" in shown


def summed(a, b):
    return a + b


@ct.kernel
def calling(a, b, c, size: ConstInt):
    ct.store(c, (0,), summed(ct.load(a, (0,), (size,)), ct.load(b, (0,), (size,))))


def test_errors_have_the_call_stack(failing: Callable[..., None]) -> None:
    failing(lambda location: Unsupported("addition", location))
    with pytest.raises(TileCompilerExecutionError) as caught:
        export(calling)
    error = caught.value
    assert error.message == "Return code 5\nunsupported: addition"
    assert error.loc.line == summed.__code__.co_firstlineno + 1
    assert error.loc.call_site is not None
    assert error.loc.call_site.line == calling._pyfunc.__code__.co_firstlineno + 2
    shown = str(error)
    assert shown.index("in calling:") < shown.index("in summed:")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (lambda location: InternalError("confusion", location), "confusion"),
        (lambda _: ZeroDivisionError("by zero"), "by zero"),
        (lambda _: MemoryError(), "MemoryError"),
    ],
)
def test_internal_errors_are_compiler_errors_to_cutile(
    failure: Any, words: str, failing: Callable[..., None]
) -> None:
    failing(failure)
    with pytest.raises(TileCompilerExecutionError) as caught:
        export()
    assert f"internal error of Tilewright {tilewright.__version__}: " in caught.value.message
    assert words in caught.value.message
    assert type(caught.value.__cause__) is type(failure(UNKNOWN))
    assert str(caught.value)


def test_an_unknown_gpu() -> None:
    with pytest.raises(TileCompilerExecutionError, match="sm_99") as caught:
        export(gpu="sm_99")
    assert caught.value.message.startswith("Return code 1\n")
    assert caught.value.loc.is_unknown()


def test_no_ptxas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(tmp_path / "missing"))
    with pytest.raises(TileCompilerExecutionError, match="TILEWRIGHT_PTXAS names"):
        export()


def test_interrupts_stay_interrupts(failing: Callable[..., None]) -> None:
    failing(lambda _: KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        export()


def test_compilations_beyond_the_time_limit_are_cancelled(
    monkeypatch: pytest.MonkeyPatch, config: Callable[..., None]
) -> None:
    ended = threading.Event()

    def to(self: Compilation, stage: str) -> NoReturn:
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.set()

    monkeypatch.setattr(Compilation, "to", to)
    config(compiler_timeout_sec=0.2)
    with pytest.raises(TileCompilerTimeoutError, match=r"took longer than 0\.2 s") as caught:
        export()
    assert caught.value.compiler_version == f"{version_text()}\n"
    assert ended.wait(PATIENCE_S)


def test_ptxas_is_cancelled_with_its_compilation(
    monkeypatch: pytest.MonkeyPatch, config: Callable[..., None], tmp_path: Path
) -> None:
    number = tmp_path / "number"
    ptxas = tmp_path / "ptxas"
    ptxas.write_text(f'#!/bin/sh\necho $$ >"{number}"\nexec sleep 86400\n')
    ptxas.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(ptxas))
    # A slow machine may need more time to get as far as ptxas.
    for seconds in (0.3, 3, 30, PATIENCE_S):
        config(compiler_timeout_sec=seconds)
        with pytest.raises(TileCompilerTimeoutError):
            export()
        if number.exists() and number.read_text().endswith("\n"):
            break
    assert ends_within(PATIENCE_S, int(number.read_text()))


def test_a_cancelled_llvm_does_not_block_other_compilations(
    monkeypatch: pytest.MonkeyPatch, config: Callable[..., None]
) -> None:
    pool = service.Pool(1)
    monkeypatch.setattr(service, "pool", lambda: pool)
    monkeypatch.setattr(ptx, "pool", lambda: pool)
    pool.warm()
    (worker,) = pool._idle
    os.kill(worker._process.pid, signal.SIGSTOP)
    # A slow machine may need more time to get as far as LLVM.
    for seconds in (0.3, 3, 30, PATIENCE_S):
        config(compiler_timeout_sec=seconds)
        with pytest.raises(TileCompilerTimeoutError):
            export()
        if worker not in pool._idle:
            break
    config(compiler_timeout_sec=PATIENCE_S)
    assert read_note(export()) == own_note()
    pool.close()


def ends_within(seconds: float, process: int) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_time_limit_changes_nothing_else(config: Callable[..., None], failing: Any) -> None:
    config(compiler_timeout_sec=PATIENCE_S)
    assert read_note(export()) == own_note()
    failing(lambda location: Unsupported("addition", location))
    with pytest.raises(TileCompilerExecutionError, match="unsupported: addition"):
        export()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Any]]:
    """Record command lines and programs that reach our compiler."""
    seen: list[tuple[list[str], Any]] = []
    compile_file = compiling.compile_file

    def record(words: list[str]) -> None:
        seen.append((words, tilewright.read(Path(words[0]))))
        compile_file(words)

    monkeypatch.setattr(compiling, "compile_file", record)
    return seen


@pytest.mark.parametrize("level", range(4))
def test_levels_reach_the_compiler(level: int, seen: list[tuple[list[str], Any]]) -> None:
    export(ct.kernel(add._pyfunc, opt_level=level))
    ((words, _),) = seen
    assert f"-O{level}" in words
    assert "--lineinfo" in words


def test_hints_reach_the_compiler(seen: list[tuple[list[str], Any]]) -> None:
    export(ct.kernel(add._pyfunc, occupancy=2, num_ctas=2))
    ((_, program),) = seen
    text = str(program.members().__next__().hints)
    assert "occupancy" in text
    assert "num_cta_in_cga" in text
    ptx = tilewright.compile(program, "sm_90").ptx
    assert ".minnctapersm 2" in ptx
    assert ".reqnctapercluster 2, 1, 1" in ptx
    assert ".blocksareclusters" in ptx


def test_debug_builds_reach_the_compiler(
    monkeypatch: pytest.MonkeyPatch, seen: list[tuple[list[str], Any]]
) -> None:
    monkeypatch.setattr(own, "EXPERIMENTAL_CUDA_TILE_DEBUG_BUILD", True)
    cubin = export()
    ((words, _),) = seen
    assert {"-O0", "--device-debug"} < set(words)
    assert b".debug_info" in cubin


def test_remarks_are_kept_with_the_cubin(tmp_path: Path, config: Callable[..., None]) -> None:
    config(cache_dir=str(tmp_path))
    cubin = export()
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database:
        ((blob, text),) = database.execute("SELECT blob, metadata FROM cache").fetchall()
    assert blob == cubin
    kept = json.loads(text)
    assert kept["compiler_version"] == version_text()
    assert "--- !" in kept["remarks"]
    assert "Function:" in kept["remarks"]


def test_every_stage_is_dumped_whatever_caches_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Callable[..., None]
) -> None:
    config(cache_dir=str(tmp_path / "cache_of_cutile"))
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    cubin = export()
    monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path / "dumps"))
    for _ in range(2):
        export()
    folders = sorted((tmp_path / "dumps").iterdir())
    assert [folder.name[-2:] for folder in folders] == [".0", ".1"]
    for folder in folders:
        assert folder.name.startswith("add")
        files = sorted(file.name for file in folder.iterdir())
        assert files[0] == "0-input.mlir"
        assert len(files) == 10
        assert (folder / "8-cubin.cubin").read_bytes() == cubin
        # The program has the locations of the Python source.
        assert f'{Path(__file__).name}":{LINE}:' in (folder / "0-input.mlir").read_text()


def test_crash_dumps_name_us(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    config: Callable[..., None],
    failing: Callable[..., None],
) -> None:
    monkeypatch.chdir(tmp_path)
    config(enable_crash_dump=True)
    failing(lambda location: Unsupported("addition", location))
    with pytest.raises(TileCompilerExecutionError):
        export()
    (path,) = tmp_path.glob("crash_dump_*.zip")
    with zipfile.ZipFile(path) as archive:
        contents = b"".join(archive.read(name) for name in archive.namelist())
    assert own_note().digest.encode() in contents
    assert b"unsupported: addition" in contents


def bytecode() -> bytes:
    array = ct.compilation.ConstantConstraint(3)
    convention = ct.compilation.CallingConvention.cutile_python_v1()
    output = BytesIO()

    @ct.kernel
    def nothing(n: ConstInt):
        ct.printf("%d", n)

    ct.compilation.export_kernel(
        nothing,
        [ct.compilation.KernelSignature([array], convention)],
        output,
        gpu_code="sm_90",
        output_format="tileir_bytecode",
    )
    return output.getvalue()


def test_logs_show_the_program(
    config: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    config(log_tileir=True)
    export()
    shown = capfd.readouterr().err
    assert "==== TILEIR ====" in shown
    assert "addf" in shown
    assert "Failed to disassemble" not in shown


@pytest.mark.peer
def test_the_text_is_that_of_nvidias_disassembler() -> None:
    data = bytecode()
    ours = own._bytecode_to_mlir_text(data)
    cutile.disable()
    assert own._bytecode_to_mlir_text(data) == ours


def test_text_of_invalid_bytecode() -> None:
    with pytest.raises(TileCompilerExecutionError, match=r"tileirdisasm: .*bytecode") as caught:
        own._bytecode_to_mlir_text(b"words")
    assert caught.value.message.startswith("Return code 3\n")


@pytest.mark.parametrize(("allow_dev", "version"), [(False, "V_13_4"), (True, "V_13_5")])
def test_the_newest_bytecode(allow_dev: bool, version: str, tmp_path: Path) -> None:
    newest = own._get_max_supported_bytecode_version(str(tmp_path), allow_dev=allow_dev)
    assert newest == own.BytecodeVersion[version]
    assert own._tileiras_supports_remarks(str(tmp_path))
