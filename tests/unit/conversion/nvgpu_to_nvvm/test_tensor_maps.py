"""Creation and update of tensor maps in a kernel."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from each_case import each_case
from lowering import convert, kernel, lowered, read, to_ptx

from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ptxsim import Module
from tilewright.support.diagnostics import UserError
from tilewright.text.printer import print_op

OBJECT = struct.Struct("<QII5Q4Q5I5BBBBB")
"""The arguments of the driver's encoder, as docs/nvvm.md lists them."""


def map_type(box: str, **modes: str) -> str:
    named = {"swizzle": "none", "l2promo": "none", "oob": "zero", "interleave": "none", **modes}
    spelled = ", ".join(f"{name} = {mode}" for name, mode in named.items())
    return f"!nvgpu.tensormap.descriptor<tensor = memref<{box}, 3>, {spelled}>"


def constants(*numbers: int) -> str:
    return "".join(f"%c{n} = arith.constant {n} : index\n" for n in dict.fromkeys(numbers))


def reasons(text: str) -> list[str]:
    """The reasons of failed patterns."""
    with pytest.raises(UserError) as caught:
        convert(text)
    return [note.message for error in caught.value.diagnostics for note in error.notes]


def described(tensor: str, box: str, extents: list[int], **modes: str) -> str:
    """A kernel that writes the encoder's arguments of a tensor map to global memory."""
    type = map_type(box, **modes)
    listed = ", ".join(f"%c{extent}" for extent in extents)
    body = (
        constants(*extents)
        + f"""
        %map = nvgpu.tma.create.descriptor %t box[{listed}] : {tensor} -> {type}
        %at = builtin.unrealized_conversion_cast %map : {type} to !llvm.ptr
        %all = llvm.load %at : !llvm.ptr -> vector<16xi64>
        llvm.store %all, %out : vector<16xi64>, !llvm.ptr<1>
    """
    )
    return kernel(body, f"%t: {tensor}, %out: !llvm.ptr<1>")


def object_of(text: str, *arguments: Any) -> tuple[int, ...]:
    """The encoder's arguments that a kernel writes."""
    module = Module(to_ptx(text))
    out = module.alloc(128)
    module.launch("k", 1, 1, [*arguments, out])
    data = out.download().tobytes()
    assert not any(data[OBJECT.size :])
    return OBJECT.unpack_from(data)


@pytest.mark.requirement("R3-055", "R3-109")
def test_an_object_for_the_driver() -> None:
    text = described(
        "memref<100x72xbf16, 1>", "64x32xbf16", [64, 32], swizzle="swizzle_64b", oob="nan",
        l2promo="l2promo_128b",
    )  # fmt: skip
    address = 0x7000_0000_0100
    dims, strides, box, steps = (
        (72, 100, 0, 0, 0),
        (144, 0, 0, 0),
        (32, 64, 0, 0, 0),
        (1, 1, 0, 0, 0),
    )
    assert object_of(text, address) == (
        address, 9, 2, *dims, *strides, *box, *steps, 0, 2, 2, 1
    )  # fmt: skip


@pytest.mark.requirement("R3-055")
def test_dynamic_extents() -> None:
    tensor = "memref<?x?xf32, strided<[?, 1], offset: ?>, 1>"
    text = described(tensor, "8x16xf32", [8, 16])
    fields = object_of(text, 0x4000, 4, 30, 20, 24)
    assert fields[:3] == (0x4000 + 16, 7, 2)
    assert fields[3:5] == (20, 30)
    assert fields[8] == 96


@pytest.mark.requirement("R3-055")
@each_case(
    ("element", "number"),
    [
        ("i8", 0), ("f8E4M3FN", 0), ("i16", 1), ("ui32", 2), ("i32", 3), ("ui64", 4), ("i64", 5),
        ("f16", 6), ("f32", 7), ("f64", 8), ("bf16", 9), ("tf32", 11),
    ],
)  # fmt: skip
def test_the_drivers_encoding_of_types(element: str, number: int) -> None:
    text = described(f"memref<64x{element}, 1>", f"32x{element}", [32])
    assert object_of(text, 0x4000)[1:3] == (number, 1)


@pytest.mark.requirement("R3-109")
def test_the_object_is_an_alloca() -> None:
    type = map_type("8x8xf32")
    body = (
        constants(8)
        + f"""
        %m = nvgpu.tma.create.descriptor %t box[%c8, %c8] : memref<64x64xf32, 1> -> {type}
        nvgpu.tma.prefetch.descriptor %m : {type}
    """
    )
    lines = lowered(body, "%t: memref<64x64xf32, 1>")
    assert lines[:2] == [
        "%0 = llvm.mlir.constant(128 : i64) : i64",
        "%1 = llvm.alloca %0 x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr",
    ]
    # Zeros, then address, type and rank, two extents, a stride, two box extents, two strides.
    assert sum(line.startswith("llvm.store") for line in lines) == 1 + 1 + 2 + 2 + 1 + 2 + 2


@pytest.mark.requirement("R3-108")
def test_one_object_serves_all_uses() -> None:
    type, tile = map_type("8x8xf32"), "memref<8x8xf32, 3>"
    group = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>"
    create = f"nvgpu.tma.create.descriptor %t box[%c8, %c8] : memref<64x64xf32, 1> -> {type}"
    body = (
        constants(0, 1, 4, 8)
        + f"""
        scf.for %i = %c0 to %c4 step %c1 {{
          %m = {create}
          nvgpu.tma.fence.descriptor %m : {type}
          nvgpu.tma.async.load %m[%i, %i], %b[%c0] to %s : {type}, {group} -> {tile}
          %n = {create}
          nvgpu.tma.async.store %s to %n[%i, %i] : {tile} -> {type}
        }}
    """
    )
    text = kernel(body, f"%t: memref<64x64xf32, 1>, %b: {group}, %s: {tile}")
    module = read(text)
    parse_pipeline("cse,licm").run(module)
    before = [op.name for op in module.walk()]
    assert before.count("nvgpu.tma.create.descriptor") == 1
    assert before.index("nvgpu.tma.create.descriptor") < before.index("scf.for")
    after = [op.name for op in convert(print_op(module), _DOWN).walk()]
    assert after.count("llvm.alloca") == 1
    # Uses do not write to the object.
    loop = after[after.index("llvm.cond_br") :]
    assert "llvm.store" not in loop
    assert loop.count("nvvm.cp.async.bulk.tensor.shared.cluster.global") == 1


_DOWN = "convert-scf-to-cf,convert-gpu-nvgpu-to-nvvm"


@each_case("use", ["load", "guarded", "prefetch"])
def test_copies_cannot_read_local_memory(use: str) -> None:
    type, tile = map_type("8x8xf32"), "memref<8x8xf32, 3>"
    group = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>"
    copy = "nvgpu.tma.async.load %m[%c8, %c8], %b[%c8] to %s{} : {}, {} -> {}"
    uses = {
        "load": copy.format("", type, group, tile),
        "guarded": copy.format(", predicate = %p", type, group, tile),
        "prefetch": f"nvgpu.tma.prefetch.descriptor %m : {type}",
    }
    body = (
        constants(8)
        + f"""
        %m = nvgpu.tma.create.descriptor %t box[%c8, %c8] : memref<64x64xf32, 1> -> {type}
        {uses[use]}
    """
    )
    with pytest.raises(UserError) as caught:
        to_ptx(kernel(body, f"%t: memref<64x64xf32, 1>, %b: {group}, %s: {tile}, %p: i1"))
    assert "got one on the stack, where copies cannot read it" in str(caught.value)


@each_case(
    ("tensor", "box", "extents", "problem"),
    [
        ("memref<64x30xf32, 1>", "8x16xf32", [8, 16],
         "expected strides that are multiples of 16 bytes, got 120 bytes"),
        ("memref<64x32xf32, strided<[64, 2]>, 1>", "8x16xf32", [8, 16],
         "expected a last stride of 1, got 'memref<64x32xf32, strided<[64, 2]>, 1>'"),
        ("memref<64xi1, 1>", "32xi1", [32],
         "expected a tensor map element type, got 'i1'"),
    ],
)  # fmt: skip
def test_tensors_without_a_tensor_map(
    tensor: str, box: str, extents: list[int], problem: str
) -> None:
    assert problem in reasons(described(tensor, box, extents))


@each_case(
    ("tensor", "problem"),
    [
        ("memref<64x64xf32, 3>", "expected a tensor in global memory, got 'memref<64x64xf32, 3>'"),
        ("memref<64x64xf16, 1>", "expected elements of type 'f32' like the box, got 'f16'"),
        ("memref<64xf32, 1>", "expected a tensor of rank 2 like the box, got 'memref<64xf32, 1>'"),
    ],
)
def test_tensors_that_do_not_match_the_box(tensor: str, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        read(described(tensor, "8x8xf32", [8, 8]))
    assert problem in caught.value.diagnostics[0].message


def rebind(rank: int, scope: str = "", cluster: int = 1, slots: str = "%slots") -> str:
    """A kernel that rebinds a tensor map in global memory to another tensor."""
    type = map_type(f"{'x'.join(['4'] * (rank - 1) + ['16'])}xf32")
    sizes = ", ".join(f"%n{number}" for number in range(rank))
    strides = ", ".join(f"%s{number}" for number in range(rank - 1))
    body = f"""
        %map = builtin.unrealized_conversion_cast {slots} : !llvm.ptr to {type}
        cute_nvgpu.tensormap.rebind %map, %a sizes[{sizes}] strides[{strides}]{scope} : {type}
    """
    given = [f"%n{number}: i32" for number in range(rank)]
    given += [f"%s{number}: i64" for number in range(rank - 1)]
    text = kernel(body, f"%slots: !llvm.ptr, %a: i64, {', '.join(given)}")
    size = f"attributes {{known_cluster_size = array<i32: {cluster}, 1, 1>}}"
    return text.replace(" kernel {", f" kernel {size} {{")


def names(module: Operation) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("nvvm.")]


@pytest.mark.requirement("R3-110", "R3-111")
@each_case("rank", range(1, 6))
def test_the_order_of_updates_and_fences(rank: int) -> None:
    module = convert(rebind(rank))
    assert names(module) == [
        "nvvm.fence.proxy.acquire",
        *["nvvm.tensormap.replace"] * (1 + rank + rank - 1),
        "nvvm.fence.proxy.release",
    ]
    changes: list[Any] = [op for op in module.walk() if op.name == "nvvm.tensormap.replace"]
    assert [(op.field.keyword, op.ord) for op in changes] == [
        ("global_address", None),
        *[("global_dim", number) for number in range(rank)],
        *[("global_stride", number) for number in range(rank - 1)],
    ]
    # The operands of the operation are outermost first.
    arguments = module.regions[0].block.first.regions[0].block.first.regions[0].blocks[0].args  # pyrefly: ignore[missing-attribute]
    sizes = arguments[2 : 2 + rank]
    assert [op.new_value for op in changes[1 : 1 + rank]] == list(sizes[::-1])


@pytest.mark.requirement("R3-111", "R3-112")
@each_case(("scope", "text"), [("", "gpu"), (" scope cluster", "cluster"), (" scope sys", "sys")])
def test_the_scope_of_the_fences(scope: str, text: str) -> None:
    ptx = to_ptx(rebind(2, scope, cluster=2))
    acquire = ptx.index(f"fence.proxy.tensormap::generic.acquire.{text}")
    release = ptx.index(f"fence.proxy.tensormap::generic.release.{text}")
    offsets = [at for at in range(len(ptx)) if ptx.startswith("tensormap.replace", at)]
    assert len(offsets) == 4
    assert acquire < offsets[0]
    assert offsets[-1] < release


@pytest.mark.requirement("R3-112")
def test_cta_scope_is_rejected_in_a_cluster() -> None:
    problem = "expected a scope of at least 'cluster' in a cluster, got 'cta'"
    assert reasons(rebind(2, " scope cta", cluster=2)) == [problem]
    assert "fence.proxy.tensormap::generic.acquire.cta" in to_ptx(rebind(2, " scope cta"))


def test_parameters_cannot_be_rebound() -> None:
    type = map_type("16xf32")
    body = f"cute_nvgpu.tensormap.rebind %map, %a sizes[%n] strides[] : {type}"
    messages = reasons(kernel(body, f"%map: {type}, %a: i64, %n: i32"))
    assert messages == ["expected a tensor map in global memory, got a parameter"]


def test_an_object_can_be_read_back() -> None:
    text = described("memref<64x64xf32, 1>", "8x8xf32", [8, 8])
    array = np.zeros((64, 64), np.float32)
    module = Module(to_ptx(text))
    tensor, out = module.upload(array), module.alloc(128)
    module.launch("k", 1, 1, [tensor, out])
    assert OBJECT.unpack_from(out.download().tobytes())[0] == int(tensor)
