"""`tilewright reduce`: commands and crash kits as tests of programs."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright
from tilewright.driver import crash_kits
from tilewright.driver.api import read_level
from tilewright.driver.cli import main
from tilewright.driver.files import is_bytecode
from tilewright.driver.reduction.engine import count_operations
from tilewright.emit.toolchain import find_ptxas
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink
from tilewright.transforms.nv_tileaa.merge_loads import MergeLoads

ROOT = Path(__file__).parents[2]
GEMM = ROOT / "examples" / "gemm.mlir"
KERNELS = ROOT / "tests" / "run" / "kernels"
TILEWRIGHT = f"{shlex.quote(sys.executable)} -m tilewright"

# It rejects code with mma.sync, and other code in another way.
PTXAS = """\
#!/bin/sh
for word in "$@"; do
  case "$word" in *.ptx) file="$word";; esac
done
[ -n "$file" ] || exec {ptxas} "$@"
if grep -q mma.sync "$file"; then
  echo "ptxas module.ptx, line 7; error   : planted failure"
else
  echo "ptxas module.ptx, line 7; error   : another failure"
fi
exit 255
"""


DOT = """\
!v = !cuda_tile.partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
!w = !cuda_tile.partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
cuda_tile.module @m {
  entry @dot(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %at = make_tensor_view %a, shape = [16, 16], strides = [16, 1]
        : tensor_view<16x16xf16, strides=[16,1]>
    %bt = make_tensor_view %b, shape = [16, 16], strides = [16, 1]
        : tensor_view<16x16xf16, strides=[16,1]>
    %ct = make_tensor_view %c, shape = [16, 16], strides = [16, 1]
        : tensor_view<16x16xf32, strides=[16,1]>
    %av = make_partition_view %at : !v
    %bv = make_partition_view %bt : !v
    %cv = make_partition_view %ct : !w
    %x, %t0 = load_view_tko weak %av[%zero, %zero] : !v, tile<i32> -> tile<16x16xf16>, token
    %y, %t1 = load_view_tko weak %bv[%zero, %zero] : !v, tile<i32> -> tile<16x16xf16>, token
    %sum = mmaf %x, %y, %none : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %t2 = store_view_tko weak %sum, %cv[%zero, %zero] : tile<16x16xf32>, !w, tile<i32> -> token
    return
  }
}
"""


def operations(path: Path) -> int:
    return count_operations(read_level(path.read_bytes(), path.name))


def test_file_is_the_last_argument(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["reduce", str(GEMM), "--test", "grep -q mmaf"]) == 0
    out, err = capsysbinary.readouterr()
    module = tilewright.read(out.decode())
    # The kernel and its end, the operation and two constants.
    assert sorted(op.name.removeprefix("cuda_tile.") for op in module.walk()) == [
        "constant", "constant", "entry", "mmaf", "module", "return",
    ]  # fmt: skip
    *steps, last = err.decode().splitlines()
    assert last.startswith("29 operations to 5, ")
    counts = [int(step.split()[0]) for step in steps]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 5
    assert main(["reduce", str(GEMM), "--test", "grep -q mmaf"]) == 0
    assert capsysbinary.readouterr() == (out, err)


def test_braces_are_the_file(tmp_path: Path) -> None:
    target = tmp_path / "small.mlir"
    command = "grep -q exp {} && grep -q reduce {}"
    source = str(KERNELS / "softmax.mlir")
    assert main(["reduce", source, "--test", command, "-o", str(target)]) == 0
    text = target.read_text()
    assert " exp " in text
    assert " reduce " in text
    assert operations(target) <= 8


# Each candidate starts a process, so that the program is small.
CHAIN = """\
entry @chain(%x: tile<f32>, %p: tile<ptr<f32>>) {
  %a = exp %x : tile<f32>
  %b = atan2 %a, %x : tile<f32>
  %c = addf %b, %x : tile<f32>
  %t = store_ptr_tko weak %p, %c : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""


def test_bytecode_stays_bytecode(tmp_path: Path) -> None:
    source, target = tmp_path / "chain.tileirbc", tmp_path / "small.tileirbc"
    source.write_bytes(tilewright.write_bytecode(tilewright.read(CHAIN)))
    command = f"{TILEWRIGHT} dis {{}} | grep -q exp"
    assert main(["reduce", str(source), "--test", command, "-o", str(target)]) == 0
    assert is_bytecode(target.read_bytes())
    # The kernel and its end, and the operation, of an argument.
    names = [op.name.removeprefix("cuda_tile.") for op in tilewright.read(target).walk()]
    assert sorted(names) == ["entry", "exp", "module", "return"]


def test_planted_failure_of_a_command(tmp_path: Path) -> None:
    """A program that has an operation that an old version lacks."""
    source, target = tmp_path / "program.mlir", tmp_path / "small.mlir"
    source.write_text(CHAIN)
    command = f"{TILEWRIGHT} verify --tile-version 13.1 {{}} 2>&1 | grep -q atan2"
    assert main(["reduce", str(source), "--test", command, "-o", str(target)]) == 0
    assert "atan2" in target.read_text()
    assert operations(target) <= 5
    tilewright.read(target)


def test_planted_failure_of_ptxas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text(PTXAS.format(ptxas=find_ptxas()))
    fake.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(fake))
    monkeypatch.setenv(crash_kits.VARIABLE, str(tmp_path / "kits"))
    with pytest.raises(tilewright.Error, match="planted failure"):
        tilewright.compile(DOT)
    (kit,) = (tmp_path / "kits").iterdir()
    target = tmp_path / "small.mlir"
    assert main(["reduce", str(kit), "-o", str(target)]) == 0
    assert operations(kit / "module.mlir") > 300
    assert operations(target) <= 20
    assert "nvvm.mma.sync" in target.read_text()
    with pytest.raises(tilewright.Error, match="planted failure"):
        tilewright.compile(target)
    monkeypatch.delenv("TILEWRIGHT_PTXAS")
    assert main(["reduce", str(kit), "-o", str(target)]) == 1


def test_crash_kit_of_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other failures of the same pass are not taken for that of the kit."""

    def run(self: object, op: Operation, sink: Sink) -> None:
        names = {inner.name for inner in op.walk()}
        if "nv_tileaa.dot" not in names:
            raise ValueError("another failure")
        if "scf.for" in names:
            raise KeyError("planted")

    monkeypatch.setattr(MergeLoads, "run", run)
    monkeypatch.setenv(crash_kits.VARIABLE, str(tmp_path / "kits"))
    with pytest.raises(tilewright.InternalError, match="planted"):
        tilewright.compile(KERNELS / "attention.mlir", emit="ptx")
    (kit,) = (tmp_path / "kits").iterdir()
    target = tmp_path / "small.mlir"
    assert main(["reduce", str(kit), "-o", str(target)]) == 0
    assert operations(target) <= 8
    names = {op.name for op in read_level(target.read_bytes(), "small").walk()}
    assert {"nv_tileaa.dot", "scf.for"} <= names
    # The kit itself stays as it is.
    assert operations(kit / "module.mlir") > 50
    monkeypatch.undo()
    capsys.readouterr()
    assert main(["reduce", str(kit), "-o", str(target)]) == 1
    assert "the step of the crash kit does not fail as it did" in capsys.readouterr().err


def test_arguments_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "small.mlir"
    common = ["reduce", str(GEMM), "--test", "grep -q mmaf", "-o", str(target)]
    assert main(common) == 0
    assert "@gemm()" in target.read_text()
    assert main([*common, "--keep-arguments"]) == 0
    (before,), (after,) = (tilewright.read(path).entries() for path in (GEMM, target))
    assert after.function_type is before.function_type
    assert operations(target) <= 8


def test_locations_are_kept_where_they_matter(tmp_path: Path) -> None:
    source, target = tmp_path / "program.mlir", tmp_path / "small.mlir"
    source.write_text(
        'entry @k() {\n  %0 = iota : tile<4xi32> loc("special.py":3:4)\n'
        '  %1 = iota : tile<8xi32> loc("other.py":5:6)\n  return\n}\n'
    )
    command = ["reduce", str(source), "-o", str(target), "--test"]
    assert main([*command, "grep -q special.py"]) == 0
    assert 'loc("special.py":3:4)' in target.read_text()
    assert "other.py" not in target.read_text()
    assert main([*command, "grep -q iota"]) == 0
    assert "loc(" not in target.read_text()


def test_nothing_to_reduce(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(GEMM), "--test", "exit 7;"]) == 1
    assert "nothing to reduce: the command exits with 7" in capsys.readouterr().err
    assert main(["reduce", str(GEMM), "--test", "sleep 60;", "--timeout", "0.2"]) == 1
    assert "the command exits with 124" in capsys.readouterr().err


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(GEMM)]) == 2
    assert "expected --test CMD, or a crash kit" in capsys.readouterr().err
    (tmp_path / "wrong.mlir").write_text("entry @k() { return %x }")
    assert main(["reduce", str(tmp_path / "wrong.mlir"), "--test", "true"]) == 1
    assert "nothing to reduce" not in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupt_keeps_the_best(tmp_path: Path) -> None:
    target, count = tmp_path / "small.mlir", tmp_path / "count"
    script = tmp_path / "test.sh"
    script.write_text(
        "#!/bin/sh\n"
        f"echo x >> {count}\n"
        f"if [ $(wc -l < {count}) -eq 20 ]; then kill -INT $1; sleep 60; fi\n"
        "grep -q mmaf $2\n"
    )
    # The shell that runs the test is a child of the reducer.
    command = f"sh {script} $PPID {{}}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", "reduce", str(GEMM), "--test", command,
         "-o", str(target)],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"20 tests" in err
    assert "mmaf" in target.read_text()
    assert 5 <= operations(target) < 26
    tilewright.read(target)
