"""nvgpu's TMA copies to NVVM and LLVM: operands, flags, fences, prefetches."""

from __future__ import annotations

import re
from itertools import product

import pytest
from each_case import each_case
from lowering import convert, kernel, lowered, to_ptx

from tilewright.dialects.nvvm.tma import TensorLoadOp, TensorStoreOp
from tilewright.driver.registry import context
from tilewright.emit.llvm.module import emit_llvm
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value
from tilewright.support.diagnostics import UserError
from tilewright.target.arch import find_arch

GROUP = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>"
EXTENTS = (2, 2, 4, 8, 16)
KINDS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def box(rank: int) -> str:
    return f"memref<{'x'.join(map(str, EXTENTS[-rank:]))}xf16, 3>"


def map_type(rank: int) -> str:
    modes = "swizzle = none, l2promo = none, oob = zero, interleave = none"
    return f"!nvgpu.tensormap.descriptor<tensor = {box(rank)}, {modes}>"


def arguments(rank: int) -> str:
    numbers = ", ".join(f"%c{number}: i32" for number in range(rank))
    rest = "%mask: i16, %hint: i64, %p: i1, %n: index"
    return f"%map: {map_type(rank)}, %bars: {GROUP}, %tile: {box(rank)}, {rest}, {numbers}"


def indices(rank: int) -> str:
    lines = [f"%i{n} = arith.index_cast %c{n} : i32 to index" for n in range(rank)]
    return "\n".join(lines) + "\n"


def listed(rank: int) -> str:
    return ", ".join(f"%i{number}" for number in range(rank))


def load(rank: int, mask: bool = False, hint: bool = False, guard: bool = False) -> str:
    options = " multicast_mask = %mask" if mask else ""
    options += ", predicate = %p" if guard else ""
    options += " l2_cache_hint = %hint" if hint else ""
    return (
        f"{indices(rank)}nvgpu.tma.async.load %map[{listed(rank)}], %bars[%n] to %tile{options} "
        f": {map_type(rank)}, {GROUP} -> {box(rank)}"
    )


def store(rank: int, hint: bool = False, guard: bool = False) -> str:
    options = ", predicate = %p" if guard else ""
    options += " l2_cache_hint = %hint" if hint else ""
    return (
        f"{indices(rank)}nvgpu.tma.async.store %tile to %map[{listed(rank)}]{options} "
        f": {box(rank)} -> {map_type(rank)}"
    )


def made(body: str, rank: int, kind: type[Operation]) -> Operation:
    """The only operation of a class in the lowered kernel."""
    module = convert(kernel(body, arguments(rank)))
    (match,) = [op for op in module.walk() if isinstance(op, kind)]
    return match


def llvm_of(body: str, rank: int) -> str:
    target = find_arch("sm_90")
    assert target is not None
    return emit_llvm(convert(kernel(body, arguments(rank))), target).text


def origins(op: Operation) -> list[str]:
    """The names of the kernel's arguments that the operands of an operation are computed from."""
    function = op.parent_op
    assert function is not None
    start = function.regions[0].blocks[0].args
    names = [name.partition(":")[0] for name in re.findall(r"%(\w+:)", arguments(len(start) - 7))]
    by_value: dict[Value, str] = dict(zip(start, names, strict=True))

    def origin(value: Value) -> str:
        while (maker := value.defining_op()) is not None:
            value = maker.operands[0]
        return by_value[value]

    return [origin(value) for value in op.operands]


RANKS = each_case("rank", range(1, 6))


@pytest.mark.requirement(
    "R3-053", "R3-078", "R3-080", "R3-081", "R3-082", "R3-083", "R3-084", "R3-085", "R3-086"
)
@RANKS
@each_case(("mask", "hint"), list(product((False, True), repeat=2)))
def test_operands_of_a_load(rank: int, mask: bool, hint: bool) -> None:
    op = made(load(rank, mask, hint), rank, TensorLoadOp)
    types = [str(value.type) for value in op.operands]
    optional = ["i16"] * mask + ["i64"] * hint
    pointers = ["!llvm.ptr<3>", "!llvm.ptr"]
    assert types == [*pointers, *["i32"] * rank, "!llvm.ptr<3>", *optional]
    assert ("multicastEnable" in op.attributes) == mask
    assert ("cacheHintEnable" in op.attributes) == hint


@pytest.mark.requirement("R3-080", "R3-081", "R3-082", "R3-083", "R3-084", "R3-085", "R3-087")
def test_a_load_in_three_dimensions() -> None:
    op = made(load(3, mask=True, hint=True), 3, TensorLoadOp)
    order = ["tile", "map", "c0", "c1", "c2", "bars", "mask", "hint"]
    assert origins(op) == order
    assert isinstance(op, TensorLoadOp)
    assert op.mode.keyword == "tile"
    assert {"multicastEnable", "cacheHintEnable"} <= set(op.attributes)


@pytest.mark.requirement("R3-088")
def test_an_absent_mask_has_no_operand() -> None:
    op = made(load(2, hint=True), 2, TensorLoadOp)
    assert len(op.operands) == 6
    assert str(op.operands[5].type) == "i64"
    assert "multicastEnable" not in op.attributes
    lines = lowered(load(2, hint=True), arguments(2))
    assert not any("llvm.mlir.constant" in line for line in lines)
    name = r"@(llvm\.nvvm\.cp\.async\.bulk\.tensor\.g2s[.\w]+)\("
    with_mask, without = [re.search(name, llvm_of(load(2, m, True), 2)) for m in (True, False)]
    assert with_mask is not None
    assert without is not None
    assert with_mask[1] == without[1]


@pytest.mark.requirement("R3-079")
@RANKS
def test_the_intrinsic_is_named_by_rank(rank: int) -> None:
    assert f"@llvm.nvvm.cp.async.bulk.tensor.g2s.tile.{rank}d(" in llvm_of(load(rank), rank)
    assert f"@llvm.nvvm.cp.async.bulk.tensor.s2g.tile.{rank}d(" in llvm_of(store(rank), rank)


@pytest.mark.requirement("R3-054", "R3-089", "R3-090", "R3-091", "R3-092", "R3-093")
@RANKS
@each_case("hint", [False, True])
def test_operands_of_a_store(rank: int, hint: bool) -> None:
    op = made(store(rank, hint), rank, TensorStoreOp)
    types = [str(value.type) for value in op.operands]
    assert types == ["!llvm.ptr", *["i32"] * rank, "!llvm.ptr<3>", *["i64"] * hint]
    assert ("cacheHintEnable" in op.attributes) == hint
    coordinates = [f"c{number}" for number in range(rank)]
    assert origins(op) == ["map", *coordinates, "tile", *["hint"] * hint]


@pytest.mark.parametrize(
    ("body", "kind"),
    [(load(2, guard=True), TensorLoadOp), (store(2, guard=True), TensorStoreOp)],
)
def test_a_predicate_is_the_last_operand(body: str, kind: type[Operation]) -> None:
    op = made(body, 2, kind)
    assert str(op.operands[-1].type) == "i1"


@pytest.mark.requirement("R3-012")
def test_the_operations_of_each_family() -> None:
    body = "\n".join(
        [
            f"nvgpu.tma.prefetch.descriptor %map : {map_type(2)}",
            f"nvgpu.tma.fence.descriptor %map : {map_type(2)}",
            load(2, True, True),
            store(2, True).removeprefix(indices(2)),
        ]
    )
    names = [
        next(word for word in line.split() if "." in word and not word.startswith("%"))
        for line in lowered(body, arguments(2))
    ]
    assert [name for name in names if name.startswith("nvvm.")] == [
        "nvvm.prefetch",
        "nvvm.fence.proxy.acquire",
        "nvvm.cp.async.bulk.tensor.shared.cluster.global",
        "nvvm.cp.async.bulk.tensor.global.shared.cta",
    ]


@pytest.mark.requirement("R3-056")
@pytest.mark.parametrize(("guard", "text"), [("", "prefetch.param.tensormap"), ("p", "@%p")])
def test_a_prefetch_of_the_map(guard: str, text: str) -> None:
    option = ", predicate = %p" if guard else ""
    body = f"nvgpu.tma.prefetch.descriptor %map{option} : {map_type(2)}"
    ptx = to_ptx(kernel(body, f"%map: {map_type(2)}, %p: i1"))
    assert ptx.count("tensormap") == 1
    assert text in ptx


@pytest.mark.requirement("R3-057", "R3-096")
def test_the_fence_is_before_the_load() -> None:
    body = f"nvgpu.tma.fence.descriptor %map : {map_type(2)}\n{load(2)}"
    lines = lowered(body, arguments(2))
    assert lines[:2] == [
        "%0 = llvm.mlir.constant(128 : i32) : i32",
        "nvvm.fence.proxy.acquire <sys> %arg0, %0",
    ]
    ptx = to_ptx(kernel(body, arguments(2)))
    fence = ptx.index("fence.proxy.tensormap::generic.acquire.sys")
    assert fence < ptx.index("cp.async.bulk.tensor.2d")


@pytest.mark.requirement("R3-094")
def test_reductions_are_not_in_nvgpu() -> None:
    dialect = context().dialect("nvgpu")
    assert dialect is not None
    assert "nvgpu.tma.async.reduce" not in dialect.ops
    assert not [name for name in dialect.ops if "reduce" in name]


@pytest.mark.requirement("R3-095")
@RANKS
@each_case("kind", KINDS)
def test_kinds_of_reductions(rank: int, kind: str) -> None:
    numbers = ", ".join(f"%c{number}" for number in range(rank))
    body = (
        f"nvvm.cp.async.bulk.tensor.reduce %m, %s, box[{numbers}] l2_cache_hint = %hint "
        f"{{redKind = #nvvm.tma_redux_kind<{kind}>}} : !llvm.ptr, !llvm.ptr<3>"
    )
    given = "".join(f", %c{number}: i32" for number in range(rank))
    text = kernel(body, f"%m: !llvm.ptr, %s: !llvm.ptr<3>, %hint: i64{given}")
    target = find_arch("sm_90")
    assert target is not None
    name = f"@llvm.nvvm.cp.async.bulk.tensor.reduce.{kind}.tile.{rank}d("
    assert name in emit_llvm(convert(text), target).text
    assert f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{kind}.tile" in to_ptx(text)


def test_a_map_of_a_kernel_is_passed_by_value() -> None:
    text = kernel(load(1), arguments(1))
    ptx = to_ptx(text)
    assert re.search(r"\.param \.align 64 \.b8 k_param_0\[128\]", ptx)
    assert ".local" not in ptx


def test_a_map_of_a_function_is_an_address() -> None:
    text = kernel(load(1), arguments(1)).replace(" kernel {", " {")
    (function,) = [op for op in convert(text).walk() if op.name == "llvm.func"]
    assert "byval" not in str(function.attributes.get("arg_attrs"))


@pytest.mark.parametrize(
    ("tile", "problem"),
    [
        (
            "memref<8x16xf16, strided<[32, 1]>, 3>",
            "expected a contiguous row-major memref, got 'memref<8x16xf16, strided<[32, 1]>, 3>'",
        ),
        ("memref<8x16xf16, 1>", "expected a memref in shared memory, got 'memref<8x16xf16, 1>'"),
    ],
)
def test_wrong_shared_memory_of_copies(tile: str, problem: str) -> None:
    body = load(2).replace(f"-> {box(2)}", f"-> {tile}")
    given = arguments(2).replace(f"%tile: {box(2)}", f"%tile: {tile}")
    with pytest.raises(UserError) as caught:
        convert(kernel(body, given))
    assert problem in caught.value.diagnostics[0].message


def test_a_box_that_starts_inside_of_a_buffer() -> None:
    tile = "memref<8x16xf16, strided<[16, 1], offset: 128>, 3>"
    given = f"%map: {map_type(2)}, %bars: {GROUP}, %tile: {tile}, %n: index, %c0: i32, %c1: i32"
    lines = lowered(load(2).replace(f"-> {box(2)}", f"-> {tile}"), given)
    assert "%2 = llvm.getelementptr %arg2[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f16" in lines


@each_case(
    ("mask", "problem"),
    [
        (0, "expected a nonzero multicast mask, got 0"),
        (4, "expected a multicast mask for 2 blocks, got 0x4"),
        (-1, "expected a multicast mask for 2 blocks, got 0xffff"),
    ],
)
def test_masks_with_blocks_out_of_range(mask: int, problem: str) -> None:
    body = f"%m = arith.constant {mask} : i16\n" + load(1, mask=True).replace("%mask", "%m")
    text = kernel(body, arguments(1)).replace(
        " kernel {", " kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {"
    )
    with pytest.raises(UserError) as caught:
        convert(text)
    (error,) = caught.value.diagnostics
    assert [note.message for note in error.notes] == [problem]
    assert convert(text.replace(f"constant {mask} :", "constant 3 :"))
