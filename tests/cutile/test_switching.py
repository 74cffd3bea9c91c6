"""Enabling and disabling our compiler in cuTile, with earlier imports and other versions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tilewright

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
compiler = pytest.importorskip("cuda.tile._compile")
cutile = pytest.importorskip("tilewright.cutile")

OWN = ct.launch


@ct.kernel
def fill(y, number):
    ct.scatter(y, ct.bid(0), number)


@pytest.fixture(autouse=True)
def switched_off() -> Iterator[None]:
    yield
    cutile.disable()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that has imported `launch` under a name of its own."""
    module: Any = ModuleType("client_of_cutile")
    module.start = OWN
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def launched(launch: Any) -> list[int]:
    y = np.zeros(3, np.int32)
    launch(None, (3,), fill, (y, 5))
    return y.tolist()


def test_launch_runs_on_the_cpu_and_ignores_its_stream() -> None:
    cutile.enable(on="cpu")
    assert launched(ct.launch) == [5, 5, 5]
    y = np.zeros(3, np.int32)
    ct.launch(object(), (3,), fill, (y, 6), programmatic_dependent_launch=True)
    assert y.tolist() == [6, 6, 6]


def test_launch_runs_on_the_emulator() -> None:
    cutile.enable(on="emulator", check=True)
    assert launched(ct.launch) == [5, 5, 5]


def test_earlier_imports_of_launch_are_switched_too(client: Any) -> None:
    cutile.enable(on="cpu")
    assert launched(client.start) == [5, 5, 5]
    cutile.disable()
    assert client.start is OWN


def test_imports_while_enabled_are_switched_back(client: Any) -> None:
    cutile.enable(on="cpu")
    client.later = ct.launch
    cutile.disable()
    assert client.later is OWN
    assert ct.launch is OWN


def test_enabling_again_changes_the_options() -> None:
    cutile.enable(on="cpu")
    cutile.enable(on="cpu", check=True)

    @ct.kernel
    def races(y):
        ct.scatter(y, 0, ct.bid(0))

    with pytest.raises(tilewright.UserError, match="race"):
        ct.launch(None, (2,), races, (np.zeros(1, np.int32),))
    cutile.disable()
    cutile.disable()
    assert ct.launch is OWN


def test_other_devices_are_rejected() -> None:
    with pytest.raises(tilewright.Unsupported, match=r"on 'moon' \(known: gpu, cpu, emulator\)"):
        cutile.enable(on="moon")
    assert ct.launch is OWN


@pytest.mark.parametrize("options", [{"check": True}, {"seed": 7}])
def test_options_of_the_executor_are_rejected_elsewhere(options: dict[str, Any]) -> None:
    with pytest.raises(tilewright.UserError, match="expected on='cpu'"):
        cutile.enable(**options)


def test_the_gpu_leaves_the_launch_to_cutile_and_the_cpu_leaves_it_the_compiler() -> None:
    own, launch = compiler._find_compiler_bin, ct.launch  # names of the module change with them
    cutile.enable()
    assert ct.launch is launch
    assert compiler._find_compiler_bin is not own
    cutile.enable(on="cpu")
    assert ct.launch is not launch
    assert compiler._find_compiler_bin is own


def test_the_installed_version_is_known() -> None:
    assert ct.__version__ in cutile.KNOWN_VERSIONS


def test_other_versions_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ct, "__version__", "99.1")
    for attempt in (cutile.enable, lambda: cutile.launch(1, fill, ())):
        with pytest.raises(tilewright.Unsupported) as caught:
            attempt()
        assert "cuTile Python 99.1 (known: 1.7.0)" in str(caught.value)


def test_without_cutile_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.tile", None)
    with pytest.raises(tilewright.Unsupported, match=r"pip install 'tilewright\[cutile\]'"):
        cutile.launch(1, fill, ())
