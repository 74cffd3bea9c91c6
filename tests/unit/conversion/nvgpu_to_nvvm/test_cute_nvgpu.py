"""cute_nvgpu to NVVM: wgmma, TMA, tensor maps in slots, synchronization."""

from __future__ import annotations

from pathlib import Path

import pytest
from each_case import each_case
from lowering import convert, failures, kernel, lowered, to_ptx

from tilewright.conversion.nvgpu_to_nvvm import PATTERNS
from tilewright.dialects.nvvm.tma import TensorLoadOp, TensorReduceOp, TensorStoreOp
from tilewright.dialects.nvvm.wgmma import WgmmaStepsOp
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation

LOW = Path(__file__).parents[3] / "run" / "low"
PROGRAMS = sorted([*LOW.glob("cute_nvgpu/*.mlir"), *LOW.glob("hopper_gemm/*.mlir")])
SPACE = "#gpu.address_space<workgroup>"
BARS = f"!nvgpu.mbarrier.group<memorySpace = {SPACE}, num_barriers = 4>"
ACC = "vector<4xf32>"
EXTENTS = (2, 2, 4, 8, 16)
KINDS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
MATRICES = f"%a: i64, %b: i64, %acc: {ACC}, %more: {ACC}, %p: i1"


def map_type(box: str) -> str:
    modes = "swizzle = none, l2promo = none, oob = zero, interleave = none"
    return f"!nvgpu.tensormap.descriptor<tensor = memref<{box}, 3>, {modes}>"


def only(text: str, kind: type[Operation]) -> Operation:
    (match,) = [op for op in convert(text).walk() if isinstance(op, kind)]
    return match


@pytest.mark.requirement("R3-071")
def test_every_operation_has_a_pattern() -> None:
    dialect = context().dialect("cute_nvgpu")
    assert dialect is not None
    handled = {root for pattern in PATTERNS for root in pattern.roots}
    assert not [name for name, op in dialect.ops.items() if op not in handled]


@pytest.mark.requirement("R3-071")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_one_pass_lowers_both_dialects(program: Path) -> None:
    """The pass lowers cute_nvgpu together with gpu and nvgpu, completely."""
    module = convert(program.read_text(), "convert-scf-to-cf,convert-gpu-nvgpu-to-nvvm")
    assert {op.dialect for op in module.walk()} <= {"builtin", "gpu", "llvm", "nvvm"}
    assert {op.name for op in module.walk() if op.dialect == "gpu"} <= {"gpu.module"}


def issue(accumulator: str, rest: str = "") -> str:
    return f"cute_nvgpu.wgmma.issue %a, %b, {accumulator}{rest} : bf16, bf16, i64, {ACC}"


WGMMA = "<m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]"


@pytest.mark.requirement("R3-071")
def test_adjacent_fence_and_commit_are_fused_into_the_wgmma() -> None:
    body = f"""
        %0 = cute_nvgpu.wgmma.fence(%acc : {ACC})
        %1 = {issue("%0", " accumulate %p")}
        cute_nvgpu.wgmma.commit
        %2 = cute_nvgpu.wgmma.wait 1, %1 : {ACC}
    """
    assert lowered(body, MATRICES) == [
        f"%0 = nvvm.wgmma.steps fence A(%arg0) B(%arg1) if %arg4, %arg2, {WGMMA} commit : {ACC}",
        f"%1 = nvvm.wgmma.wait.group.sync.aligned 1, %0 : {ACC}",
    ]


@pytest.mark.requirement("R3-071")
def test_a_fence_of_two_accumulators_stays() -> None:
    body = f"""
        %0, %1 = cute_nvgpu.wgmma.fence(%acc, %more : {ACC}, {ACC})
        %2 = {issue("%0")}
        %3 = {issue("%1")}
        cute_nvgpu.wgmma.commit
        %4, %5 = cute_nvgpu.wgmma.wait 0, %2, %3 : {ACC}, {ACC}
    """
    assert lowered(body, MATRICES) == [
        f"%0:2 = nvvm.wgmma.fence.aligned(%arg2, %arg3 : {ACC}, {ACC})",
        f"%1 = nvvm.wgmma.steps A(%arg0) B(%arg1), %0#0, {WGMMA} : {ACC}",
        f"%2 = nvvm.wgmma.steps A(%arg0) B(%arg1), %0#1, {WGMMA} commit : {ACC}",
        f"%3:2 = nvvm.wgmma.wait.group.sync.aligned 0, %1, %2 : {ACC}, {ACC}",
    ]


def test_fence_and_wait_without_accumulators() -> None:
    body = "cute_nvgpu.wgmma.fence\ncute_nvgpu.wgmma.commit\ncute_nvgpu.wgmma.wait 2"
    assert lowered(body) == [
        "nvvm.wgmma.fence.aligned",
        "nvvm.wgmma.commit.group.sync.aligned",
        "nvvm.wgmma.wait.group.sync.aligned 2",
    ]


def test_descriptors_advance_and_modes_carry_over() -> None:
    flags = " steps 3 by 128, 2 {transpose_a, negate_b}"
    op = only(kernel(f"%0 = {issue('%acc', flags)}", MATRICES), WgmmaStepsOp)
    assert isinstance(op, WgmmaStepsOp)
    added: list[list[int]] = []
    for group in (op.descriptors_a, op.descriptors_b):
        adders = [value.defining_op() for value in group[1:]]
        constants = [each.operands[1].defining_op() for each in adders if each is not None]
        added.append([each.value.value for each in constants])  # pyrefly: ignore[missing-attribute]
    assert added == [[128, 256], [2, 4]]
    words = (op.layout_a.keyword, op.layout_b.keyword, op.scale_a.value, op.scale_b.value)
    assert words == ("col", "col", 1, -1)
    assert not op.fence
    assert not op.commit


@each_case(
    ("type", "count", "accumulator"),
    [("bf16", 8, "f32"), ("f16", 8, "f16"), ("tf32", 4, "f32"), ("f8E5M2", 16, "f32"),
     ("i8", 16, "i32"), ("si8", 16, "i32"), ("ui8", 16, "i32")],
)  # fmt: skip
def test_a_in_registers(type: str, count: int, accumulator: str) -> None:
    """Four 32-bit registers per step, for every element type."""
    a, acc = f"vector<{count}x{type}>", f"vector<4x{accumulator}>"
    body = f"""
        %0 = cute_nvgpu.wgmma.fence(%acc : {acc})
        %1 = cute_nvgpu.wgmma.issue %a, %b, %0 : {type}, {type}, {a}, {acc}
        cute_nvgpu.wgmma.commit
        %2 = cute_nvgpu.wgmma.wait 0, %1 : {acc}
        vector.store %2, %out[%i] : memref<512x{accumulator}, 1>, {acc}
    """
    given = f"%a: {a}, %b: i64, %acc: {acc}, %out: memref<512x{accumulator}, 1>, %i: index"
    text = kernel(body, given)
    op = only(text, WgmmaStepsOp)
    assert isinstance(op, WgmmaStepsOp)
    assert [str(value.type) for value in op.registers_a] == ["i32"] * 4
    word = {"f8E5M2": "e5m2", "i8": "s8", "si8": "s8", "ui8": "u8"}.get(type, type)
    result = "s32" if accumulator == "i32" else accumulator
    assert f"wgmma.mma_async.sync.aligned.m64n8k{2 * count}.{result}.{word}.{word}" in to_ptx(text)


def test_registers_of_a_are_fenced_where_they_are_read() -> None:
    """What computes A may be moved past a fence that is not part of the same inline PTX."""
    a = "vector<8xbf16>"
    body = f"""
        %0, %1 = cute_nvgpu.wgmma.fence(%acc, %more : {ACC}, {ACC})
        %2 = arith.addf %a, %a : {a}
        %3 = cute_nvgpu.wgmma.issue %2, %b, %0 : bf16, bf16, {a}, {ACC}
        %4 = cute_nvgpu.wgmma.issue %a, %b, %1 : bf16, bf16, {a}, {ACC}
        cute_nvgpu.wgmma.commit
        %5, %6 = cute_nvgpu.wgmma.wait 0, %3, %4 : {ACC}, {ACC}
    """
    module = convert(kernel(body, f"%a: {a}, %b: i64, %acc: {ACC}, %more: {ACC}"))
    assert [op.fence for op in module.walk() if isinstance(op, WgmmaStepsOp)] == [True, True]


@pytest.mark.requirement("R3-071")
def test_the_fields_of_a_matrix_descriptor() -> None:
    """Fields as CUTLASS has them: address 0-13, leading 16-29, stride 32-45, base 49, mode 62."""
    body = """
        %0 = cute_nvgpu.wgmma.descriptor %m[%i, %i] swizzle_64b leading 8192 stride 512
            {base_offset = 3 : i64} : memref<64x32xf16, 3>
    """
    lines = lowered(" ".join(body.split()), "%m: memref<64x32xf16, 3>, %i: index")
    fields = 8192 // 16 << 16 | 512 // 16 << 32 | 3 << 49 | 2 << 62
    assert lines[-4:] == [
        "%7 = llvm.mlir.constant(16383 : i64) : i64",
        "%8 = llvm.and %6, %7 : i64",
        f"%9 = llvm.mlir.constant({fields - (1 << 64)} : i64) : i64",
        "%10 = llvm.or %8, %9 : i64",
    ]


def box(rank: int) -> str:
    return "x".join(map(str, EXTENTS[-rank:]))


def staged(rank: int) -> tuple[str, str, str]:
    """A tensor map, a buffer with two stages, and the kernel's arguments."""
    map, buffer = map_type(f"{box(rank)}xi32"), f"memref<2x{box(rank)}xi32, 3>"
    numbers = ", ".join(f"%c{number}: index" for number in range(rank))
    rest = f"%bars: {BARS}, %s: index, %z: index, %mask: i16, %hint: i64"
    return map, buffer, f"%map: {map}, %buffer: {buffer}, {rest}, {numbers}"


def numbers(op: Operation, values: str) -> list[str]:
    """The indices of the kernel arguments that operands are truncated from."""
    indices: list[str] = []
    for value in getattr(op, values):
        source = value.defining_op()
        assert source is not None
        assert source.name == "llvm.trunc"
        indices.append(str(source.operands[0].index))
    return indices


@each_case("rank", range(1, 6))
@each_case("options", ["", "mask", "hint", "mask hint"])
def test_loads(rank: int, options: str) -> None:
    """Coordinates are reversed; a mask makes it a multicast."""
    map, buffer, given = staged(rank)
    at = ", ".join(f"%c{number}" for number in range(rank))
    indices = ", ".join(["%s"] + ["%z"] * rank)
    text = " multicast %mask" if "mask" in options else ""
    text += " cache_hint %hint" if "hint" in options else ""
    body = (
        f"cute_nvgpu.tma.load %map[{at}], %bars[%s] to %buffer[{indices}]{text} "
        f": {map}, {BARS} to {buffer}"
    )
    op = only(kernel(body, given), TensorLoadOp)
    assert isinstance(op, TensorLoadOp)
    assert numbers(op, "coordinates") == [str(7 + n) for n in reversed(range(rank))]
    masked, hinted = "mask" in options, "hint" in options
    assert (op.multicast_enable, op.multicast_mask is not None) == (masked, masked)
    assert (op.cache_hint_enable, op.l2_cache_hint is not None) == (hinted, hinted)
    assert op.cta_only is not masked
    space = "cluster" if masked else "cta"
    ptx = to_ptx(kernel(body, given))
    assert f"cp.async.bulk.tensor.{rank}d.shared::{space}.global.tile" in ptx


@pytest.mark.requirement("R3-094", "R3-095")
@each_case("rank", range(1, 6))
@each_case("kind", KINDS)
def test_reductions(rank: int, kind: str) -> None:
    """Operands as of a store: map, coordinates, source, hint."""
    map, buffer, given = staged(rank)
    at = ", ".join(f"%c{number}" for number in range(rank))
    indices = ", ".join(["%s"] + ["%z"] * rank)
    tail = f"%buffer[{indices}] to %map[{at}] cache_hint %hint : {buffer} to {map}"
    reduce = only(kernel(f"cute_nvgpu.tma.reduce {kind} {tail}", given), TensorReduceOp)
    store = only(kernel(f"cute_nvgpu.tma.store {tail}", given), TensorStoreOp)
    assert isinstance(reduce, TensorReduceOp)
    assert isinstance(store, TensorStoreOp)
    assert reduce.red_kind.keyword == kind
    assert [str(v.type) for v in reduce.operands] == [str(v.type) for v in store.operands]
    assert str(reduce.operands[0].type) == "!llvm.ptr"
    assert [str(v.type) for v in reduce.operands[rank + 1 :]] == ["!llvm.ptr<3>", "i64"]
    assert reduce.cache_hint_enable
    assert numbers(reduce, "coordinates") == numbers(store, "coordinates")
    ptx = to_ptx(kernel(f"cute_nvgpu.tma.reduce {kind} {tail}", given))
    assert f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{kind}.tile" in ptx


FILLED = """\
global_address
global_dim[0] global_dim[1] global_dim[2]
global_stride[0] global_stride[1]
box_dim[0] box_dim[1] box_dim[2]
element_stride[0] element_stride[1] element_stride[2]
elemtype interleave_layout swizzle_mode fill_mode
""".split()


def test_all_fields_of_a_tensor_map() -> None:
    map = map_type("2x?x16xbf16").replace("swizzle = none", "swizzle = swizzle_32b")
    body = (
        f"cute_nvgpu.tensormap.fill %m[%i], %l sizes[%n, %n, %n] strides[%l, %l] box[%n] : "
        f"memref<64xi32, 3>, {map.replace('oob = zero', 'oob = nan')}"
    )
    lines = lowered(body, "%m: memref<64xi32, 3>, %i: index, %l: i64, %n: i32")
    fields = [line.split("field = ")[1] for line in lines if "tensormap.replace" in line]
    assert fields[0].startswith("rank, new_value")
    assert [field.split(",")[0].split(" ")[0] for field in fields[1:]] == FILLED
    # bf16 has the encoding 10, a swizzle of 32 bytes 1, and the fill mode is NaN.
    assert [field.split(" in ")[0] for field in fields[-4:]] == [
        "elemtype to 10", "interleave_layout to 0", "swizzle_mode to 1", "fill_mode to 1",
    ]  # fmt: skip


def test_element_types_without_a_tensor_map_encoding() -> None:
    body = (
        "cute_nvgpu.tensormap.fill %m[%i], %l sizes[%n] strides[] : "
        f"memref<64xi32, 3>, {map_type('64xi128')}"
    )
    errors = failures(kernel(body, "%m: memref<64xi32, 3>, %i: index, %l: i64, %n: i32"))
    assert "failed to legalize" in errors[0]


SLOT = "memref<8x64xi32, 1>"
MAPS = "memref<32xi32, 3>"
SLOTS = f"%slots: {SLOT}, %i: index, %m: {MAPS}, %n: i32"


def test_tensor_maps_in_slots() -> None:
    body = f"""
        cute_nvgpu.tensormap.publish %m[%z] to %slots[%z, %z] scope sys : {MAPS} to {SLOT}
        %0 = cute_nvgpu.tensormap.at %slots[%z, %z] : {SLOT} -> {map_type("4xf32")}
        cute_nvgpu.tma.prefetch %0[%z] : {map_type("4xf32")}
    """
    ptx = to_ptx(kernel(f"%z = arith.constant 0 : index\n{body}", SLOTS))
    copy = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.sys.sync.aligned"
    assert ptx.index(copy) < ptx.index("cp.async.bulk.prefetch.tensor.1d.L2.global.tile")


def test_slot_locks_have_gpu_scope() -> None:
    body = """
        %0 = cute_nvgpu.slot.acquire %slots[%i, %i] users 3 : memref<8x64xi32, 1>
        scf.if %0 {
          cute_nvgpu.slot.release %slots[%i, %i] : memref<8x64xi32, 1>
        }
    """
    ptx = to_ptx(kernel(body, SLOTS))
    assert "acquire.gpu.global.cas.b32" in ptx
    assert "release.gpu.global.add" in ptx


ONE_TO_ONE = [
    ("%0 = cute_nvgpu.elect_one", ["%0 = nvvm.elect.sync -> i1"]),
    ("cute_nvgpu.named_barrier.sync %n, %k", ["nvvm.barrier id = %arg0 number_of_threads = %arg1"]),
    (
        "cute_nvgpu.named_barrier.arrive %n, %k",
        ["nvvm.barrier.arrive id = %arg0 number_of_threads = %arg1"],
    ),
    ("cute_nvgpu.cluster.arrive aligned", ["nvvm.cluster.arrive {aligned}"]),
    ("cute_nvgpu.cluster.arrive relaxed", ["nvvm.cluster.arrive.relaxed"]),
    ("cute_nvgpu.cluster.wait aligned", ["nvvm.cluster.wait {aligned}"]),
    ("cute_nvgpu.set_max_registers increase 240", ["nvvm.setmaxregister increase 240"]),
    ("cute_nvgpu.fence.proxy_async all", ["nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}"]),
    (
        "cute_nvgpu.fence.proxy_async global",
        ["nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}"],
    ),
    (
        "cute_nvgpu.fence.proxy_async shared_cluster",
        [
            "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
            "space = #nvvm.shared_space<cluster>}"
        ],
    ),
    ("cute_nvgpu.fence.mbarrier_init", ["nvvm.fence.mbarrier.init"]),
    ("cute_nvgpu.grid.wait", ["nvvm.griddepcontrol wait"]),
    ("cute_nvgpu.grid.launch_dependents", ["nvvm.griddepcontrol launch_dependents"]),
    ("%0 = cute_nvgpu.sm_id", ["%0 = nvvm.read.ptx.sreg.smid : i32"]),
    (
        "cute_nvgpu.nanosleep %n",
        ['llvm.call_intrinsic "llvm.nvvm.nanosleep"(%arg0) : (i32) -> ()'],
    ),
    ("cute_nvgpu.tma.commit", ["nvvm.cp.async.bulk.commit.group"]),
    ("cute_nvgpu.tma.wait 2 read", ["nvvm.cp.async.bulk.wait_group 2 {read}"]),
    (
        "cute_nvgpu.warp_sync",
        ["%0 = llvm.mlir.constant(-1 : i32) : i32", "nvvm.bar.warp.sync %0 : i32"],
    ),
]


@pytest.mark.requirement("R3-071")
@each_case(("body", "expected"), ONE_TO_ONE, ids=lambda each: str(each)[:40])
def test_one_to_one(body: str, expected: list[str]) -> None:
    assert lowered(body, "%n: i32, %k: i32") == expected


def test_remote_arrivals_have_cta_scope() -> None:
    body = f"cute_nvgpu.mbarrier.arrive_remote %b[%i], %n : {BARS}"
    lines = lowered(body, f"%b: {BARS}, %i: index, %n: i32")
    assert lines[1:] == [
        "%1 = nvvm.mapa %0, %arg2 : !llvm.ptr<3> -> !llvm.ptr<7>",
        "%2 = llvm.mlir.constant(1 : i32) : i32",
        "nvvm.mbarrier.arrive.shared.cluster <cta> %1, %2 : !llvm.ptr<7>, i32",
    ]


def test_arrivals_on_copies_are_noinc() -> None:
    body = f"cute_nvgpu.mbarrier.arrive_on_copies %b[%i] : {BARS}"
    ptx = to_ptx(kernel(body, f"%b: {BARS}, %i: index"))
    assert "cp.async.mbarrier.arrive.noinc.shared.b64" in ptx


@each_case("count", [1, 2, 4])
@each_case("transpose", [False, True])
def test_stmatrix(count: int, transpose: bool) -> None:
    type = f"vector<{count}x2xbf16>"
    word = " transpose" if transpose else ""
    body = f"cute_nvgpu.stmatrix %f, %m[%i, %i]{word} : {type}, memref<8x8xbf16, 3>"
    ptx = to_ptx(kernel(body, f"%f: {type}, %m: memref<8x8xbf16, 3>, %i: index"))
    trans = ".trans" if transpose else ""
    assert f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16" in ptx


def test_copy_with_a_cache_policy() -> None:
    body = (
        "%s = cute_nvgpu.buffer_at %g : !llvm.ptr<1> to memref<16xi8, 1>\n"
        "%c = arith.constant 0 : index\n"
        "%t = cute_nvgpu.device_async_copy %s[%c], %m[%c], 16 cache_hint %p {bypassL1} "
        ": memref<16xi8, 1> to memref<16xi8, 3>\n"
        "%a = cute_nvgpu.device_async_groups\n"
        "nvgpu.device_async_wait %a {numGroups = 2 : i32}"
    )
    ptx = to_ptx(kernel(body, "%g: !llvm.ptr<1>, %m: memref<16xi8, 3>, %p: i64"))
    assert "cp.async.cg.shared.global.L2::cache_hint [%shared+0], [%rd2], 16, %rd3;" in ptx
    assert "cp.async.wait_group \t2;" in ptx
