"""`--emit nv_tileaa` prints the plan of a kernel; an edited plan is kept and changes the kernel."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from repeats import keep_first
from split_gemm import TRIPS, K, split_gemm, splits_in

import tilewright
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, Program, target
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import Unsupported, UserError

PLANNED = "nv_tileaa.planned"
SPLIT = "#nv_tileaa.split<[<2, 2, k_loop>]>"
EXAMPLES = Path(__file__).parents[3] / "examples"


@cache
def plan(text: str, *, opt_level: int = 3) -> str:
    """The program that `--emit nv_tileaa` prints."""
    return tilewright.compile(text, "sm_90", opt_level, emit="ptx").stages["nv_tileaa"]


def ptx(text: str, schedule: str = "") -> str:
    """The PTX of a program."""
    return tilewright.compile(text, "sm_90", emit="ptx", schedule=schedule).ptx


def threads(text: str) -> int:
    """The threads of a block, as the PTX declares them."""
    (count,) = re.findall(r"\.(?:req|max)ntid (\d+)", ptx(text))
    return int(count)


def dots_of_k(text: str) -> list[str]:
    """The types of A of the dots that a program is lowered to."""
    stages = tilewright.compile(text, "sm_90", emit="ptx").stages
    return re.findall(r"nv_tileas\.dot .*?: (tensor<\d+x\d+)xf16", stages["nv_tileas"])


def check_on_the_emulator(text: str) -> None:
    """Run the GEMM of `split_gemm` on the PTX emulator, and compare with NumPy."""
    random = np.random.default_rng(9)
    a = random.integers(-2, 3, (64, K * TRIPS)).astype(np.float16)
    b = random.integers(-2, 3, (K * TRIPS, 128)).astype(np.float16)
    c = np.zeros((64, 128), np.float32)
    tilewright.execute(text, "k", 1, [a, b, c, TRIPS], on="emulator", check=True)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize(
    ("name", "opt_level"), keep_first([("gemm", 0), ("softmax", 3), ("attention", 3)], 2)
)
def test_a_printed_plan_gives_the_same_kernel(name: str, opt_level: int) -> None:
    program = (EXAMPLES / f"{name}.mlir").read_text()
    planned = plan(program, opt_level=opt_level)
    assert PLANNED in planned
    first, second = (
        tilewright.compile(text, "sm_90", opt_level, emit="ptx").ptx for text in (program, planned)
    )
    assert first == second


def test_a_printed_plan_is_not_planned_anew() -> None:
    """Without the mark, another number of warps would be chosen for what is left of the tile."""
    text = plan(split_gemm()).replace("num_warps = 4", "num_warps = 8")
    assert plan(text) == text


def test_other_warps_change_the_kernel() -> None:
    planned = plan(split_gemm())
    edited = planned.replace("num_warps = 4", "num_warps = 8")
    assert threads(edited) == 2 * threads(planned)
    check_on_the_emulator(edited)


def test_another_split_changes_the_kernel() -> None:
    planned = plan(split_gemm())
    assert splits_in(planned) == []
    edited = re.sub(r"(nv_tileaa\.dot .*?) :", rf"\1 {{nv_tileaa.split = {SPLIT}}} :", planned)
    assert splits_in(edited) == ["<2, 2, k_loop>"]
    assert {*dots_of_k(planned)} == {f"tensor<64x{K}"}
    assert {*dots_of_k(edited)} == {f"tensor<64x{K // 2}"}
    check_on_the_emulator(edited)


def test_requests_for_what_is_planned_are_refused() -> None:
    planned = plan(split_gemm())
    compilation = Compilation(
        Program(planned).module, Settings(target("sm_90"), schedule="k-parts=2 warps=8 stages=2")
    )
    text = compilation.to("nv_tileaa")
    assert isinstance(text, str)
    reasons = re.findall(r'<(\w+), "(\w+ of schedule: the program has a plan)">', text)
    assert dict(reasons) == {
        "k_parts": "2 of schedule: the program has a plan",
        "warps": "8 of schedule: the program has a plan",
    }
    assert "stages = <2, schedule>" in text


def test_requests_for_what_is_chosen_later_are_followed() -> None:
    planned = plan(split_gemm())
    assert ptx(planned, "stages=2") == ptx(split_gemm(), "stages=2") != ptx(planned)


def test_a_lower_level_refuses_what_is_chosen_later() -> None:
    """The warps of the plan stay, and so does the level that a plan was made at."""
    text = plan(split_gemm(asked="stages = <2, schedule>"))
    low = plan(text, opt_level=1)
    assert 'refused<[<stages, "2 of schedule: schedules are followed from -O2 on">]>' in low
    assert "num_warps = 4" in low
    assert "level = <1, options>" in plan(low, opt_level=3)
    assert ptx(low) == ptx(plan(split_gemm(), opt_level=1))


def test_a_kernel_without_a_plan_beside_one_with_is_an_error() -> None:
    planned = plan(split_gemm())
    function = planned[planned.index("    nv_tileaa.func") : planned.rindex("  }")]
    other = function.replace("@k(", "@other(").replace(f", {PLANNED}", "")
    with pytest.raises(UserError, match="expected a plan of all kernels or of none"):
        plan(planned.replace(function, function + other))


def test_checks_of_accesses_belong_before_the_plan() -> None:
    settings = Settings(target("sm_90"), sanitize=True)
    compilation = Compilation(Program(plan(split_gemm())).module, settings, Observers())
    with pytest.raises(Unsupported, match="checks of accesses in a program with a plan"):
        compilation.to("nvvm")


def test_a_plan_has_warps() -> None:
    planned = plan(split_gemm()).replace("num_warps = 4", "")
    with pytest.raises(UserError, match="expected a 'kernel_spec' with the warps of a plan"):
        ptx(planned)


def test_a_plan_is_for_one_gpu() -> None:
    compilation = Compilation(Program(plan(split_gemm())).module, Settings(target("sm_100")))
    with pytest.raises(UserError, match="expected a plan for sm_100, got one for another GPU"):
        compilation.to("ptx")
