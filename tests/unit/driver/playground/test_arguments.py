"""Arguments that the playground proposes, the tables of results, and errors in logs."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright.driver.array_text import parse_argument
from tilewright.driver.playground.arguments import (
    array_table,
    default_text,
    directions,
    form_of,
    launched_form,
    parse_arguments,
)
from tilewright.driver.playground.languages import open_program, suffix_of
from tilewright.driver.playground.log_errors import log_errors
from tilewright.driver.signatures import signature_of

KERNEL = """\
entry @k(%x: tile<ptr<f16>>, %out: tile<ptr<f32>>, %n: tile<i32>, %s: tile<f32>, %b: tile<i1>) {
  %m = assume div_by<128>, %n : tile<i32>
  %0 = constant <f32: 1.0> : tile<f32>
  %t = store_ptr_tko weak %out, %0 : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""


def test_arguments_of_a_signature() -> None:
    parameters = signature_of(tilewright.read(KERNEL), None).parameters
    texts = [default_text(each, index) for index, each in enumerate(parameters)]
    # 128 is the least multiple of 128 from 64 on.
    assert texts == ["small:64x64xf16:0", "zeros:64x64xf32", "128", "1.0", "1"]
    out = parse_argument(texts[1])
    tilewright.execute(KERNEL, "k", 1, [parse_argument(texts[0]), out, 128, 1.0, 1])
    assert out[0, 0] == 1


def test_bounds_of_a_number_are_kept() -> None:
    text = KERNEL.replace("div_by<128>", "bounded<0, 5>")
    parameter = signature_of(tilewright.read(text), None).parameters[2]
    assert default_text(parameter, 0) == "5"


def test_comments_say_how_a_kernel_is_run() -> None:
    source = KERNEL + (
        "// RUN @other grid=3\n// RUN @k grid=2x4\n"
        "// ARG x = ones:8xf16\n// ARG out = zeros:8xf32\n// ARG n = 128\n"
        "// ARG s = 2.5\n// ARG b = 1\n// EXPECT out = x\n"
    )
    runs = directions(source)
    assert [(run.kernel, run.grid) for run in runs] == [("other", "3"), ("k", "2x4")]
    signature = signature_of(tilewright.read(KERNEL), None)
    form = form_of(signature, source)
    assert form["grid"] == "2x4"
    labels = [(each["label"], each["text"]) for each in form["arguments"]]
    assert labels[0] == ("x", "ones:8xf16")
    assert labels[3] == ("s", "2.5")
    # One argument fewer than the kernel has: the comments are those of an earlier edit.
    stale = form_of(
        signature_of(tilewright.read(KERNEL), None), source.replace("// ARG b = 1\n", "")
    )
    assert stale["grid"] == "1"
    assert stale["arguments"][0]["text"] == "small:64x64xf16:0"


def test_launched_arguments_are_those_of_the_program() -> None:
    array = np.zeros(4)
    values = parse_arguments(["launched", "ones:2xf32", "3"], [array, 7, 8])
    assert values[0] is array
    assert values[1].tolist() == [1, 1]
    assert values[2] == 3


def test_the_form_of_a_launch() -> None:
    signature = signature_of(tilewright.read(KERNEL), None)
    # The second array was not recorded.
    values = [np.zeros(4, np.float16), None, 128, 0.5, True]
    form = launched_form("k", signature, [2, 1], ["x", "out", "n", "s", "b"], values)
    assert form["grid"] == "2x1"
    texts = [each["text"] for each in form["arguments"]]
    assert texts == ["launched", "", "128", "0.5", "true"]
    assert parse_arguments([texts[0], *texts[2:]], values) == [values[0], 128, 0.5, True]


def test_tables_have_the_first_elements() -> None:
    table = array_table("c", np.arange(200, dtype=np.float32).reshape(2, 10, 10) / 4, "f32")
    assert table["shape"] == "2x10x10xf32"
    assert len(table["rows"]) == 8
    assert table["rows"][1] == ["2.5", "2.75", "3", "3.25", "3.5", "3.75", "4", "4.25"]
    assert table["range"] == "0 to 49.75"
    assert not table["is_whole"]
    whole = array_table("c", np.array([[np.nan, np.inf]]), "f64")
    assert whole["rows"] == [["nan", "inf"]]
    assert whole["is_whole"]
    # A file of NumPy's has the bytes of bf16, and not its name.
    stored = np.array([1.5, -2], ml_dtypes.bfloat16).view("V2")
    assert array_table("c", stored, "bf16")["rows"] == [["1.5", "-2"]]


TRACEBACK = """\
noise
Traceback (most recent call last):
  File "program.py", line 3, in <module>
    inner()
ValueError: first

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/usr/lib/runpy.py", line 99, in run
  File "program.py", line 12, in <module>
    f()
  File "program.py", line 7, in f
    g()
  File "/other/library.py", line 70, in g
    raise Wrong("x")
library.errors.Wrong: this: is it
    detail
"""


@pytest.mark.parametrize(
    ("log", "name", "expected"),
    [
        (TRACEBACK, "program.py", [(7, "Wrong: this: is it")]),
        (TRACEBACK, "another.py", []),
        ('  File "program.py", line 2\n    x =\n       ^\nSyntaxError: invalid syntax\n',
         "program.py", [(2, "SyntaxError: invalid syntax")]),
        ("program.cu(12): error: identifier \"n\" is undefined\n\n"
         "/usr/include/x.h(3): error: other\nprogram.cu(14): error #20: expected a \";\"\n"
         "program.cu(15): warning: unused\n",
         "program.cu", [(12, 'identifier "n" is undefined'), (14, 'expected a ";"')]),
        ("", "program.py", []),
    ],
)  # fmt: skip
def test_errors_of_other_compilers(log: str, name: str, expected: list[tuple[int, str]]) -> None:
    assert [(each["line"], each["text"]) for each in log_errors(log, name)] == expected


def test_programs_that_are_opened(tmp_path: Path) -> None:
    module = tilewright.read(KERNEL)
    binary = tmp_path / "kernel.tileirbc"
    binary.write_bytes(tilewright.write_bytecode(module))
    opened = open_program(str(binary))
    assert opened.name == "kernel.mlir"
    assert "entry @k(" in opened.source
    tilewright.read(opened.source)
    odd = tmp_path / "-o my kérnel.py"
    odd.write_text("x")
    assert open_program(str(odd)).name == "o_my_k_rnel.py"
    assert [suffix_of(name) for name in ("a.py", "a.cu", "a.mlir", "a.txt")] == [
        ".py", ".cu", ".mlir", ".mlir",
    ]  # fmt: skip
