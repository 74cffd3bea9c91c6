"""Examples of remarks: a small program for each id, with the remark on the line that it marks.

The first line of an example has options of `tilewright compile`. A comment `// REMARK id: text`
says that the next line has a remark with the id, whose message contains the text. A remark without
a location is marked by `// REMARK-ANYWHERE`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from command_line import Run
from tuned_programs import enable_cache, tune_to

from tilewright.support.remark_catalogue import CATALOGUE

FOLDER: Final = Path(__file__).parent / "remark_examples"
OPTIONS: Final = re.compile(r"// OPTIONS: ?(.*)")
MARK: Final = re.compile(r" *// REMARK(-ANYWHERE)? ([\w-]+): (.*)")
PRINTED: Final = re.compile(r"(?:.*:(\d+):\d+: )?remark: (.*) \[(\w+): ([\w-]+)\]")
ANYWHERE: Final = 0
"""The line of remarks without a location."""
TUNING: Final = {"tuned", "tuned-refused"}
"""Remarks that depend on tuning records."""


class Printed(NamedTuple):
    """A remark that the command line prints."""

    line: int
    message: str
    kind: str
    id: str


def printed(text: str) -> list[Printed]:
    matches = filter(None, map(PRINTED.fullmatch, text.splitlines()))
    return [Printed(int(line or ANYWHERE), message, kind, id) for line, message, kind, id in
            (match.groups() for match in matches)]  # fmt: skip


def example(id: str) -> list[str]:
    return (FOLDER / f"{id}.mlir").read_text().splitlines()


def compiled(run: Run, id: str) -> list[Printed]:
    """The remarks of `tilewright compile --remarks` on an example."""
    match = OPTIONS.fullmatch(example(id)[0])
    assert match is not None
    options = match[1].split()
    output = [] if "--emit" in options else ["--emit", "nvvm"]
    path = str(FOLDER / f"{id}.mlir")
    code, _, err = run("compile", path, "--remarks", *options, *output, "-o", "out")
    assert code == 0, err
    return printed(err)


def test_every_id_has_an_example() -> None:
    assert {path.stem for path in FOLDER.iterdir()} | TUNING == CATALOGUE.keys()


@pytest.mark.parametrize("id", sorted(CATALOGUE.keys() - TUNING))
@pytest.mark.sampled(16)
def test_the_example_of_an_id_has_its_remark(id: str, run: Run, ptxas: Path) -> None:
    remarks = compiled(run, id)
    marks = [
        (ANYWHERE if match[1] else number + 1, match[2], match[3])
        for number, line in enumerate(example(id), 1)
        if (match := MARK.fullmatch(line)) is not None
    ]
    assert id in [expected for _, expected, _ in marks]
    for line, expected, text in marks:
        on_line = [each for each in remarks if (each.line, each.id) == (line, expected)]
        assert any(text in each.message for each in on_line), remarks
        assert {each.kind for each in on_line} == {CATALOGUE[expected].kind}


def test_remarks_on_tuning(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enable_cache(tmp_path / "cache", monkeypatch)
    program = "\n".join(example("mma-tensor-core"))
    one, two = tmp_path / "one.mlir", tmp_path / "two.mlir"
    one.write_text(program)
    two.write_text(program.rstrip().removesuffix("}") + "  entry @other() {\n    return\n  }\n}\n")
    tune_to(program, "stages=5")
    command = ["compile", "--remarks", "--emit", "nv_tileas", "-o", "out"]
    err = run(*command, str(one)).err
    assert "remark: '@k' is compiled as tuned: 'stages=5'" in err
    assert "`--no-tuned` ignores the record" in err
    assert "is compiled as tuned" not in run(*command, "--no-tuned", str(one)).err
    assert "[passed: tuned]" in err
    assert "is not compiled as tuned: other kernels" in (err := run(*command, str(two)).err)
    assert "[missed: tuned-refused]" in err


def test_remarks_are_the_same_from_the_cache(
    run: Run, tmp_path: Path, ptxas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with the cubin of a compilation without remarks in the cache."""
    enable_cache(tmp_path / "cache", monkeypatch)
    command = ["compile", str(FOLDER / "vector-alignment.mlir"), "-o", "out.cubin"]
    assert run(*command) == (0, "", "")
    first = run(*command, "--remarks")
    assert (first.code, first.out) == (0, "")
    assert "vector-alignment" in [each.id for each in printed(first.err)]

    def fail(*_: object) -> None:
        raise AssertionError("expected no compilation")

    monkeypatch.setattr("tilewright.driver.compile.Compilation", fail)
    second = run(*command, "--remarks")
    assert [each.message for each in printed(second.err)] == [
        each.message for each in printed(first.err)
    ]
    assert run(*command) == (0, "", "")


def test_several_files_have_no_remarks(run: Run, tmp_path: Path) -> None:
    files = [str(FOLDER / f"{id}.mlir") for id in ("cluster", "multicast")]
    code, _, err = run("compile", *files, "--remarks", "-o", str(tmp_path / "out"))
    assert code == 2
    assert "option '--remarks': expected one FILE, found 2" in err


def test_a_remark_is_explained(run: Run) -> None:
    code, out, err = run("remarks", "vector-alignment", "cluster")
    assert (code, err) == (0, "")
    entry = CATALOGUE["vector-alignment"]
    plain = " ".join(out.split())
    assert out.startswith("vector-alignment (missed, Memory; RemarkVectorization in YAML)\n")
    assert f"{entry.meaning} Why: {entry.why} Remedy: {entry.remedy} cluster (" in plain


def test_all_remarks_are_listed(run: Run) -> None:
    out = run("remarks").out
    listed = re.findall(r"^  ([a-z-]+) ", out, re.MULTILINE)
    assert sorted(listed) == sorted(CATALOGUE)


def test_an_unknown_remark(run: Run) -> None:
    code, out, err = run("remarks", "vector-algnment")
    assert (code, out) == (2, "")
    assert "unknown remark 'vector-algnment'; similar ones: vector-alignment" in err
