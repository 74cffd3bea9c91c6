"""Programs that LLVM or ptxas would not take: refused before, with the reason."""

from __future__ import annotations

import pytest
from each_case import each_case

import tilewright
from tilewright.support.diagnostics import Unsupported, UserError

KERNEL = """
llvm.func @k(%p: !llvm.ptr<1>) attributes {{nvvm.kernel, {attribute}}} {{
  llvm.return
}}
"""


@each_case(
    ("attribute", "gist"),
    [
        ("nvvm.reqntid = array<i32: 96, 64, 1>", "at most 1024 threads in a block"),
        ("nvvm.reqntid = array<i32: 0, 1, 1>", "at most 1024 threads in a block"),
        ("nvvm.maxntid = array<i32: 2048>", "at most 1024 threads in a block"),
        ("nvvm.cluster_dim = array<i32: 8, 4, 1>", "at most 16 blocks in a cluster"),
    ],
)
def test_launches_that_cannot_be(attribute: str, gist: str) -> None:
    with pytest.raises(UserError, match=f"expected {gist} in 'nvvm") as caught:
        tilewright.compile(KERNEL.format(attribute=attribute))
    assert str(caught.value.location) == "<input>:2:1"


def test_clusters_where_there_are_none() -> None:
    text = KERNEL.format(attribute="nvvm.cluster_dim = array<i32: 2, 1, 1>")
    assert ".reqnctapercluster" in tilewright.compile(text).ptx
    with pytest.raises(Unsupported, match="on sm_80: needs clusters of thread blocks"):
        tilewright.compile(text, "sm_80")


@each_case("space", [2, 8, 4096])
def test_unknown_address_spaces(space: int) -> None:
    text = KERNEL.format(attribute="k").replace("!llvm.ptr<1>", f"!llvm.ptr<{space}>")
    with pytest.raises(Unsupported, match=f"pointers into the address space {space}"):
        tilewright.compile(text)


def test_types_that_llvm_does_not_have() -> None:
    line = "  %q = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, tf32\n"
    text = KERNEL.format(attribute="k").replace("  llvm.return", f"{line}  llvm.return")
    with pytest.raises(Unsupported, match="'tf32' in LLVM IR"):
        tilewright.compile(text)


def test_alignments() -> None:
    text = KERNEL.format(attribute="k").replace("ptr<1>)", "ptr<1> {llvm.align = 24 : i64})")
    with pytest.raises(UserError, match="expected an alignment that is a power of two, got 24"):
        tilewright.compile(text)


def test_operations_outside_of_functions() -> None:
    text = "gpu.module @m {\n  %c = llvm.mlir.constant(1 : i32) : i32\n}\n"
    with pytest.raises(UserError, match="expected functions and globals in a module") as caught:
        tilewright.compile(text)
    assert str(caught.value.location) == "<input>:2:8"


def test_names_of_several_modules() -> None:
    kernel = "gpu.module @{} {{\n  gpu.func @k() kernel {{\n    gpu.return\n  }}\n}}\n"
    with pytest.raises(Unsupported, match="'@k' in several modules"):
        tilewright.compile(kernel.format("a") + kernel.format("b"))


def test_a_field_that_older_maps_do_not_have() -> None:
    line = "  nvvm.tensormap.replace field = swizzle_atomicity to 1 in %p : !llvm.ptr<1>\n"
    text = KERNEL.format(attribute="k").replace("  llvm.return", f"{line}  llvm.return")
    assert "swizzle_atomicity" in tilewright.compile(text, "sm_100", emit="ptx").ptx
    with pytest.raises(Unsupported, match="on sm_90: needs 4- and 6-bit types and the atomicity"):
        tilewright.compile(text)
    with pytest.raises(UserError, match="expected a 'swizzle_atomicity' from 0 to 3, got 4"):
        tilewright.compile(text.replace("to 1 in", "to 4 in"))
