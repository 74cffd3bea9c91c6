"""`tilewright opt`: printing, statistics, bisection, split files and expected diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run

from tilewright.driver.compile import Compilation
from tilewright.driver.pipelines import DEPRECATED_PASSES, LOWERING_PIPELINE, PASSES
from tilewright.ir.pipeline_text import load_pass
from tilewright.transforms.kernel_pass import KernelPass

GEMM = Path(__file__).parents[2] / "examples" / "gemm.mlir"

# Two equal additions, of which a result is stored: canonicalize leaves both, cse merges them.
EQUAL = """\
cuda_tile.module @kernels {
  entry @twice(%p: tile<ptr<i32>>, %a: tile<i32>, %b: tile<i32>) {
    %x = addi %a, %b : tile<i32>
    %y = addi %a, %b : tile<i32>
    %z = muli %x, %y : tile<i32>
    %t = store_ptr_tko weak %p, %z : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""

# The loop computes a sum of its arguments in each iteration, which licm hoists.
LOOP = """\
cuda_tile.module @kernels {
  entry @loop(%p: tile<ptr<i32>>, %a: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %x = muli %a, %n : tile<i32>
      %y = addi %s, %x : tile<i32>
      continue %y : tile<i32>
    }
    %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@pytest.fixture
def equal(folder: Path) -> str:
    (folder / "equal.mlir").write_text(EQUAL)
    return "equal.mlir"


def banners(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith("// -----//")]
    return [line.split("//")[2].rpartition(" (")[0].strip() for line in lines]


def test_print_before_and_after_the_passes_that_are_named(run: Run, equal: str) -> None:
    passes = "--pass=canonicalize,cse,dce"
    result = run("opt", equal, passes, "--print-before=cse", "--print-after", "cse,dce")
    assert result.code == 0
    assert banners(result.err) == ["before cse", "after cse", "after dce"]
    before, after = result.err.split("// -----//")[1:3]
    assert (before.count("addi"), after.count("addi")) == (2, 1)


def test_print_before_every_pass(run: Run, equal: str) -> None:
    result = run("opt", equal, "--pass=canonicalize,cse", "--print-before-all")
    assert banners(result.err) == ["before canonicalize", "before cse"]


def test_a_pass_with_two_names_prints_under_both(run: Run, equal: str) -> None:
    passes = "--pass=loop-invariant-code-motion"
    for name in ("licm", "loop-invariant-code-motion"):
        assert banners(run("opt", equal, passes, f"--print-after={name}").err) == ["after licm"]


@pytest.mark.parametrize("option", ["--print-before", "--print-after"])
def test_printing_around_an_unknown_pass_is_an_error(run: Run, equal: str, option: str) -> None:
    code, out, err = run("opt", equal, option, "cse,csee")
    assert (code, out) == (2, "")
    assert f"option '{option}': expected passes that `tilewright opt --help` lists" in err
    assert "found 'csee'" in err


def test_print_changed_prints_only_after_passes_that_change_something(run: Run, equal: str) -> None:
    result = run("opt", equal, "--pass=licm,cse,dce", "--print-changed")
    assert banners(result.err) == ["after cse"]
    assert result.err.count("entry @twice") == 1


def test_print_changed_as_a_diff(run: Run, equal: str) -> None:
    result = run("opt", equal, "--pass=licm,cse", "--print-changed=diff")
    lines = result.err.splitlines()
    assert lines[1:3] == ["--- before cse", "+++ after cse"]
    removed = [line for line in lines[3:] if line.startswith("-")]
    added = [line for line in lines[3:] if line.startswith("+")]
    assert len(removed) == len(added) + 1
    assert (str(removed).count("addi"), str(added).count("addi")) == (1, 0)


def test_print_changed_refuses_another_form(run: Run, equal: str) -> None:
    code, _, err = run("opt", equal, "--print-changed=html")
    assert code == 2
    assert "option '--print-changed': expected one of ir, diff, found 'html'" in err


def test_statistics(run: Run, folder: Path) -> None:
    (folder / "loop.mlir").write_text(LOOP)
    result = run("opt", "loop.mlir", "--pass=licm,cse,dce", "--statistics")
    lines = [line.split() for line in result.err.splitlines()]
    # The module, the entry, two constants, the loop with three, the store and the return.
    assert ["10", "10", "+0", "licm"] in lines
    counted = {" ".join(line[1:3]): int(line[0]) for line in lines if line and ":" in line[1]}
    assert counted == {"licm: hoisted,": 1, "cse: merged,": 0, "dce: erased,": 0}


def test_statistics_count_what_passes_erase(run: Run, equal: str) -> None:
    result = run("opt", equal, "--pass=cse,dce", "--statistics")
    lines = [line.split() for line in result.err.splitlines()]
    # The module, the entry, three of arithmetic, the store and the return.
    assert ["7", "6", "-1", "cse"] in lines
    assert ["6", "6", "+0", "dce"] in lines
    assert any(line[:3] == ["1", "cse:", "merged,"] for line in lines)


def test_the_pipeline_is_printed_as_opt_reads_it(run: Run, equal: str) -> None:
    given = "canonicalize{max-rewrites=7},cuda_tile.entry(cse,dce)"
    result = run("opt", equal, f"--pass={given}", "--dump-pass-pipeline")
    assert result.err.split() == ["canonicalize{max-rewrites=7},", "cuda_tile.entry(cse,dce)"]


@pytest.mark.parametrize("options", [["-O3"], ["-O0"], ["--device-debug"], ["--sanitize=memcheck"]])
def test_the_pipeline_of_a_compilation_does_the_same_in_opt(
    run: Run, equal: str, options: list[str]
) -> None:
    result = run("compile", equal, "--emit", "nvvm", "--dump-pass-pipeline", *options)
    assert result.code == 0
    again = run("opt", equal, "--pass", result.err)
    assert (again.code, again.out) == (0, result.out)


def test_a_compilation_makes_no_text_of_its_pipeline_unasked(
    run: Run, equal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would load all passes before LLVM starts to load in its own process.
    monkeypatch.delattr(Compilation, "pipeline_to")
    assert run("compile", equal, "--emit", "nv_tileaa").code == 0


def test_bisection_skips_all_but_the_first_passes(run: Run, equal: str) -> None:
    passes = "--pass=canonicalize,cse,dce"
    for limit, equal_additions in ((0, 2), (1, 2), (2, 1), (-1, 1)):
        result = run("opt", equal, passes, f"--opt-bisect-limit={limit}")
        assert result.out.count("addi") == equal_additions
        verbs = [line.split(" pass ")[0] for line in result.err.splitlines()]
        ran = 3 if limit < 0 else limit
        assert verbs == ["BISECT: running"] * ran + ["BISECT: NOT running"] * (3 - ran)
    assert "pass (2) cse on 'cuda_tile.module'" in result.err


def test_bisection_does_not_count_passes_that_programs_need(run: Run, equal: str) -> None:
    result = run("compile", equal, "--emit", "nvvm", "--opt-bisect-limit", "0", "--verify-each")
    assert result.code == 0
    assert "llvm.func @twice" in result.out
    assert "convert-" not in result.err
    numbers = [line.partition("(")[2].partition(")")[0] for line in result.err.splitlines()]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@pytest.mark.parametrize("limit", ["many", "-2", "1.5"])
def test_a_limit_that_is_no_number_is_an_error(run: Run, equal: str, limit: str) -> None:
    code, _, err = run("opt", equal, f"--opt-bisect-limit={limit}")
    assert code == 2
    assert f"option '--opt-bisect-limit': expected a number from -1 on, found '{limit}'" in err


def test_passes_are_required_if_no_optimization_level_is_without_them() -> None:
    steps = [step for level in LOWERING_PIPELINE.values() for step in level]
    names = {step.text.partition("{")[0]: step for step in steps if "(" not in step.text}
    kinds = {name: load_pass(PASSES[name]) for name in names}
    # At -O0, plan-splits is allowed to choose nothing.
    optional = {"canonicalize", "cse", "plan-splits"}
    unoptimized = {name for name, step in names.items() if not step.since} - optional
    restricted = {name for name, kind in kinds.items() if issubclass(kind, KernelPass)}
    assert {name for name, kind in kinds.items() if kind.is_required} == unoptimized - restricted


def test_a_gemm_compiles_under_a_limit(run: Run) -> None:
    everything = run("compile", str(GEMM), "--emit", "nvvm", "--opt-bisect-limit=-1")
    most = len(everything.err.splitlines())
    texts = {everything.out}
    # Around the passes that the schedule depends on; the others only in the middle.
    for limit in (0, most // 2, *range(most - 12, most, 2)):
        result = run(
            "compile", str(GEMM), "--emit", "nvvm", "--verify-each", f"--opt-bisect-limit={limit}"
        )
        assert result.code == 0, limit
        texts.add(result.out)
    assert len(texts) > 2


def test_help_describes_a_pass(run: Run) -> None:
    code, out, err = run("opt", "--help", "loop-split")
    assert (code, err) == (0, "")
    assert out.startswith("loop-split\n  Make two loops of one")
    assert "    split-threshold=int (default: 1): " in out
    assert "    split: loops split in two" in out
    assert run("opt", "order-memory", "-h").out.startswith("synchronize\n")
    assert run("opt", "kernel.mlir", "--help").out.startswith("usage: tilewright opt")


def test_every_pass_and_option_has_a_description(run: Run) -> None:
    code, out, err = run("opt", "--help-passes")
    assert (code, err) == (0, "")
    described = {block.split()[0] for block in out.split("\n\n")}
    assert described == set(PASSES)
    assert max(map(len, out.splitlines())) <= 100
    for name in PASSES:
        kind = load_pass(PASSES[name])
        assert kind.__doc__, name
        assert all(option.doc for option in kind.options().values()), name
    assert not described & set(DEPRECATED_PASSES)


SPLIT = """\
entry @first() {
  return
}
// -----
entry @second() {
  frobnicate
}
// -----
entry @third() {
  frobnicate_too
}
"""


def test_a_file_of_several_programs(run: Run, folder: Path) -> None:
    (folder / "split.mlir").write_text(EQUAL + "// -----\n" + EQUAL.replace("twice", "again"))
    result = run("opt", "split.mlir", "--split-input-file", "--pass=cse")
    assert result.code == 0
    first, second = result.out.split("// -----\n")
    assert ("@twice" in first, "@again" in second) == (True, True)
    assert (first.count("addi"), second.count("addi")) == (1, 1)
    assert run("opt", "split.mlir").code == 1


def test_every_program_of_a_file_is_read_and_lines_are_those_of_the_file(
    run: Run, folder: Path
) -> None:
    (folder / "split.mlir").write_text(SPLIT)
    code, out, err = run("opt", "split.mlir", "--split-input-file")
    assert (code, out) == (1, "")
    locations = [line.split(": error:")[0] for line in err.splitlines() if ": error:" in line]
    assert locations == ["split.mlir:6:3", "split.mlir:10:3"]


def test_splitting_needs_text(run: Run) -> None:
    code, _, err = run("opt", "good.tileirbc", "--split-input-file")
    assert code == 2
    assert "option '--split-input-file': expected a file of text, found bytecode" in err
    assert run("opt", "good.mlir", "--split-input-file", "--emit=bytecode").code == 2


def check(run: Run, folder: Path, text: str, *options: str) -> tuple[int, list[str]]:
    (folder / "expected.mlir").write_text(text)
    result = run("opt", "expected.mlir", "--verify-diagnostics", *options)
    return result.code, [line for line in result.err.splitlines() if "error: " in line]


WRONG = """\
entry @wrong(%a: tile<f32>, %b: tile<f16>) {{
  {}
  %c = addf %a, %b : tile<f32>
  return
}}
"""
MESSAGE = "value '%b' has type !cuda_tile.tile<f16>, but is used as !cuda_tile.tile<f32>"


@pytest.mark.parametrize(
    "comment",
    [
        "// expected-error@+1 {{value '%b' has type}}",
        "// expected-error@below {{is used as !cuda_tile.tile<f32>}}",
        "// expected-error-re @+1 {{value '%{{[a-z]}}' has type}}",
    ],
)
def test_expected_diagnostics(run: Run, folder: Path, comment: str) -> None:
    text = WRONG.format(comment)
    assert check(run, folder, "// expected-note@+1 {{defined here}}\n" + text) == (0, [])
    # The note alone is unexpected.
    assert check(run, folder, text) == (
        1, ["expected.mlir:1:29: error: unexpected note: defined here"],
    )  # fmt: skip


def test_diagnostics_above_and_on_the_same_line(run: Run, folder: Path) -> None:
    text = """\
entry @wrong(%a: tile<f32>, %b: tile<f16>) { // expected-note {{defined here}}
  %c = addf %a, %b : tile<f32>
  // expected-error@above {{value '%b' has type}}
  return
}
"""
    assert check(run, folder, text) == (0, [])
    assert check(run, folder, text.replace("@above", "@-1")) == (0, [])


@pytest.mark.parametrize(
    ("comment", "problems"),
    [
        ("", [f"expected.mlir:3:17: error: unexpected error: {MESSAGE}"]),
        (
            "// expected-error@+2 {{value '%b' has type}}",
            [
                f"expected.mlir:3:17: error: unexpected error: {MESSAGE}",
                "expected.mlir:2:6: error: expected error \"value '%b' has type\" was not produced",
            ],
        ),
        (
            "// expected-warning@+1 {{value}}",
            [
                f"expected.mlir:3:17: error: unexpected error: {MESSAGE}",
                'expected.mlir:2:6: error: expected warning "value" was not produced',
            ],
        ),
        (
            "// expected-error@+1 {{something else}}",
            [
                f"expected.mlir:3:17: error: unexpected error: {MESSAGE}",
                'expected.mlir:2:6: error: expected error "something else" was not produced',
            ],
        ),
    ],
)
def test_unmet_and_unexpected_diagnostics(
    run: Run, folder: Path, comment: str, problems: list[str]
) -> None:
    text = WRONG.format(comment).replace("{\n", "{ // expected-note {{defined here}}\n", 1)
    assert check(run, folder, text) == (1, problems)


def test_expected_diagnostics_of_each_program(run: Run, folder: Path) -> None:
    text = SPLIT.replace("  frobnicate\n", "  // expected-error@+1 {{frobn}}\n  frobnicate\n")
    text = text.replace("_too", "_too // expected-error {{_too}}")
    assert check(run, folder, text, "--split-input-file") == (0, [])
    code, problems = check(run, folder, text.replace("{{_too}}", "{{other}}"), "--split-input-file")
    assert code == 1
    assert len(problems) == 2


def test_warnings_of_passes_are_diagnostics(run: Run, folder: Path) -> None:
    """Canonicalization that gives up after one rewrite is a warning."""
    text = EQUAL.replace("%a, %b", "%a, %zero").replace(
        "    %x", "    %zero = constant <i32: 0> : tile<i32>\n    %x", 1
    )
    passes = "--pass=canonicalize{max-rewrites=1}"
    code, problems = check(run, folder, text, passes)
    assert code == 1
    assert "unexpected warning: no end after 1 rewrites" in problems[0]
    line = int(problems[0].split(":")[1])
    lines = text.splitlines()
    lines[line - 1] += " // expected-warning {{no end after 1 rewrites}}"
    assert check(run, folder, "\n".join(lines), passes) == (0, [])


def test_optimization_remarks_may_be_expected(run: Run, folder: Path) -> None:
    text = GEMM.read_text()
    pipeline = run("compile", str(GEMM), "--emit", "nv_tileas", "--dump-pass-pipeline").err
    passes = f"--pass={pipeline}"
    assert check(run, folder, text, passes) == (0, [])
    [line] = [line for line in text.splitlines() if "mmaf" in line]
    for words, problems in (("Matmul on tensor cores", 0), ("Matmul on CUDA cores", 1)):
        remarked = text.replace(line, f"{line} // expected-remark {{{{{words}}}}}")
        assert len(check(run, folder, remarked, passes)[1]) == problems


def test_a_program_without_problems_is_printed(run: Run, folder: Path) -> None:
    (folder / "expected.mlir").write_text(EQUAL)
    result = run("opt", "expected.mlir", "--verify-diagnostics", "--pass=cse")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("addi") == 1
