"""nvgpu's matrix descriptors and warpgroup mma to NVVM."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from each_case import each_case
from low_programs import check, emulate
from lowering import TO_NVVM, convert, failures, kernel, lowered, to_ptx
from programs import parse_runs

from tilewright.ptxsim import Module
from tilewright.support.diagnostics import UserError

PROGRAMS = Path(__file__).parents[3] / "run" / "low" / "wgmma"
SWIZZLES = {"none": 0, "swizzle_128b": 1, "swizzle_64b": 2, "swizzle_32b": 3}


class Bits(ctypes.LittleEndianStructure):
    """The descriptor, field by field, as CUTLASS declares it."""

    _fields_ = (
        ("start", ctypes.c_uint64, 14),
        ("", ctypes.c_uint64, 2),
        ("leading", ctypes.c_uint64, 14),
        ("", ctypes.c_uint64, 2),
        ("stride", ctypes.c_uint64, 14),
        ("", ctypes.c_uint64, 3),
        ("base", ctypes.c_uint64, 3),
        ("", ctypes.c_uint64, 10),
        ("swizzle", ctypes.c_uint64, 2),
    )


def matrix(type: str) -> str:
    return f"!nvgpu.warpgroup.descriptor<tensor = memref<{type}, 3>>"


def accumulator(type: str) -> str:
    return f"!nvgpu.warpgroup.accumulator<fragmented = vector<{type}>>"


def generate(
    name: str,
    source: str,
    type: str,
    fields: tuple[int, int, str] = (128, 256, "none"),
    base: int = 0,
) -> str:
    leading, stride, swizzle = fields
    return (
        f"%{name} = nvgpu.warpgroup.generate.descriptor %{source} "
        f"{{leading_byte_offset = {leading} : i64, matrix_stride = {stride} : i64, "
        f"swizzle_base = {base} : i64, swizzle_mode = #nvgpu.swizzle<{swizzle}>}} "
        f": memref<{type}, 3> -> {matrix(type)}"
    )


def constants(lines: list[str]) -> list[int]:
    return [int(match[1]) for line in lines if (match := re.search(r"constant\((-?\d+)", line))]


@pytest.mark.requirement("R3-013", "R3-058", "R3-115")
@each_case("swizzle", SWIZZLES)
@each_case(("leading", "stride", "base"), [(16, 1024, 0), (4096, 256, 384)])
def test_the_fields_of_a_descriptor(swizzle: str, leading: int, stride: int, base: int) -> None:
    body = generate("d", "x", "64x64xf16", (leading, stride, swizzle), base)
    lines = lowered(body, "%x: memref<64x64xf16, 3>")
    # The shifted and masked address, and one constant for the other fields.
    names = [line.split(" = ")[1].split()[0] for line in lines if "constant" not in line]
    assert names == ["llvm.ptrtoint", "llvm.lshr", "llvm.and", "llvm.or"]
    shift, mask, fields = constants(lines)
    address = 0x1234560
    bits = Bits.from_buffer_copy((fields % 2**64 | address >> shift & mask).to_bytes(8, "little"))
    assert bits.start == (address & 0x3FFFF) >> 4
    assert (bits.leading, bits.stride) == (leading >> 4, stride >> 4)
    assert (bits.base, bits.swizzle) == (base >> 7, SWIZZLES[swizzle])


@pytest.mark.requirement("R3-058")
@each_case(
    ("box", "swizzle", "leading", "stride"),
    [
        # Rows of one span, in groups of eight; the next box along K follows the first.
        ("64x64xf16", "swizzle_128b", 64 * 128, 1024),
        ("128x32xbf16", "swizzle_64b", 128 * 64, 512),
        ("256x8xf32", "swizzle_32b", 256 * 32, 256),
        ("64x8xf16", "none", 64 * 16, 128),
    ],
)
def test_fields_that_follow_from_a_tensor_map(
    box: str, swizzle: str, leading: int, stride: int
) -> None:
    map = (
        f"!nvgpu.tensormap.descriptor<tensor = memref<{box}, 3>, swizzle = {swizzle}, "
        "l2promo = none, oob = zero, interleave = none>"
    )
    body = (
        f"%d = nvgpu.warpgroup.generate.descriptor %x, %m : memref<{box}, 3>, {map} "
        f"-> {matrix(box)}"
    )
    fields = constants(lowered(body, f"%x: memref<{box}, 3>, %m: {map}"))[-1]
    bits = Bits.from_buffer_copy((fields % 2**64).to_bytes(8, "little"))
    assert (bits.leading, bits.stride) == (leading >> 4, stride >> 4)
    assert (bits.start, bits.base, bits.swizzle) == (0, 0, SWIZZLES[swizzle])


@pytest.mark.requirement("R3-113")
def test_equal_descriptors_are_one() -> None:
    first, second = generate("d", "x", "64x64xf16"), generate("e", "x", "64x64xf16")
    body = f"{first}\n{second}\n{generate('f', 'y', '64x64xf16')}"
    arguments = "%x: memref<64x64xf16, 3>, %y: memref<64x64xf16, 3>"
    for pipeline, left in ((TO_NVVM, 3), (f"{TO_NVVM},cse", 2), (f"cse,{TO_NVVM}", 2)):
        lines = lowered(body, arguments, pipeline=pipeline)
        assert sum("llvm.or" in line for line in lines) == left
    # Unused descriptors are dead code.
    assert lowered(body, arguments, pipeline=f"{TO_NVVM},dce") == []


def mma_kernel(body: str = "", rows: int = 64, columns: int = 8, k: int = 16) -> str:
    """A kernel with a warpgroup mma of matrices in shared memory, without swizzle."""
    a, b, c = f"{rows}x{k}xf16", f"{k}x{columns}xf16", f"{rows}x{columns}xf32"
    types = f"{matrix(a)}, {matrix(b)}, {accumulator(c)}"
    lines = f"""
        {generate("a", "x", a, (rows * 16, 128, "none"))}
        {generate("b", "y", b, (columns * 16, 128, "none"))}
        %c = nvgpu.warpgroup.mma.init.accumulator -> {accumulator(c)}
        %d = nvgpu.warpgroup.mma %a, %b, %c : {types} -> {accumulator(c)}
        nvgpu.warpgroup.mma.store %d, %o : {accumulator(c)} to memref<{c}, 1>
    """
    arguments = f"%x: memref<{a}, 3>, %y: memref<{b}, 3>, %o: memref<{c}, 1>"
    return kernel(body + lines, arguments)


PROTOCOL = [
    "nvvm.wgmma.fence.aligned",
    "nvvm.wgmma.mma_async",
    "nvvm.wgmma.commit.group.sync.aligned",
    "nvvm.wgmma.wait.group.sync.aligned",
]
INSTRUCTIONS = [
    "wgmma.fence.sync.aligned;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
]


@pytest.mark.requirement("R3-013", "R3-059", "R3-097")
def test_the_order_of_the_protocol() -> None:
    module = convert(mma_kernel())
    names = [op.name for op in module.walk() if ".wgmma." in op.name]
    assert names == PROTOCOL
    (wait,) = [op for op in module.walk() if op.name == PROTOCOL[-1]]
    assert wait.attributes["group"].value == 0  # pyrefly: ignore[missing-attribute]
    lines = [line.strip() for line in to_ptx(mma_kernel()).splitlines() if "wgmma." in line]
    assert [line.startswith(text) for line, text in zip(lines, INSTRUCTIONS, strict=True)] == [
        True
    ] * 4


@pytest.mark.requirement("R3-097")
@each_case(("rows", "k"), [(64, 64), (128, 16), (192, 48)])
def test_larger_mmas_are_one_group(rows: int, k: int) -> None:
    module = convert(mma_kernel(rows=rows, k=k))
    names = [op.name for op in module.walk() if ".wgmma." in op.name]
    assert names == [PROTOCOL[0], *[PROTOCOL[1]] * (rows // 64 * (k // 16)), *PROTOCOL[2:]]


@pytest.mark.requirement("R3-098")
@each_case(
    ("accumulated", "register", "count"),
    [("f32", "f32", 4), ("i32", "i32", 4), ("f16", "vector<2xf16>", 2)],
)
def test_accumulators_are_structs_of_registers(accumulated: str, register: str, count: int) -> None:
    element = {"f32": "bf16", "i32": "i8", "f16": "f16"}[accumulated]
    k = {"i8": 32}.get(element, 16)
    a, b = f"64x{k}x{element}", f"{k}x8x{element}"
    c = accumulator(f"64x8x{accumulated}")
    text = kernel(
        f"%d = nvgpu.warpgroup.mma %a, %b, %c : {matrix(a)}, {matrix(b)}, {c} -> {c}",
        f"%a: {matrix(a)}, %b: {matrix(b)}, %c: {c}",
    )
    (mma,) = [op for op in convert(text).walk() if op.name == PROTOCOL[1]]
    types = [str(value.type) for value in mma.operands]
    struct = f"!llvm.struct<({', '.join([register] * count)})>"
    assert types == [struct, "i64", "i64"]
    assert str(mma.results[0].type) == struct


@pytest.mark.requirement("R3-061")
@each_case(
    ("shape", "struct"),
    [
        ("64x8xf32", "!llvm.struct<(f32, f32, f32, f32)>"),
        ("64x8xf16", "!llvm.struct<(vector<2xf16>, vector<2xf16>)>"),
        ("64x16xi32", f"!llvm.struct<({', '.join(['i32'] * 8)})>"),
        (
            "128x8xf32",
            "!llvm.struct<(struct<(f32, f32, f32, f32)>, struct<(f32, f32, f32, f32)>)>",
        ),
    ],
)
def test_an_accumulator_is_initialized_with_zeros(shape: str, struct: str) -> None:
    body = f"%c = nvgpu.warpgroup.mma.init.accumulator -> {accumulator(shape)}"
    assert lowered(body) == [f"%0 = llvm.mlir.zero : {struct}"]


@pytest.mark.requirement("R3-114")
def test_a_descriptor_is_loop_invariant() -> None:
    a, b, c = matrix("64x16xf16"), matrix("16x8xf16"), accumulator("64x8xf32")
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %start = nvgpu.warpgroup.mma.init.accumulator -> {c}
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> ({c}) {{
          {generate("a", "x", "64x16xf16")}
          {generate("b", "y", "16x8xf16")}
          %d = nvgpu.warpgroup.mma %a, %b, %acc : {a}, {b}, {c} -> {c}
          scf.yield %d : {c}
        }}
        nvgpu.warpgroup.mma.store %sum, %o : {c} to memref<64x8xf32, 1>
    """
    arguments = (
        "%n: index, %x: memref<64x16xf16, 3>, %y: memref<16x8xf16, 3>, %o: memref<64x8xf32, 1>"
    )
    text = kernel(body, arguments)
    module = convert(text, "licm")
    (loop,) = [op for op in module.walk() if op.name == "scf.for"]
    inside = [op.name for op in loop.walk()]
    assert "nvgpu.warpgroup.mma" in inside
    assert "nvgpu.warpgroup.generate.descriptor" not in inside
    # Without `licm`, LLVM hoists the shifts out of the loop.
    ptx = to_ptx(text)
    assert ptx.count("wgmma.mma_async") == 1
    head = ptx[: ptx.index("wgmma.mma_async")]
    loop_start = head.rindex("\n$L")
    assert "shr" not in head[loop_start:]
    assert "shr" in head[:loop_start] or "bfe" in head[:loop_start]


def test_a_descriptor_argument_serves_one_step() -> None:
    c = accumulator("64x8xf32")
    for k, expected in ((16, []), (32, ["nvgpu.warpgroup.mma"])):
        a, b = matrix(f"64x{k}xf16"), matrix(f"{k}x8xf16")
        text = kernel(
            f"%d = nvgpu.warpgroup.mma %a, %b, %c : {a}, {b}, {c} -> {c}",
            f"%a: {a}, %b: {b}, %c: {c}",
        )
        errors = failures(text)
        assert len(errors) == len(expected)
        assert all(name in message for name, message in zip(expected, errors, strict=True))


def test_a_transposed_operand_needs_a_swizzle() -> None:
    box = "memref<16x8xf16, 3>"
    map = (
        f"!nvgpu.tensormap.descriptor<tensor = {box}, swizzle = none, "
        "l2promo = none, oob = zero, interleave = none>"
    )
    a, b, c = matrix("64x16xf16"), matrix("16x8xf16"), accumulator("64x8xf32")
    body = f"""
        %b = nvgpu.warpgroup.generate.descriptor %y, %m : {box}, {map} -> {b}
        %d = nvgpu.warpgroup.mma %a, %b, %c FLAG : {a}, {b}, {c} -> {c}
    """
    text = kernel(body, f"%a: {a}, %y: {box}, %m: {map}, %c: {c}")
    assert failures(text.replace("FLAG", "")) == []
    with pytest.raises(UserError) as caught:
        convert(text.replace("FLAG", "{transposeB}"))
    message = "expected a tensor map with a swizzle for a transposed matrix"
    assert message in caught.value.render()


@pytest.mark.requirement("R3-059", "R3-060", "R3-097", "R3-115")
@pytest.mark.parametrize("name", ["f16", "s8", "plain", "rows", "transposed", "tensor_map"])
def test_results_of_mma_and_store(name: str) -> None:
    path = PROGRAMS / f"{name}.mlir"
    text = path.read_text()
    for each in parse_runs(text):
        check(each, text, path.name, emulate(each, text, path.name, seed=1))


@pytest.mark.requirement("R3-060")
@each_case(
    ("accumulated", "rows", "columns", "count"),
    [("f32", 64, 8, 4), ("f16", 64, 16, 8), ("i32", 128, 8, 8)],
)
def test_a_thread_stores_its_fragment(
    accumulated: str, rows: int, columns: int, count: int
) -> None:
    c = accumulator(f"{rows}x{columns}x{accumulated}")
    body = f"nvgpu.warpgroup.mma.store %d, %o : {c} to memref<{rows}x{columns}x{accumulated}, 1>"
    lines = lowered(body, f"%d: {c}, %o: memref<{rows}x{columns}x{accumulated}, 1>")
    stores = [line for line in lines if line.startswith("llvm.store")]
    assert len(stores) == count
    assert all(line.endswith(f": {accumulated}, !llvm.ptr<1>") for line in stores)


SHARED_MMA = """
builtin.module {
  gpu.module @m {
    gpu.func @k(%o: memref<64x8xf32, 1>)
        workgroup(%x: memref<64x16xf16, 3> {llvm.align = 128 : i64},
                  %y: memref<16x8xf16, 3> {llvm.align = 128 : i64}) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c8 = arith.constant 8 : index
      %t = gpu.thread_id x
      %one = arith.constant dense<1.0> : vector<8xf16>
      %single = arith.constant 1.0 : f16
      %k = arith.divui %t, %c8 : index
      %n = arith.remui %t, %c8 : index
      memref.store %single, %y[%k, %n] : memref<16x8xf16, 3>
      %c64 = arith.constant 64 : index
      %row = arith.remui %t, %c64 : index
      %right = arith.divui %t, %c64 : index
      %column = arith.muli %right, %c8 : index
      vector.store %one, %x[%row, %column] : memref<64x16xf16, 3>, vector<8xf16>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      BODY
      gpu.return
    }
  }
}
"""
MUTATIONS = {
    "no fence": (1, 2, 3),
    "no commit": (0, 1, 3),
    "no wait": (0, 1, 2),
    "fence after the mma": (1, 0, 2, 3),
    "commit before the mma": (0, 2, 1, 3),
    "wait before the commit": (0, 1, 3, 2),
    "wait before the mma": (0, 3, 1, 2),
}


def protocol_ptx() -> tuple[str, list[str]]:
    """PTX of an mma of ones, and its four instructions."""
    a, b, c = matrix("64x16xf16"), matrix("16x8xf16"), accumulator("64x8xf32")
    body = f"""
      {generate("a", "x", "64x16xf16", (1024, 128, "none"))}
      {generate("b", "y", "16x8xf16", (128, 128, "none"))}
      %c = nvgpu.warpgroup.mma.init.accumulator -> {c}
      %d = nvgpu.warpgroup.mma %a, %b, %c : {a}, {b}, {c} -> {c}
      nvgpu.warpgroup.mma.store %d, %o : {c} to memref<64x8xf32, 1>
    """
    ptx = to_ptx(SHARED_MMA.replace("BODY", body.strip()))
    steps = [line for line in ptx.splitlines() if line.strip().startswith("wgmma.")]
    return ptx, steps


def with_steps(order: tuple[int, ...]) -> str:
    """The same program with its instructions in another order, or without some."""
    ptx, steps = protocol_ptx()
    for index, step in enumerate(steps):
        ptx = ptx.replace(step, f"STEP{index}", 1)
    for index in range(len(steps)):
        ptx = ptx.replace(f"STEP{index}", steps[order[index]] if index < len(order) else "")
    return ptx


def test_the_correct_protocol() -> None:
    out = np.zeros((64, 8), np.float32)
    Module(with_steps((0, 1, 2, 3))).launch("k", 1, 128, [out])
    np.testing.assert_array_equal(out, np.full((64, 8), 16))


@pytest.mark.requirement("R3-099")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_missing_or_misplaced_step_is_reported(mutation: str) -> None:
    out = np.zeros((64, 8), np.float32)
    with pytest.raises(UserError, match="wgmma"):
        Module(with_steps(MUTATIONS[mutation])).launch("k", 1, 128, [out])
