"""Crash kits: what a failing compilation leaves, and its replay."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import tilewright
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver import crash_kits
from tilewright.driver.cli import main
from tilewright.driver.compile import Compilation, Observers, target
from tilewright.driver.replay import CrashKit
from tilewright.driver.settings import Settings
from tilewright.emit import ptx
from tilewright.ir.instruments import PrintEach
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import AssemblerError, InternalError, Sink
from tilewright.text.printer import print_op
from tilewright.tileiras.run import main as tileiras
from tilewright.transforms.cuda_tile.loop_split import LoopSplit
from tilewright.transforms.nv_tileaa.merge_loads import MergeLoads

PROGRAM = """\
cuda_tile.module @kernels {
  entry @copy(%from: tile<ptr<f32>>, %to: tile<ptr<f32>>) {
    %x, %t = load_ptr_tko weak %from : tile<ptr<f32>> -> tile<f32>, token
    %y = addf %x, %x : tile<f32>
    %u = store_ptr_tko weak %to, %y : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""

REJECTING = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "release 99.9, V99.9.1"; exit 0; fi
echo "ptxas module.ptx, line 7; error   : planted failure"
exit 255
"""


@pytest.fixture
def kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for kits."""
    folder = tmp_path / "kits"
    monkeypatch.setenv(crash_kits.VARIABLE, str(folder))
    return folder


def plant(monkeypatch: pytest.MonkeyPatch, kind: type = MergeLoads) -> None:
    """Make a pass change the program and then fail."""

    def run(self: object, op: Operation, sink: Sink) -> None:
        for inner in list(op.walk()):
            if not inner.results and not inner.regions and not inner.is_terminator:
                inner.erase()
        raise KeyError("planted")

    monkeypatch.setattr(kind, "run", run)


def only_kit(folder: Path) -> CrashKit:
    (kit,) = folder.iterdir()
    return CrashKit(str(kit))


def test_internal_error_leaves_a_kit_that_replays(
    kits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[str] = []
    printed = PrintEach(lambda op: print_op(op, debug=True), before.append, before=("merge-loads",))
    settings = Settings(target("sm_90"))
    Compilation(tilewright.read(PROGRAM), settings, Observers([printed])).lower("nvvm")
    with monkeypatch.context() as planted:
        plant(planted)
        with pytest.raises(InternalError) as caught:
            tilewright.compile(PROGRAM, emit="ptx")
        assert isinstance(caught.value.__cause__, KeyError)
        kit = only_kit(kits)
        first, second = str(caught.value).splitlines()
        assert first == "KeyError: 'planted'"
        assert f"crash kit in '{kit.folder}'" in second
        assert f"`tilewright replay {kit.folder}`" in second
        with pytest.raises(KeyError, match="planted"):
            kit.replay()
        with pytest.raises(KeyError, match="planted"):
            kit.compile_input()
    assert kit.pipeline == "merge-loads"
    assert kit.facts["stage"] == "ptx"
    assert kit.settings == settings
    # The pass has changed the program before it failed: the kit has the one before.
    assert kit.read("module.mlir").decode().strip() == before[0].split("\n", 1)[1].strip()
    assert "cuda_tile.addf" not in kit.read("module.mlir").decode()
    assert " addf " in kit.read("input.mlir").decode()
    assert "KeyError: 'planted'" in kit.read("trace.txt").decode()
    versions = kit.facts["versions"]
    assert isinstance(versions, dict)
    assert versions["tilewright"] == tilewright.__version__
    # Repaired, it does not fail.
    kit.replay()
    kit.compile_input()


def test_pass_on_nested_operations(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as planted:
        plant(planted, LoopSplit)
        with pytest.raises(InternalError):
            tilewright.compile(PROGRAM, emit="ptx")
        kit = only_kit(kits)
        assert kit.pipeline == "cuda_tile.entry(loop-split)"
        with pytest.raises(KeyError):
            kit.replay()
    kit.replay()


def test_verification_after_a_pass(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: object, op: Operation, sink: Sink) -> None:
        for inner in op.walk():
            inner.attributes.pop("function_type", None)

    monkeypatch.setattr(MergeLoads, "run", run)
    path = kits.parent / "program.mlir"
    path.write_text(PROGRAM)
    assert main(["compile", "--verify-each", str(path), "--emit", "ptx"]) == 70
    kit = only_kit(kits)
    assert kit.pipeline == "merge-loads"
    with pytest.raises(InternalError, match="invalid program after pass 'merge-loads'"):
        kit.replay()


def test_failure_of_ptxas(kits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text(REJECTING)
    fake.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(fake))
    with pytest.raises(AssemblerError) as caught:
        tilewright.compile(PROGRAM, opt_level=1, line_info=True)
    kit = only_kit(kits)
    assert kit.folder in caught.value.render()
    assert kit.facts["command"] == [str(fake), "-v", "-arch=sm_90a", "-O1", "-lineinfo"]
    versions = kit.facts["versions"]
    assert isinstance(versions, dict)
    assert versions["ptxas"] == "99.9.1"
    assert versions["ptxas_path"] == str(fake)
    assert kit.read("module.ptx").decode().count(".entry copy") == 1
    with pytest.raises(AssemblerError, match="planted failure"):
        kit.replay()
    monkeypatch.delenv("TILEWRIGHT_PTXAS")
    kit.replay()


def test_failure_of_llvm(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(*arguments: object, **options: object) -> str:
        raise InternalError("LLVM rejects what we wrote: planted")

    with monkeypatch.context() as planted:
        planted.setattr(ptx, "compile_ptx", reject)
        with pytest.raises(InternalError, match="rejects what we wrote"):
            tilewright.compile(PROGRAM, emit="ptx")
        kit = only_kit(kits)
        assert "define ptx_kernel void @copy" in kit.read("module.ll").decode()
        with pytest.raises(InternalError, match="planted"):
            kit.replay()
    kit.replay()


def test_tileiras_leaves_a_kit(
    kits: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "program.tileirbc"
    path.write_bytes(write_bytecode(tilewright.read(PROGRAM), (13, 1)))
    plant(monkeypatch)
    arguments = [str(path), "--gpu-name", "sm_90", "-o", str(tmp_path / "out.cubin")]
    assert tileiras(arguments) == 5
    kit = only_kit(kits)
    assert kit.folder in capsys.readouterr().err
    with pytest.raises(KeyError):
        kit.replay()


def test_no_folder_is_said_and_the_error_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(crash_kits.VARIABLE, str(tmp_path / "file" / "kits"))
    plant(monkeypatch)
    with pytest.raises(InternalError, match="KeyError: 'planted'\nthere is no crash kit: Not a"):
        tilewright.compile(PROGRAM, emit="ptx")


def test_error_while_collecting_is_said(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> object:
        raise RuntimeError("no facts")

    plant(monkeypatch)
    monkeypatch.setattr(crash_kits, "versions", fail)
    with pytest.raises(InternalError, match=r"'planted'\nthere is no crash kit: no facts"):
        tilewright.compile(PROGRAM, emit="ptx")


def test_folder_of_others_is_not_used(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kits.mkdir()
    kits.chmod(0o777)
    plant(monkeypatch)
    with pytest.raises(InternalError, match="other users may write to it"):
        tilewright.compile(PROGRAM, emit="ptx")
    assert not list(kits.iterdir())


def test_off(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(crash_kits.VARIABLE, "off")
    plant(monkeypatch)
    with pytest.raises(InternalError, match=r"^KeyError: 'planted'$") as caught:
        tilewright.compile(PROGRAM, emit="ptx")
    assert isinstance(caught.value.__cause__, KeyError)
    assert not kits.exists()


def test_exceptions_of_the_caller_pass(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may raise in a pass."""

    class Alarm(Exception):
        pass

    def run(self: object, op: Operation, sink: Sink) -> None:
        raise Alarm

    monkeypatch.setattr(MergeLoads, "run", run)
    with pytest.raises(Alarm):
        tilewright.compile(PROGRAM, emit="ptx")
    assert not kits.exists()


def test_wrong_programs_leave_none(kits: Path) -> None:
    with pytest.raises(tilewright.UserError):
        tilewright.compile(PROGRAM.replace("addf", "addi"))
    with pytest.raises(tilewright.Unsupported):
        tilewright.compile(PROGRAM, "sm_10")
    assert not kits.exists()


def test_one_kit_for_each_failure_and_a_bounded_number(
    kits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_kits, "MOST_KITS", 2)
    plant(monkeypatch)
    names: list[str] = []
    for number, name in enumerate(("a", "a", "b", "c")):
        with pytest.raises(InternalError):
            tilewright.compile(PROGRAM.replace("@copy", f"@{name}"), emit="ptx")
        for kit in kits.iterdir():
            if kit.name not in names:
                names.append(kit.name)
            if kit.name == names[-1] or name == "a":
                os.utime(kit, (number, number))
        if not number:
            (kits / "of-the-user").mkdir()
            names.append("of-the-user")
    assert len(names) == 4  # three kits, of which the first is gone, and the other folder
    assert {kit.name for kit in kits.iterdir()} == set(names[1:])
    assert all(re.fullmatch(r"merge-loads-[0-9a-f]{12}", name) for name in names[2:])


def test_large_files_are_left_out(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_kits, "MOST_BYTES", 300)
    plant(monkeypatch)
    with pytest.raises(InternalError):
        tilewright.compile(PROGRAM, emit="ptx")
    kit = only_kit(kits)
    assert kit.facts["left_out"] == ["input.mlir", "module.mlir", "trace.txt"]
    assert os.listdir(kit.folder) == ["kit.json"]
    with pytest.raises(tilewright.Error, match="the kit has none"):
        kit.replay()


def test_command(
    kits: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay"]) == 2
    assert "there is none" in capsys.readouterr().err
    with monkeypatch.context() as planted:
        plant(planted)
        with pytest.raises(InternalError):
            tilewright.compile(PROGRAM, emit="ptx")
        assert main(["replay"]) == 70
        assert "KeyError: 'planted'" in capsys.readouterr().err
    folder = only_kit(kits).folder
    assert main(["replay", folder]) == 0
    assert capsys.readouterr().err == f"{folder}: pass 'merge-loads' does not fail\n"
    assert main(["replay", folder, "--from-input"]) == 0
    assert capsys.readouterr().err == f"{folder}: the compilation does not fail\n"
    facts = json.loads((Path(folder) / "kit.json").read_text())
    (Path(folder) / "kit.json").write_text(json.dumps({**facts, "format": 2}))
    assert main(["replay", folder]) == 2
    assert "expected a crash kit of format 1, found 2" in capsys.readouterr().err
    (Path(folder) / "kit.json").write_text("{}")
    assert main(["replay", folder]) == 2


def test_pipeline_of_opt(
    kits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    passes = "canonicalize,cuda_tile.entry(cse,loop-split),dce"
    with monkeypatch.context() as planted:
        plant(planted, LoopSplit)
        assert main(["opt", str(path), "--pass", passes]) == 70
        kit = only_kit(kits)
        assert kit.folder in capsys.readouterr().err
        assert kit.pipeline == "cuda_tile.entry(loop-split)"
        assert kit.facts["pipeline"] == passes
        with pytest.raises(KeyError):
            kit.replay()
        with pytest.raises(KeyError):
            kit.compile_input()
    kit.replay()
    kit.compile_input()


@pytest.mark.parametrize("change", [{"opt_level": "3 -v"}, {"arch": 90}, {"other": 1}])
def test_settings_of_a_kit_are_checked(
    kits: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    plant(monkeypatch)
    with pytest.raises(InternalError):
        tilewright.compile(PROGRAM, emit="ptx")
    path = Path(only_kit(kits).path("kit.json"))
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "settings": {**facts["settings"], **change}}))
    with pytest.raises(tilewright.Error):
        only_kit(kits)
