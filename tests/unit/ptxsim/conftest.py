"""Fixtures that build a kernel around a body of PTX and launch it on the emulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tilewright.ptxsim import Counters, Module

_HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
_REGISTERS = """
    .reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<60>; .reg .b64 %rd<60>;
    .reg .f32 %f<30>; .reg .f64 %fd<20>; .reg .b128 %rq<8>;
"""


def kernel(body: str, params: str, declarations: str = "", directives: str = "") -> str:
    """Build a module with one kernel `k`; `params` is a list of types such as `u64 u32`."""
    listed = ", ".join(f".param .{type} p{at}" for at, type in enumerate(params.split()))
    head = f"{_HEADER}{declarations}\n.visible .entry k({listed}) {directives}"
    return f"{head}\n{{{_REGISTERS}{body}\n}}\n"


Runner = Callable[..., Counters]


@pytest.fixture
def run() -> Runner:
    """Run the body of a kernel; parameters are `p0`, `p1` and so on."""

    def launch(
        body: str,
        args: Sequence[Any],
        params: str,
        *,
        grid: Any = 1,
        block: Any = 32,
        declarations: str = "",
        directives: str = "",
        **options: Any,
    ) -> Counters:
        module = Module(kernel(body, params, declarations, directives), "k.ptx")
        return module.launch("k", grid, block, args, **options)

    return launch
