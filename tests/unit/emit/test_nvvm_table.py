"""Every row of the NVVM table goes through LLVM and ptxas for every GPU that claims it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nvvm_cases as cases
import pytest
from repeats import keep

from tilewright.dialects.nvvm import NVVM
from tilewright.driver.registry import context
from tilewright.emit.cubin import assemble
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.llvm.nvvm import ROWS
from tilewright.emit.ptx import compile_ptx
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES, Arch
from tilewright.text.parser import parse_text

EVERY = [pytest.param(arch, id=name) for name, arch in ARCHES.items()]


@cache
def program(index: int) -> Operation:
    text = f"module {{\n{cases.CASES[index].function(f'k{index}')}}}\n"
    read = parse_text(text, context())
    verify(read)
    return read


def claims(index: int, arch: Arch) -> bool:
    """Whether we say that a GPU has what a case needs."""
    try:
        emit_llvm(program(index), arch)
    except Unsupported:
        return False
    return True


def test_every_operation_has_a_row_and_a_case() -> None:
    kinds = set(NVVM.ops.values())
    assert kinds == set(ROWS)
    tried = {type(op) for index in range(len(cases.CASES)) for op in program(index).walk()}
    assert kinds - tried == set()


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.sampled(4)
def test_claims_are_those_of_the_isa(arch: Arch) -> None:
    for index, case in enumerate(cases.CASES):
        expected = cases.HAVING[case.since](arch.number)
        assert claims(index, arch) == expected, case.body


@pytest.mark.parametrize("arch", keep(EVERY, lambda arch: arch.id in ("sm_80", "sm_100")))
@pytest.mark.sampled(1)
def test_llvm_and_ptxas_take_all_that_is_claimed(arch: Arch, ptxas: Path) -> None:
    indices = [i for i, case in enumerate(cases.CASES) if cases.HAVING[case.since](arch.number)]
    text = "".join([cases.CASES[index].function(f"k{index}") for index in indices])
    module = emit_llvm(parse_text(f"module {{\n{text}}}\n", context()), arch)
    assert not module.unproven
    # In another process, since a row that LLVM cannot select would end this one.
    ptx = compile_ptx(module, opt_level=1)
    kernels = {part.partition("(")[0]: part for part in ptx.split(".entry ")[1:]}
    for index in indices:
        case = cases.CASES[index]
        assert case.ptx in kernels[f"k{index}"], case.body
    assert set(assemble(ptx, arch, opt_level=1).entries) == set(kernels)


def test_what_a_gpu_lacks_is_named() -> None:
    text = "llvm.func @k() {\n  nvvm.wgmma.fence.aligned\n  llvm.return\n}"
    with pytest.raises(Unsupported) as caught:
        emit_llvm(parse_text(text, context(), "k.mlir"), ARCHES["sm_100"])
    assert caught.value.feature == (
        "'nvvm.wgmma.fence.aligned' on sm_100: needs wgmma, the mma of a warpgroup"
    )
    assert str(caught.value.location) == "k.mlir:2:3"


def test_asynchronous_copies_do_not_wait_for_a_generic_address() -> None:
    """Shared memory of this CTA has one number in the cluster: no conversion between the two."""
    (index,) = [
        i
        for i, case in enumerate(cases.CASES)
        if "shared.cluster.global %s, %p, %s, box[%i, %i] multicast_mask = %h :" in case.body
    ]
    ptx = compile_ptx(emit_llvm(program(index), ARCHES["sm_90"]))
    assert "cvta" not in ptx
    assert re.search(r"cp\.async\.bulk\.tensor\.2d\.shared::cluster", ptx)


@pytest.mark.requirement("R3-095")
def test_eight_reductions_of_each_rank() -> None:
    """The kind chooses the intrinsic; the operands are those of a store."""
    kinds = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
    for rank in range(1, 6):
        box = ", ".join(["%i"] * rank)
        tail = "l2_cache_hint = %l {}: !llvm.ptr, !llvm.ptr<3>\nllvm.return\n}}"
        head = "llvm.func @k(%p: !llvm.ptr, %s: !llvm.ptr<3>, %i: i32, %l: i64) {\n"
        line = f"nvvm.cp.async.bulk.tensor.%s %p, %s, box[{box}] {tail}"
        store = head + line.replace("%s", "global.shared.cta", 1).format("")
        texts = {"s2g.": store}
        for kind in kinds:
            attribute = f"{{redKind = #nvvm.tma_redux_kind<{kind}>}} "
            texts[f"reduce.{kind}."] = head + line.replace("%s", "reduce", 1).format(attribute)
        arguments: set[str] = set()
        for name, text in texts.items():
            module = emit_llvm(parse_text(text, context()), ARCHES["sm_90"])
            intrinsic = f"@llvm.nvvm.cp.async.bulk.tensor.{name}tile.{rank}d("
            assert intrinsic in module.text
            arguments.add(module.text.partition(intrinsic)[2].partition("\n")[0])
        assert len(arguments) == 1
