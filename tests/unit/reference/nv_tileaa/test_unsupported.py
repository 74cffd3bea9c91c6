"""Ops that run external code are rejected with an error that names them."""

from __future__ import annotations

import pytest
from each_case import each_case

import tilewright

PROGRAM = """gpu.module @kernels {{
  nv_tileaa.plugin @plug
  nv_tileaa.func @k(%x: i32) attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
    {line}
    nv_tileaa.return
  }}
}}"""

FOREIGN = {
    "execute": "%y = nv_tileaa.execute @plug(%x) : (i32) -> i32",
    "inject_ir": '%y = nv_tileaa.inject_ir "text"(%x) : (i32) -> i32',
    "elementwise_inline_asm": (
        '%y = nv_tileaa.elementwise_inline_asm "neg.s32 $0, $1;", "=r,r"(%x) : (i32) -> i32'
    ),
    "extern_elementwise": '%y = nv_tileaa.extern_elementwise "__nv_abs"(%x) : (i32) -> i32',
    "call_elementwise_intrinsic": (
        '%y = nv_tileaa.call_elementwise_intrinsic "llvm.abs"(%x) : (i32) -> i32'
    ),
}


@each_case("name", FOREIGN)
def test_external_code_is_rejected(name: str) -> None:
    with pytest.raises(tilewright.Unsupported, match=f"running 'nv_tileaa.{name}'"):
        tilewright.execute(PROGRAM.format(line=FOREIGN[name]), "k", 1, [1])


def test_annotations_are_ignored() -> None:
    tilewright.execute(PROGRAM.format(line="nv_tileaa.mark_for_reuse %x : i32"), "k", 1, [1])


def test_external_functions_are_named() -> None:
    text = PROGRAM.format(line="%y = nv_tileaa.call @far(%x) : (i32) -> i32")
    text = text.replace(
        "nv_tileaa.plugin", "nv_tileaa.func private @far(i32) -> i32\n  nv_tileaa.plugin"
    )
    with pytest.raises(tilewright.Unsupported, match="'@far', which is defined elsewhere"):
        tilewright.execute(text, "k", 1, [1])
