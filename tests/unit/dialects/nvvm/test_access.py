"""Global loads and stores: diagnostics of the verifier, and PTX."""

from __future__ import annotations

import pytest
from dialect_text import errors, read
from each_case import each_case

from tilewright.driver.compile import compile

KERNEL = """llvm.func @k(%p: !llvm.ptr<1>, %c: i1, %h: i16, %w: i32, %l: i64, %v: vector<2xi64>)
    attributes {{nvvm.kernel}} {{
  {}
  llvm.return
}}"""


def ptx(line: str) -> str:
    return compile(read(KERNEL.format(line)), arch="sm_90").ptx


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nvvm.st.global %p, %w {bytes = 4 : i32} : !llvm.ptr<1>, i32", "st.global.b32"),
        ("nvvm.st.global %p, %h {bytes = 1 : i32} : !llvm.ptr<1>, i16", "st.global.b8"),
        ("nvvm.st.global %p, %v {bytes = 16 : i32} : !llvm.ptr<1>, vector<2xi64>", ".v2.b64"),
        (
            "nvvm.st.global %p, %l, %c {bytes = 8 : i32, offset = 24 : i64, "
            "order = #nvvm.access_order<release>, scope = #nvvm.mem_scope<gpu>} "
            ": !llvm.ptr<1>, i64",
            "st.release.gpu.global.b64",
        ),
        (
            "nvvm.st.global %p, %l {bytes = 8 : i32, cache = #nvvm.cache_hint<cs>} "
            ": !llvm.ptr<1>, i64",
            "st.global.cs.b64",
        ),
        (
            "%x = nvvm.ld.global %p, %c, %l {bytes = 8 : i32} : !llvm.ptr<1> -> i64\n"
            "nvvm.st.global %p, %x {bytes = 8 : i32} : !llvm.ptr<1>, i64",
            "ld.global.b64",
        ),
        (
            "%x = nvvm.ld.global %p, %c, %v {bytes = 16 : i32, "
            "eviction = #nvvm.cache_eviction_priority<evict_first>} "
            ": !llvm.ptr<1> -> vector<2xi64>\n"
            "nvvm.st.global %p, %x {bytes = 16 : i32} : !llvm.ptr<1>, vector<2xi64>",
            "ld.global.L1::evict_first.v2.b64",
        ),
    ],
)
def test_accesses_have_all_modifiers(line: str, expected: str) -> None:
    """ptxas accepts each of them."""
    assert expected in ptx(line)


@each_case(
    ("line", "message"),
    [
        (
            "nvvm.st.global %p, %w {bytes = 8 : i32} : !llvm.ptr<1>, i32",
            "expected 4 bytes in 'i32'",
        ),
        (
            "nvvm.st.global %p, %w {bytes = 4 : i32, order = #nvvm.access_order<acquire>, "
            "scope = #nvvm.mem_scope<gpu>} : !llvm.ptr<1>, i32",
            "expected one of the orders weak, relaxed, release, volatile, got acquire",
        ),
        (
            "nvvm.st.global %p, %w {bytes = 4 : i32, order = #nvvm.access_order<relaxed>} "
            ": !llvm.ptr<1>, i32",
            "expected a scope if and only if the order has one",
        ),
        (
            "nvvm.st.global %p, %w {bytes = 4 : i32, cache = #nvvm.cache_hint<lu>} "
            ": !llvm.ptr<1>, i32",
            "expected one of the cache hints cg, cs, wb, wt, got lu",
        ),
    ],
)
def test_wrong_accesses(line: str, message: str) -> None:
    assert any(message in error for error in errors(KERNEL.format(line)))
