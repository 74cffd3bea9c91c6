"""Text and verifiers of the NVVM dialect, compared with MLIR's and with the notes."""

from __future__ import annotations

import nvvm_cases
import pytest
from each_case import each_case

from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvvm import NVVM
from tilewright.dialects.nvvm.matrix import LdMatrixOp
from tilewright.dialects.nvvm.registers import REGISTERS
from tilewright.dialects.nvvm.sync import FenceProxyAcquireOp
from tilewright.dialects.nvvm.wgmma import WgmmaMmaAsyncOp
from tilewright.driver.registry import context
from tilewright.ir.equivalence import equivalent
from tilewright.ir.types import F32, I64
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

PROGRAM = "".join([c.function(f"k{n}") for n, c in enumerate(nvvm_cases.CASES)])


def test_all_forms_round_trip() -> None:
    program = parse_text(PROGRAM, context())
    verify(program)
    custom = print_op(program)
    assert equivalent(program, parse_text(custom, context()))
    assert print_op(parse_text(custom, context())) == custom
    assert equivalent(program, parse_text(print_op(program, generic=True), context()))


MLIR_SYNTAX = [
    "nvvm.barrier id = %arg4 number_of_threads = %arg4",
    "%0 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32",
    "%0 = nvvm.shfl.sync bfly %arg4, %arg8, %arg4, %arg4 : f32 -> f32",
    "nvvm.cp.async.shared.global %arg2, %arg1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>",
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}",
    "nvvm.mbarrier.init.shared %arg2, %arg4, predicate = %arg7 : !llvm.ptr<3>, i32, i1",
    "nvvm.cp.async.bulk.tensor.shared.cluster.global %arg2, %arg0, %arg2, box[%arg4, %arg4] "
    "multicast_mask = %arg5 l2_cache_hint = %arg6 {cacheHintEnable, multicastEnable} "
    ": !llvm.ptr<3>, !llvm.ptr",
    "%0 = nvvm.wgmma.mma_async %arg6, %arg6, %arg9, <m = 64, n = 8, k = 16>, D[<f32>, <one>], "
    "A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] "
    ": !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>",
    "nvvm.wgmma.wait.group.sync.aligned 1",
    "nvvm.setmaxregister decrease 40",
]
SIGNATURE = (
    "%arg0: !llvm.ptr, %arg1: !llvm.ptr<1>, %arg2: !llvm.ptr<3>, %arg3: !llvm.ptr<7>, "
    "%arg4: i32, %arg5: i16, %arg6: i64, %arg7: i1, %arg8: f32, "
    "%arg9: !llvm.struct<(f32, f32, f32, f32)>"
)


@each_case("line", MLIR_SYNTAX)
def test_spellings_of_mlir(line: str) -> None:
    text = f"llvm.func @f({SIGNATURE}) {{\n  {line}\n  llvm.return\n}}\n"
    program = parse_text(text, context())
    verify(program)
    assert line in [each.strip() for each in print_op(program).splitlines()]


def test_enumerations_may_be_spelled_in_full() -> None:
    text = (
        f"llvm.func @f({SIGNATURE}) {{ nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %arg0, %arg4 "
        "llvm.return }"
    )
    assert "nvvm.fence.proxy.acquire <gpu> %arg0, %arg4" in print_op(parse_text(text, context()))


def test_alternative_spellings_are_accepted() -> None:
    assert NVVM.ops["nvvm.ldmatrix.sync"] is LdMatrixOp
    assert NVVM.ops["nvvm.fence.proxy.acquire.sync"] is FenceProxyAcquireOp


def test_registers_by_name() -> None:
    assert REGISTERS["tid.x"].name == "nvvm.read.ptx.sreg.tid.x"
    assert NVVM.ops["nvvm.read.ptx.sreg.cluster.ctaid.z"] is REGISTERS["cluster.ctaid.z"]
    assert all(kind.__doc__ for kind in NVVM.ops.values())


WRONG = {
    "nvvm.barrier number_of_threads = %arg4": "expected the id of a barrier",
    "nvvm.setmaxregister increase 20": "expected a multiple of 8 from 24 to 256, got 20",
    "nvvm.nanosleep 2000000": "expected at most a millisecond",
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}": "expected a space",
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<tensormap>}": "cannot fence 'tensormap'",
    "nvvm.cp.async.shared.global %arg2, %arg1, 8, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>": (
        "expected 16 bytes with the cache modifier 'cg', got 8"
    ),
    "nvvm.cp.async.shared.global %arg2, %arg1, 5, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>": (
        "expected a size of 4, 8 or 16 bytes, got 5"
    ),
    "%r = nvvm.createpolicy.fractional no_allocate": (
        "expected an eviction priority of L2, got 'no_allocate'"
    ),
    "nvvm.mbarrier.init.shared %arg0, %arg4 : !llvm.ptr, i32": (
        "operand #0 must be LLVM pointer in address space 3, but got '!llvm.ptr'"
    ),
    "%r = nvvm.mapa %arg2, %arg4 : !llvm.ptr<3> -> !llvm.ptr": "expected address spaces 3 and 7",
    "%r = nvvm.vote.sync ballot %arg4, %arg7 -> i1": "expected results of types ('i32')",
    "%r = nvvm.redux.sync fmax %arg4, %arg4 : i32 -> i32": "'fmax' expects a value of type 'f32'",
    "%r = nvvm.redux.sync max %arg4, %arg4 {abs = true} : i32 -> i32": "only for floats",
    "nvvm.cp.async.bulk.tensor.prefetch %arg0, box[] : !llvm.ptr": "expected 1 to 5 coordinates",
    "nvvm.cp.async.bulk.tensor.prefetch %arg0, box[%arg4, %arg4] "
    "{mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr": "expected at least 3 coordinates",
    "nvvm.cp.async.bulk.tensor.prefetch %arg0, box[%arg4, %arg4, %arg4] "
    "{mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr": "expected 1 im2col offsets",
    "nvvm.cp.async.bulk.tensor.shared.cluster.global %arg2, %arg0, %arg2, box[%arg4] "
    "{multicastEnable} : !llvm.ptr<3>, !llvm.ptr": "expected a multicast mask",
    "nvvm.cp.async.bulk.tensor.shared.cluster.global %arg2, %arg0, %arg2, box[%arg4] "
    "multicast_mask = %arg5 {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr": (
        "cannot have a multicast mask"
    ),
    "nvvm.tensormap.replace field = global_dim, new_value = %arg4 in %arg2 : !llvm.ptr<3>, i32": (
        "expected a dimension"
    ),
    "nvvm.tensormap.replace field = rank, new_value = %arg6 in %arg2 : !llvm.ptr<3>, i64": (
        "'rank' takes 32 bits, got 'i64'"
    ),
    "nvvm.tensormap.replace field = swizzle_mode, new_value = %arg4 in %arg2 : !llvm.ptr<3>, i32": (
        "expected a choice"
    ),
    "%r = nvvm.ldmatrix %arg2 {layout = #nvvm.mma_layout<row>, num = 3 : i32} "
    ": (!llvm.ptr<3>) -> i32": "expected 1 or 2 or 4 matrices, got 3",
    "%r = nvvm.ldmatrix %arg2 {layout = #nvvm.mma_layout<row>, num = 2 : i32} "
    ": (!llvm.ptr<3>) -> i32": "expected results of types ('!llvm.struct<(i32, i32)>')",
    "%r = nvvm.mma.sync A[%arg4] B[%arg4] C[%arg8] {layoutA = #nvvm.mma_layout<row>, "
    "layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} "
    ": (i32, i32, f32) -> !llvm.struct<(f32)>": "requires attribute 'multiplicandAPtxType'",
    "%r = nvvm.wgmma.mma_async %arg6, %arg6, %arg9, <m = 64, n = 12, k = 16>, D[<f32>, <one>], "
    "A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> "
    "-> !llvm.struct<(f32, f32, f32, f32)>": (
        "there is no mma of bf16 and bf16 to f32 with the shape m64n12k16"
    ),
    "%r = nvvm.wgmma.mma_async %arg6, %arg6, %arg9, <m = 64, n = 16, k = 16>, D[<f32>, <one>], "
    "A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> "
    "-> !llvm.struct<(f32, f32, f32, f32)>": "expected 8 registers of 'f32' as accumulators",
    "%r = nvvm.wgmma.mma_async %arg6, %arg6, %arg9, <m = 64, n = 8, k = 8>, D[<f32>, <one>], "
    "A[<tf32>, <one>, <col>], B[<tf32>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> "
    "-> !llvm.struct<(f32, f32, f32, f32)>": "expected the layout 'row' of A with tf32",
    "%r = nvvm.wgmma.steps A(%arg6) B(%arg6, %arg6), %arg9, <m = 64, n = 8, k = 16>, "
    "D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] "
    ": !llvm.struct<(f32, f32, f32, f32)>": "expected 2 descriptors of A, got 1",
    "%r = nvvm.addf %arg8, %arg8 {rnd = #nvvm.fp_rnd_mode<rna>} : f32": "rn, rm, rp or rz, got rna",
    "%r = nvvm.convert.float.to.tf32 %arg8": "expected the rounding rn, rz or rna, got none",
    "%r = nvvm.convert.f32x2.to.f8x2 %arg8, %arg8 : i16 (f8E4M3FN)": "and 'satfinite'",
    "%r = nvvm.convert.f32x2.to.bf16x2 %arg8, %arg8 : vector<2xbf16>": "expected random bits",
    "%r = nvvm.convert.f32x2.to.f4x2 %arg8, %arg8 : i8 (f8E4M3FN)": "expected one of the formats",
}


@each_case("line", WRONG)
def test_wrong_operations(line: str) -> None:
    text = f"llvm.func @f({SIGNATURE}) {{\n{line}\nllvm.return\n}}"
    with pytest.raises(UserError) as caught:
        verify(parse_text(text, context()))
    assert WRONG[line] in str(caught.value)


BARRIERS = {
    "nvvm.mbarrier.init.shared %arg0, %arg4 : !llvm.ptr, i32",
    "nvvm.mbarrier.inval.shared %arg0 : !llvm.ptr",
    "%r = nvvm.mbarrier.arrive.shared %arg0 : !llvm.ptr -> i64",
    "%r = nvvm.mbarrier.arrive.nocomplete.shared %arg0, %arg4 : !llvm.ptr, i32 -> i64",
    "nvvm.mbarrier.arrive.expect_tx.shared %arg0, %arg4 : !llvm.ptr, i32",
    "%r = nvvm.mbarrier.test.wait.shared %arg0, %arg6 : !llvm.ptr, i64 -> i1",
    "%r = nvvm.mbarrier.try_wait.parity.shared %arg0, %arg7, %arg4 : !llvm.ptr, i1, i32 -> i1",
}


@pytest.mark.requirement("R3-072", "R3-076")
@each_case("line", sorted(BARRIERS))
def test_address_spaces_of_barriers(line: str) -> None:
    """The `.shared` forms take a shared pointer, the others a generic one."""
    names = {name for name in NVVM.ops if name.startswith("nvvm.mbarrier.")}
    shared = {name for name in names if name.endswith(".shared")}
    assert shared == {f"nvvm.{each.partition('nvvm.')[2].split()[0]}" for each in BARRIERS}
    here = line.replace("%arg0", "%arg2").replace("!llvm.ptr", "!llvm.ptr<3>")
    verify(parse_text(f"llvm.func @f({SIGNATURE}) {{\n{here}\nllvm.return\n}}", context()))
    anywhere = line.replace(".shared ", " ")
    verify(parse_text(f"llvm.func @f({SIGNATURE}) {{\n{anywhere}\nllvm.return\n}}", context()))
    for wrong, pointer, type in ((line, "%arg0", "!llvm.ptr"), (anywhere, "%arg2", "!llvm.ptr<3>")):
        text = wrong.replace("%arg0", pointer).replace("!llvm.ptr", type)
        with pytest.raises(UserError, match="operand #0 must be LLVM pointer in address space"):
            verify(parse_text(f"llvm.func @f({SIGNATURE}) {{\n{text}\nllvm.return\n}}", context()))


@pytest.mark.requirement("R3-098")
def test_accumulators_are_structs_and_descriptors_are_i64() -> None:
    fields = {field.name: field for field in WgmmaMmaAsyncOp.schema.operands}
    for name in ("descriptor_a", "descriptor_b"):
        assert fields[name].constraint.only is I64
    struct = StructType((F32,) * 4)
    assert fields["inouts"].constraint.accepts(struct)
    assert not fields["inouts"].constraint.accepts(F32)
    wrong = MLIR_SYNTAX[7].replace("%arg6, %arg6", "%arg4, %arg6")
    with pytest.raises(UserError, match="has type i32, but is used as i64"):
        parse_text(f"llvm.func @f({SIGNATURE}) {{\n{wrong}\nllvm.return\n}}", context())
