"""Which passes a kernel leaves alone, by what is asked of it."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.registry import context
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.transforms.kernel_pass import KernelPass

KERNELS = {
    "free": "warps = <4, entry>",
    "fits": "level = <0, options>",
    "clusters": "level = <1, options>",
    "checked": "sanitize = <1, options>",
    "both": "level = <1, options>, sanitize = <1, options>",
}
"""What is asked of the kernels of a module."""


def kernel(name: str, asked: str) -> str:
    return f"""
  nv_tileaa.func @{name}() attributes {{
    kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<{asked}>
  }} {{ nv_tileaa.return }}"""


@pytest.mark.parametrize(("allowed", "expected"), [
    (Change.DISTRIBUTE, {"free", "clusters"}),
    (Change.IMPROVE, {"free", "checked"}),
    (Change.REORDER, {"free"}),
])  # fmt: skip
def test_a_pass_leaves_kernels_alone_that_forbid_what_it_does(
    allowed: Change, expected: set[str]
) -> None:
    visited: set[str] = set()

    class Visit(KernelPass):
        change: ClassVar = allowed

        def run_on(self, function: FuncOp, sink: Sink) -> None:
            visited.add(function.sym_name)

    text = "\n".join(kernel(*each) for each in KERNELS.items())
    Visit().run(parse_text(f"gpu.module @m {{{text}\n}}", context(), "kernels.mlir"), Sink())
    assert visited == expected


@pytest.mark.parametrize(("asked", "message"), [
    ("level = <2, options>", "expected 0 to 1 for 'level', found 2"),
    ("sanitize = <0, options>", "expected 1 for 'sanitize', found 0"),
])  # fmt: skip
def test_other_restrictions_are_errors(asked: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_text(f"gpu.module @m {{{kernel('k', asked)}\n}}", context(), "kernels.mlir")
