"""What a process that compiles finds as it was before: collector, signals, limits, LLVM."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tilewright
from tilewright.emit import ptx, service
from tilewright.emit.llvm.module import LLVMModule, emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.support.diagnostics import InternalError
from tilewright.support.tracebacks import install_hooks

PROGRAM = """
cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    %one = constant <f32: 1.0> : tile<f32>
    %old, %read = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %new = addf %old, %one : tile<f32>
    %written = store_ptr_tko weak %p, %new : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""


def state() -> dict[str, object]:
    return {
        "collector": (gc.isenabled(), gc.get_threshold()),
        "signals": {each: signal.getsignal(each) for each in signal.valid_signals()},
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "frames": sys.getrecursionlimit(),
        "switches": sys.getswitchinterval(),
        "folder": Path.cwd(),
        "variables": dict(os.environ),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.stdout, sys.stderr),
    }


@pytest.fixture(params=[True, False])
def collector(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (PROGRAM, None),
        (PROGRAM.replace("addf %old", "addf %nothing"), tilewright.UserError),
        (PROGRAM.replace("tile<f32>", "tile<3xf32>"), tilewright.UserError),
    ],
)
def test_the_host_is_as_before(collector: bool, source: str, error: type[Exception] | None) -> None:
    install_hooks()  # the first error of a process does
    before, frozen = state(), gc.get_freeze_count()
    if error is None:
        assert tilewright.compile(source).cubin.startswith(b"\x7fELF")
    else:
        with pytest.raises(error):
            tilewright.compile(source)
    assert state() == before
    assert gc.isenabled() is collector
    # Frozen objects may die: the first use of a module replaces what was to import it.
    assert gc.get_freeze_count() <= frozen


def test_threads_leave_the_collector_as_it_was(collector: bool) -> None:
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: tilewright.compile(PROGRAM, emit="ptx").ptx, range(8)))
    assert len(set(texts)) == 1
    assert gc.isenabled() is collector


def test_llvm_is_not_loaded_by_a_process_that_compiles() -> None:
    code = (
        "import sys, tilewright\n"
        "tilewright.compile(sys.stdin.read())\n"
        "maps = open('/proc/self/maps').read()\n"
        "print('llvmlite' in sys.modules, 'llvm' in maps)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=PROGRAM, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]
    assert done.stderr == ""


def test_no_process_is_leaked() -> None:
    code = (
        "import os, sys, tilewright\n"
        "tilewright.compile(sys.stdin.read())\n"
        "from tilewright.emit.service import pool\n"
        "print(*[worker._process.pid for worker in pool()._idle])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=PROGRAM, capture_output=True, text=True, check=True
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 1
    assert not Path(f"/proc/{pids[0]}").exists()


ABORT = """
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
define ptx_kernel void @planted() {
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  ret void
}
"""


PATIENCE_S = 600
"""How long a busy machine may take to end a process; LLVM would need hours for the job below."""

ENDLESS = """
from tilewright.emit.service import Worker
from tilewright.emit.worker import Job, request

worker = Worker()
print(worker._process.pid, flush=True)
adds = "".join(f"  %{i + 1} = fadd float %{i}, %{max(0, i - 7)}\\n" for i in range(200_000))
text = f"define float @f(float %0) {{entry:\\n{adds}  ret float %200000\\n}}"
worker._process.stdin.write(request(Job(text, "sm_90a", "+ptx90", 3)))
worker._process.stdin.flush()
print("sent", flush=True)
worker._process.wait()
"""


def test_llvm_ends_when_its_caller_is_killed() -> None:
    """Otherwise it would compile on for the result that no process reads."""
    caller = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    with caller.stdout:
        worker = int(caller.stdout.readline())
        # So much does not fit into a pipe: LLVM has it.
        assert caller.stdout.readline() == "sent\n"
    caller.kill()
    caller.wait()
    deadline = time.monotonic() + PATIENCE_S
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(worker)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_abort_of_llvm_reaches_the_caller_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*arguments: Any, **options: Any) -> LLVMModule:
        written = emit_llvm(*arguments, **options)
        written.text += ABORT
        return written

    with monkeypatch.context() as patch:
        patch.setattr("tilewright.emit.llvm.module.emit_llvm", planted)
        with pytest.raises(InternalError, match="LLVM ends on what we wrote"):
            tilewright.compile(PROGRAM, "sm_80")
    assert "planted" not in tilewright.compile(PROGRAM, "sm_80").ptx


def test_without_llvmlite_there_is_no_ptx(tmp_path: Path) -> None:
    (tmp_path / "llvmlite.py").write_text("raise ModuleNotFoundError('No module named llvmlite')")
    code = "import sys, tilewright\ntilewright.compile(sys.stdin.read())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=PROGRAM,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    reason = "PTX without LLVM: the package llvmlite cannot be loaded: No module named llvmlite"
    assert done.stderr.splitlines()[-1].endswith(f"Unsupported: error: unsupported: {reason}")


def test_threads_survive_an_abort_of_llvm_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*arguments: Any, **options: Any) -> LLVMModule:
        written = emit_llvm(*arguments, **options)
        written.text += ABORT * written.text.count("@bad(")
        return written

    def outcome(name: str) -> str:
        try:
            return tilewright.compile(PROGRAM.replace("@f(", f"@{name}("), "sm_80").ptx
        except InternalError:
            return "ended"

    monkeypatch.setattr("tilewright.emit.llvm.module.emit_llvm", planted)
    names = ["good", "bad"] * 4
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(outcome, names))
    assert [text == "ended" for text in outcomes] == [name == "bad" for name in names]


def test_workers_are_replaced_before_they_grow(
    emit, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    pool = service.Pool(1)
    monkeypatch.setattr(ptx, "pool", lambda: pool)
    program = emit("llvm.func @k() attributes {nvvm.kernel} {\n  llvm.return\n}")
    size = len(program.text)
    monkeypatch.setattr(service, "RETIREMENT", 3 * size)
    processes: list[int] = []
    for _ in range(6):
        pool.warm()
        [worker] = pool._idle
        processes.append(worker._process.pid)
        assert ".entry k" in compile_ptx(program)
    # A request has more than the text, so that three of them are above the limit.
    assert [processes.count(each) for each in dict.fromkeys(processes)] == [3, 3]
    assert pool._idle == []
