"""Defects of ptxas as docs/ptxas-defects.md records them: each ptxas assembles the reproducers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from each_case import each_case

from tilewright.driver.versions import ptxas_version
from tilewright.emit.elf import read_sections

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent / "ptxas_defects"
PAGE = ROOT / "docs" / "ptxas-defects.md"
OLDEST = (13, 0)
"""The oldest ptxas that is supported."""
TOOLKITS = "/usr/local"
"""The folder with the CUDA toolkits of a machine."""
Version = tuple[int, ...]


class Defect(NamedTuple):
    """A row of the table."""

    name: str
    present: list[Version]
    absent: list[Version]
    workarounds: list[str]


def versions(text: str) -> list[Version]:
    return [tuple(map(int, each.split("."))) for each in re.findall(r"[\d.]+", text)]


def defects() -> Iterator[Defect]:
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if line[:3] == "| `"]
    for name, _, present, absent, workarounds in rows:
        files = re.findall("`([^`]+)`", workarounds)
        yield Defect(name.strip(" `"), versions(present), versions(absent), files)


class Assembly(NamedTuple):
    """The output of ptxas for a reproducer, and its instructions as numbers of 128 bits."""

    output: str
    instructions: list[int]

    def count(self, immediate: int) -> int:
        """How many instructions have an immediate operand, which is in bits 32 to 63."""
        return sum(each >> 32 & 0xFFFFFFFF == immediate for each in self.instructions)

    def opcodes(self) -> list[int]:
        """The opcodes, which are in bits 0 to 11."""
        return [each & 0xFFF for each in self.instructions]


def assemble(ptxas: Path, name: str, folder: Path) -> Assembly:
    source, cubin = FOLDER / f"{name}.ptx", folder / f"{name}.cubin"
    target = re.search(r"\.target (\w+)", source.read_text())
    assert target is not None
    command = [str(ptxas), "-arch", target[1], "-lineinfo", str(source), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        return Assembly(done.stdout + done.stderr, [])
    (code,) = [each.data for each in read_sections(cubin.read_bytes()) if each.name == ".text.k"]
    words = [int.from_bytes(code[at : at + 16], "little") for at in range(0, len(code), 16)]
    return Assembly(done.stdout + done.stderr, words)


LDGSTS_UNIFORM, HGMMA, WARPGROUP_WAIT, MUFU = 0xDAE, 0x9F0, 0x9C5, 0x308
"""Opcodes; the first is a copy whose shared address has a uniform part."""


def _names_ur0(made: Assembly) -> bool:
    """Whether a copy reads UR0, which is in bits 64 to 69, and which no instruction writes."""
    copies = [each for each in made.instructions if each & 0xFFF == LDGSTS_UNIFORM]
    return any(each >> 64 & 0x3F == 0 for each in copies)


def _waits_at_once(made: Assembly) -> bool:
    opcodes = made.opcodes()
    issue = opcodes.index(HGMMA)
    return MUFU not in opcodes[issue : opcodes.index(WARPGROUP_WAIT, issue)]


PRESENT: dict[str, Callable[[Assembly], bool]] = {
    "wgmma-in-place": lambda made: made.count(0x40490FDB) == 4,
    "descriptor-upper-half": lambda made: made.count(0x40000042) == 0,
    "hinted-cp-async": _names_ur0,
    "quoted-file-name": lambda made: "Parsing error near 'b'" in made.output,
    "st-bulk-symbol": lambda made: "must be register" in made.output,
    "wait-after-join": lambda made: "C7515" in made.output,
    "hoisted-wait": _waits_at_once,
}
"""Whether the output for its reproducer shows a defect."""


def problem(defect: Defect, version: Version, present: bool) -> str | None:
    """What is to be done about a version of ptxas that has, or has not, a defect."""
    number = ".".join(map(str, version))
    gist = f"ptxas {number} {'has' if present else 'does not have'} the defect '{defect.name}'"
    if version in (defect.absent if present else defect.present):
        return f"{gist}, unlike docs/ptxas-defects.md says"
    if present or version in defect.absent:
        return None
    last = ".".join(map(str, max(defect.present)))
    files = ", ".join(defect.workarounds)
    return f"{gist}: record it; the workaround can go when {last} is not supported: {files}"


def all_ptxas(installed: Path) -> list[Path]:
    """The ptxas that compilations use, and those of toolkits."""
    return [installed, *sorted(Path(TOOLKITS).glob("cuda-*/bin/ptxas"))]


def test_reproducers_show_what_is_recorded(ptxas: Path, tmp_path: Path) -> None:
    problems: list[str | None] = []
    for path in all_ptxas(ptxas):
        version = versions(ptxas_version(str(path)))[0][:2]
        for defect in defects():
            made = assemble(path, defect.name, tmp_path)
            problems.append(problem(defect, version, PRESENT[defect.name](made)))
    assert [each for each in problems if each] == []


def test_every_defect_has_a_reproducer_and_a_supported_version() -> None:
    names = [defect.name for defect in defects()]
    assert sorted(names) == sorted(PRESENT) == sorted(path.stem for path in FOLDER.iterdir())
    for defect in defects():
        assert max(defect.present) >= OLDEST, f"no workaround needed: {defect}"


def test_workarounds_name_their_defect() -> None:
    for defect in defects():
        assert defect.workarounds
        for file in defect.workarounds:
            text = (ROOT / "src" / "tilewright" / file).read_text()
            assert f"`{defect.name}`" in text, f"expected `{defect.name}` in {file}"
            assert "docs/ptxas-defects.md" in text, file


@each_case(
    ("version", "present", "expected"),
    [
        ((13, 4), True, None),
        ((13, 4), False, "ptxas 13.4 does not have the defect 'x', unlike"),
        ((13, 6), False, None),
        ((13, 6), True, "ptxas 13.6 has the defect 'x', unlike"),
        ((13, 5), True, None),
        ((14, 0), False, "the workaround can go when 13.4 is not supported: a.py, b.py"),
    ],
)
def test_what_a_version_means(version: Version, present: bool, expected: str | None) -> None:
    defect = Defect("x", [(13, 0), (13, 4)], [(13, 6)], ["a.py", "b.py"])
    message = problem(defect, version, present)
    if expected is None:
        assert message is None
    else:
        assert message is not None
        assert expected in message
