"""FlashInfer asks the help of `tileiras` whether it knows the GPU, before it uses cuTile at all.

It takes the compiler of NVIDIA's packages if they are installed, else that on the path, else that
of CUDA_HOME. If the help does not have `=sm_90`, say, its cuTile kernels are off, and it does not
tell.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NoReturn

import pytest

from tilewright.target.arch import ARCHES


def test_the_help_names_every_gpu(tileiras) -> None:
    done = tileiras("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert [gpu for gpu in ARCHES if f"={gpu}" not in done.stdout] == []


@pytest.fixture(scope="module")
def flashinfer() -> ModuleType:
    """The module of its probe, by itself: the whole package needs torch and a dozen others."""
    pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
    spec = importlib.util.find_spec("flashinfer")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("FlashInfer is not installed (PyPI: flashinfer-python)")
    file = Path(spec.submodule_search_locations[0]) / "cutile" / "cutile_common.py"
    own = importlib.util.spec_from_file_location("flashinfer_probe", file)
    assert own is not None
    assert own.loader is not None
    module = importlib.util.module_from_spec(own)
    own.loader.exec_module(module)
    return module


@pytest.fixture
def first_on_path(tools: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put our tools first on the path, and hide NVIDIA's packages, which come before the path."""

    def not_installed(name: str) -> NoReturn:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tools), os.environ["PATH"])))
    return str(tools / "tileiras")


def on_gpu(monkeypatch: pytest.MonkeyPatch, gpu: str) -> None:
    """Have `torch` report a GPU of this name."""
    capability = divmod(int(gpu.removeprefix("sm_")), 10)
    cuda = SimpleNamespace(
        is_available=lambda: True, get_device_capability=lambda device: capability
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))


@pytest.mark.parametrize("gpu", list(ARCHES))
def test_its_own_probe_is_true(
    flashinfer: ModuleType, first_on_path: str, monkeypatch: pytest.MonkeyPatch, gpu: str
) -> None:
    on_gpu(monkeypatch, gpu)
    assert flashinfer._find_tileiras_binary() == first_on_path
    assert flashinfer._tileiras_supports_arch(first_on_path, gpu) is True
    assert flashinfer.is_cuda_tile_available(0) is True


def test_its_own_probe_is_false_for_other_gpus(
    flashinfer: ModuleType, first_on_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_gpu(monkeypatch, "sm_75")
    assert flashinfer.is_cuda_tile_available(0) is False
