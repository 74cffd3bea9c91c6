"""`python -m tilewright.triton`: its options, and programs that it runs unmodified."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from each_case import each_case

from tilewright.support.program_line import UsageError
from tilewright.triton.__main__ import HELP, main, read_line
from tilewright.triton.options import Options

PROGRAM = """\
import sys
import torch
import triton
import triton.language as tl

@triton.jit
def scale(x, n, weight, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * weight, mask=at < LIMIT)

DEVICE = triton.runtime.driver.active.get_active_torch_device()
x = torch.arange(100, device=DEVICE, dtype=torch.float32)
print(triton.testing.do_bench(lambda: scale[(4,)](x, 100, 2.0, BLOCK=32)) > 0)
print(sys.argv[1:], __name__, x.sum().item(), x.device)
"""
ENDLESS = """\
import torch, triton, triton.language as tl

@triton.jit
def poll(x):
    polls = 0
    while tl.load(x, volatile=True) == 0:
        polls += 1
    tl.store(x, polls)

poll[(1,)](torch.zeros(1, dtype=torch.int32, device="cuda"))
"""

needs_triton = pytest.mark.skipif(
    not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
    reason="Triton or torch is not installed (pip install 'tilewright[triton]')",
)


def command(*words: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "tilewright.triton", *words]


@each_case(
    ("words", "message"),
    [
        ("", "expected a script or '-m' and a module"),
        ("--seed x a.py", "expected a number after '--seed', found 'x'"),
        ("--seed", "expected a value after '--seed'"),
        ("--seed 1 --no-check a.py", "expected '--check' with '--seed'"),
        ("--check-proxies --no-check a.py", "expected '--check' with '--check-proxies'"),
        ("--timeout 0 a.py", "expected seconds above 0 after '--timeout', found '0'"),
        ("--max-steps=0 a.py", "expected a number above 0 after '--max-steps', found '0'"),
        ("--fast a.py", "unknown option '--fast'"),
        ("-m", "expected a value after '-m'"),
    ],
)
def test_wrong_usage(words: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_line(words.split())
    assert str(caught.value) == message


def test_options() -> None:
    words: str = "--arch=sm_80 --seed 3 --max-steps 9 --timeout 1.5 --check-proxies a.py --check b"
    line = read_line(words.split())
    assert Options(**line.given) == ("sm_80", True, 3, 9, 1.5, True)
    assert line.program == ["a.py", "--check", "b"]
    assert read_line(["-mpackage", "x"]).is_module
    assert not Options(**read_line(["--no-check", "a.py"]).given).check


def test_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["tilewright.triton", "--help"])
    assert main() == 0
    assert capsys.readouterr().out.rstrip() == HELP
    monkeypatch.setattr(sys, "argv", ["tilewright.triton", "--wrong"])
    assert main() == 2
    assert capsys.readouterr().err.endswith("error: unknown option '--wrong'\n")


@pytest.mark.skipif(importlib.util.find_spec("triton") is not None, reason="Triton is installed")
def test_without_triton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tilewright.triton", str(tmp_path / "a.py")])
    assert main() == 2
    text = capsys.readouterr().err
    assert "Triton programs without the package 'triton': pip install 'tilewright[triton]'" in text


@needs_triton
def test_a_program_runs_unmodified(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("LIMIT", "n"))
    ran = subprocess.run(command(str(path), "--steps", "3"), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "True",
        "['--steps', '3'] __main__ 9900.0 cuda:0",
    ]
    assert ran.stderr.splitlines() == [
        "note: benchmarks of Triton run a function once: the time is that of the emulator, "
        "not that of a GPU"
    ]


@needs_triton
def test_an_error_ends_at_the_launch(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("LIMIT", "128"))
    ran = subprocess.run(command(str(path)), capture_output=True, text=True)
    assert ran.returncode == 1
    assert "triton/runtime/jit.py" not in ran.stderr
    assert f"{path}:9:" in ran.stderr
    assert "store of 4 bytes outside of every allocation" in ran.stderr
    assert f'File "{path}", line 13' in ran.stderr


@needs_triton
def test_limits_and_interrupts(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS)
    ran = subprocess.run(command("--max-steps", "2000", str(path)), capture_output=True, text=True)
    assert ran.returncode == 1
    assert "stopped at the limit of 2,000 steps" in ran.stderr
    child = subprocess.Popen(
        command("--no-check", str(path)), stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    time.sleep(8)
    child.send_signal(signal.SIGINT)
    _, text = child.communicate(timeout=120)
    assert child.returncode not in (0, None)
    assert "interrupted in step" in text
