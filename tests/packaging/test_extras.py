"""Extras: messages that name one name the extra that has the missing package."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tilewright.cutile.versions import KNOWN_VERSIONS, cutile
from tilewright.driver.cli import lsp
from tilewright.driver.tuning.ray_backend import LOCAL, RayCluster
from tilewright.driver.tuning.records import MODEL
from tilewright.runtime import arrays, driver
from tilewright.support.diagnostics import Unsupported
from tilewright.triton.versions import triton

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

NAMED = re.compile(r"tilewright\[([\w,]+)\]")
OTHER = re.compile(r"pip install (?!'tilewright\[)")


def requirements(extra: str) -> dict[str, str]:
    """The distributions of an extra, with what is required of each."""
    listed: dict[str, str] = {}
    for text in EXTRAS[extra]:
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            for inner in requirement.extras:
                listed |= requirements(inner)
        else:
            listed[requirement.name] = str(requirement.specifier)
    return listed


def messages() -> list[tuple[str, str]]:
    """The strings of the package that name an extra or `pip install`, each with its module."""
    listed: list[tuple[str, str]] = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text("utf-8")
        if "pip install" not in text and "tilewright[" not in text:
            continue
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if NAMED.search(node.value) or "pip install" in node.value:
                    listed.append((module, node.value))
    return listed


class _Owner:
    """An array that only DLPack describes."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def from_dlpack() -> object:
    return arrays._from_dlpack(_Owner(), "argument 0")


def serve_an_editor() -> object:
    sys.modules.pop("tilewright.driver.lsp.server", None)
    return lsp.run(lsp.COMMAND.parse([]))


MISSING: dict[str, tuple[str, str, Callable[[], object]]] = {
    "tilewright.runtime.driver": ("gpu", "cuda.bindings.driver", driver.bindings.__wrapped__),
    "tilewright.runtime.arrays": ("gpu", "cuda.core.utils", from_dlpack),
    "tilewright.cutile.versions": ("cutile", "cuda.tile", cutile),
    "tilewright.triton.versions": ("triton", "triton", triton),
    "tilewright.driver.cli.lsp": ("lsp", "pygls.lsp.server", serve_an_editor),
    "tilewright.driver.tuning.ray_backend": ("tune", "ray", lambda: RayCluster(LOCAL, MODEL)),
}
"""Modules whose messages name an extra: the extra, the missing module, and what needs it."""

HELP = {"tilewright.driver.cli.tune": "tune"}
"""Modules whose help names an extra."""


def test_every_message_is_listed() -> None:
    assert {module for module, _ in messages()} == {*MISSING, *HELP}


@pytest.mark.parametrize(("module", "text"), messages())
def test_messages_name_the_right_extra(module: str, text: str) -> None:
    expected = MISSING[module][0] if module in MISSING else HELP[module]
    assert NAMED.findall(text) == [expected]
    assert not OTHER.search(text), "an extra has the versions that work"


@pytest.mark.parametrize("module", MISSING)
def test_a_missing_package_is_an_error_that_names_the_extra(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra, missing, action = MISSING[module]

    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(Unsupported, match=rf"pip install 'tilewright\[{extra}\]'"):
        action()


def test_extras_have_the_packages_that_are_missing() -> None:
    owners = {
        "gpu": {"cuda-bindings", "cuda-core"},
        "cutile": {"cuda-tile"},
        "triton": {"torch", "triton"},
        "lsp": {"pygls"},
        "tune": {"ray"},
    }
    for extra, expected in owners.items():
        assert set(requirements(extra)) == expected


def test_former_names_of_extras_work() -> None:
    assert requirements("ray") == requirements("tune")


def test_cutile_is_the_version_that_is_known() -> None:
    assert requirements("cutile") == {"cuda-tile": f"=={KNOWN_VERSIONS[-1]}"}
    assert requirements("dev")["cuda-tile"] == f"=={KNOWN_VERSIONS[-1]}"


def test_pages_name_known_extras() -> None:
    pages = [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text("utf-8")
        named = re.findall(r"(?:tilewright|'\.)\[([\w,]+)\]", text)
        for extra in {each for names in named for each in names.split(",")}:
            assert extra in EXTRAS, f"{page.name} names [{extra}]"
