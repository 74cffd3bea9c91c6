"""The checked-in sample of the corpus after optimization, and what NVIDIA's tools make of it."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from corpus_checks import SAMPLE, Module, load_modules
from integrity import check_integrity
from repeats import keep_every
from token_order import order, tag, tags

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.pipelines import level_pipeline, parse_pipeline
from tilewright.ir.verifier import verify

NAMES = tuple(SAMPLE.read_text().split())
COMPILED = NAMES[::8]


@cache
def corpus() -> dict[str, Module]:
    wanted = set(NAMES)
    return {module.name: module for module in load_modules() if module.name in wanted}


def read(name: str) -> ModuleOp:
    return read_bytecode(corpus()[name].data, name)


def optimized(name: str) -> ModuleOp:
    module = read(name)
    pipeline = level_pipeline(3)
    assert pipeline is not None
    pipeline.run(module)
    return module


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES, 20))
def test_an_optimized_module_is_sound_and_settled(name: str) -> None:
    module = optimized(name)
    verify(module)
    check_integrity(module)
    text = str(module)
    parse_pipeline("canonicalize").run(module)
    assert str(module) == text


@pytest.mark.corpus
@pytest.mark.requirement("R1-045")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(60)
def test_every_pass_keeps_the_order_that_tokens_give(name: str) -> None:
    module = read(name)
    tag(module)
    for step in ("canonicalize", "cse", "licm", "loop-split", "fuse-fma"):
        before, there = order(module), tags(module)
        parse_pipeline(step).run(module)
        left = tags(module)
        kept = {pair for pair in before if left.issuperset(pair)}
        assert kept <= order(module), step
        assert left <= there


@pytest.mark.corpus
@pytest.mark.peer
@pytest.mark.parametrize("name", keep_every(NAMES, 20))
def test_the_peer_reads_an_optimized_module(name: str, nvidia_tools: Path, tmp_path: Path) -> None:
    file = tmp_path / "module.tileirbc"
    file.write_bytes(write_bytecode(optimized(name)))
    run = subprocess.run([nvidia_tools / "tileirdisasm", file], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.corpus
@pytest.mark.peer
@pytest.mark.parametrize("name", keep_every(COMPILED, 12))
def test_the_peer_compiles_an_optimized_module(
    name: str, nvidia_tools: Path, tmp_path: Path
) -> None:
    plain, better = tmp_path / "plain.tileirbc", tmp_path / "better.tileirbc"
    plain.write_bytes(corpus()[name].data)
    better.write_bytes(write_bytecode(optimized(name)))

    def compile(file: Path) -> subprocess.CompletedProcess[str]:
        command = [nvidia_tools / "tileiras", file, "-o", tmp_path / "out.cubin"]
        return subprocess.run([*command, "--gpu-name", "sm_90"], capture_output=True, text=True)

    run = compile(better)
    if run.returncode != 0 and compile(plain).returncode != 0:
        pytest.skip("not for this GPU")
    assert run.returncode == 0, run.stderr
