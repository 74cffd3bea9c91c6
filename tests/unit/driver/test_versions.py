"""The versions of LLVM, ptxas and libdevice, as other sources report them."""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from tilewright.driver import versions as module
from tilewright.driver.versions import (
    libdevice_version,
    llvm_version,
    ptxas_version,
    tool_versions,
    version_text,
    versions,
)
from tilewright.emit.toolchain import find_libdevice


def test_the_table_of_llvm_versions_agrees_with_llvm() -> None:
    binding = pytest.importorskip("llvmlite.binding")
    assert tool_versions()["llvmlite"] == version("llvmlite")
    assert tool_versions()["llvm"] == str(binding.llvm_version_info[0])


def test_an_unknown_llvmlite_has_no_llvm_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert llvm_version("0.99.1") == ""
    monkeypatch.setattr(module, "llvmlite_version", lambda: "0.99.1")
    assert "\nLLVM of unknown version (llvmlite 0.99.1)\n" in version_text()


def test_ptxas_is_asked_for_its_version(ptxas: Path) -> None:
    text = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    known = tool_versions()
    assert f", V{known['ptxas']}\n" in text
    assert known["ptxas_path"] == str(ptxas)


@pytest.mark.parametrize("script", ["#!/bin/sh\necho no number\n", "not executable"])
def test_a_ptxas_without_a_version(tmp_path: Path, script: str) -> None:
    path = tmp_path / "ptxas"
    path.write_text(script)
    path.chmod(0o755 if script.startswith("#!") else 0o644)
    assert ptxas_version(str(path)) == ""


def test_libdevice_has_the_version_of_its_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_LIBDEVICE", raising=False)
    path = find_libdevice()
    if "site-packages" not in path:
        pytest.skip("libdevice is not that of a wheel")
    assert libdevice_version(path) == version("nvidia-nvvm")


def test_libdevice_has_the_version_of_its_toolkit(tmp_path: Path) -> None:
    path = tmp_path / "nvvm" / "libdevice" / "libdevice.10.bc"
    assert libdevice_version(str(path)) == ""
    facts = {"cuda": {"name": "CUDA SDK", "version": "12.9.1"}}
    (tmp_path / "version.json").write_text(json.dumps(facts))
    assert libdevice_version(str(path)) == "12.9.1"
    (tmp_path / "version.json").write_text("[]")
    assert libdevice_version(str(path)) == ""
    assert libdevice_version(str(tmp_path / "libdevice.bc")) == ""


def test_tools_that_are_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(tmp_path / "ptxas"))
    monkeypatch.setenv("TILEWRIGHT_LIBDEVICE", str(tmp_path / "libdevice"))
    monkeypatch.setattr(module, "llvm_stamp", lambda: "")
    assert set(tool_versions().values()) == {""}
    assert version_text().splitlines()[1:] == ["LLVM: none", "ptxas: none", "libdevice: none"]


def test_crash_kits_have_the_same_facts() -> None:
    assert tool_versions().items() <= versions().items()
