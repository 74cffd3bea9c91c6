"""The same bytes in every process, under every hash seed, and from several threads at once."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

EVERYTHING = """
import hashlib, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tilewright
from tilewright.driver.disassembly import disassemble
from tilewright.driver.pipelines import level_pipeline

FILES = sorted([*Path("tests/programs").glob("*.mlir"), *Path("examples").glob("*.mlir")])


def everything(path):
    module = tilewright.read(path)
    data = tilewright.write_bytecode(module)
    again = tilewright.read(data, name="again")
    texts = [str(module), module.to_text(style="tileiras"), disassemble(again, debug=True)]
    texts.append(disassemble(again, generic=True))
    level_pipeline(3).run(again)
    texts.append(disassemble(again))
    return hashlib.sha256(data + "".join(texts).encode()).hexdigest()


def bad(path):
    try:
        tilewright.read(path.read_text().replace("tile<", "tile<3x"), name=path.name)
    except tilewright.Error as error:
        return error.render()
"""

ALONE = """
print([everything(path) for path in FILES], [bad(path) for path in FILES])
"""

TOGETHER = """
sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(4) as pool:
    jobs = [pool.submit(everything, path) for path in FILES for _ in range(4)]
    wrong = [pool.submit(bad, path) for path in FILES for _ in range(4)]
results, errors = [job.result() for job in jobs], [job.result() for job in wrong]
for each in (results, errors):
    groups = [set(each[at : at + 4]) for at in range(0, len(each), 4)]
    assert all(len(group) == 1 for group in groups)
print(results[::4], errors[::4])
"""


@cache
def run(code: str, seed: str) -> str:
    """Run code in a new process and return its output."""
    command = [sys.executable, "-c", EVERYTHING + code]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hash_seeds() -> None:
    first, second, third = (run(ALONE, seed) for seed in "012")
    assert first == second == third
    assert "error:" in first


def test_threads() -> None:
    assert run(TOGETHER, "0") == run(ALONE, "0")
