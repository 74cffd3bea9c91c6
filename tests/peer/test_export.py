"""Kernels of cuTile Python at every bytecode version, through us into NVIDIA's compiler."""

from __future__ import annotations

import subprocess
from io import BytesIO
from pathlib import Path

import pytest
from corpus_checks import peer_text
from repeats import keep, keep_every

import tilewright
from tilewright.driver.disassembly import disassemble
from tilewright.driver.pipelines import level_pipeline
from tilewright.ir.equivalence import equivalent
from tilewright.ir.verifier import verify

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

pytestmark = pytest.mark.peer

VERSIONS = ("13.1", "13.2", "13.3", "13.4")
ConstInt = ct.Constant[int]


@ct.kernel
def vector_add(a, b, c, size: ConstInt):
    at = ct.bid(0)
    added = ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,))
    ct.store(c, (at,), added)


@ct.kernel
def matmul(a, b, c, rows: ConstInt, columns: ConstInt, k_size: ConstInt):
    accumulator = ct.full((rows, columns), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(rows, k_size))):
        left = ct.load(a, (ct.bid(0), k), (rows, k_size), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (k, ct.bid(1)), (k_size, columns), padding_mode=ct.PaddingMode.ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, (ct.bid(0), ct.bid(1)), ct.astype(accumulator, c.dtype))


@ct.kernel
def softmax(x, y, size: ConstInt):
    row = ct.load(x, (ct.bid(0), 0), (1, size))
    shifted = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (ct.bid(0), 0), shifted / ct.sum(shifted, axis=1, keepdims=True))


@ct.kernel
def reverse(x, y, size: ConstInt):
    lanes = ct.arange(size, dtype=ct.int32)
    values = ct.gather(x, size - 1 - lanes, padding_value=7)
    ct.scatter(y, lanes, ct.where(values > 0, values, -values))


@ct.kernel
def histogram(x, counts, size: ConstInt):
    values = ct.load(x, (ct.bid(0),), (size,))
    ct.atomic_add(counts, values & 15, 1)
    ct.atomic_max(counts, values % 16, ct.bid(0))


@ct.kernel
def compare_and_swap(locks, size: ConstInt):
    lanes = ct.arange(size, dtype=ct.int32)
    before = ct.atomic_cas(locks, lanes, 0, 1)
    ct.scatter(locks, lanes, before + 1)


@ct.kernel
def prefix_sum(x, y, size: ConstInt):
    values = ct.load(x, (0, 0), (size, size))
    scanned = ct.cumsum(values, axis=1)
    ct.store(y, (0, 0), ct.transpose(scanned) + ct.cumsum(values, axis=0, reverse=True))


@ct.kernel
def collatz(x, y):
    n = ct.gather(x, 0)
    steps = 0
    while True:
        if n == 1:
            break
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    ct.scatter(y, 0, steps)


@ct.kernel
def conversions(x, y, size: ConstInt):
    values = ct.load(x, (0,), (size,))
    small = ct.astype(values, ct.float16)
    whole = ct.astype(ct.floor(small), ct.int32)
    bits = ct.bitcast(values, ct.int32) >> 23
    mixed = ct.astype(whole ^ bits, ct.float32)
    ct.store(y, (0,), ct.sqrt(ct.abs(mixed)) * ct.rsqrt(1.0 + values * values))


@ct.kernel
def angles(x, y):
    values = ct.load(x, (0,), (64,))
    ct.store(y, (0,), ct.atan2(values, 1.0 + values))


def array(dtype, rank: int):
    """An array of any size whose last dimension is contiguous."""
    return ct.compilation.ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(*[None] * (rank - 1), 1),
        base_addr_divisible_by=16,
    )


F32, F16, I32 = ct.float32, ct.float16, ct.int32
KERNELS = {
    "vector_add": (vector_add, [array(F32, 1), array(F32, 1), array(F32, 1), 256]),
    "matmul_f16": (matmul, [array(F16, 2), array(F16, 2), array(F32, 2), 64, 64, 32]),
    "matmul_bf16": (
        matmul,
        [array(ct.bfloat16, 2), array(ct.bfloat16, 2), array(ct.bfloat16, 2), 128, 64, 64],
    ),
    "softmax": (softmax, [array(F32, 2), array(F32, 2), 128]),
    "reverse": (reverse, [array(I32, 1), array(I32, 1), 64]),
    "histogram": (histogram, [array(I32, 1), array(I32, 1), 128]),
    "compare_and_swap": (compare_and_swap, [array(I32, 1), 32]),
    "prefix_sum": (prefix_sum, [array(F32, 2), array(F32, 2), 16]),
    "collatz": (collatz, [array(I32, 1), array(I32, 1)]),
    "conversions": (conversions, [array(F32, 1), array(F32, 1), 128]),
    "angles": (angles, [array(F32, 1), array(F32, 1)]),
}
SINCE = {"angles": "13.2"}
CASES = [
    (name, version)
    for name in KERNELS
    for version in VERSIONS
    if version >= SINCE.get(name, "13.1")
]


def export(name: str, version: str) -> bytes:
    """Export the bytecode of a kernel by cuTile Python."""
    kernel, parameters = KERNELS[name]
    convention = ct.compilation.CallingConvention.cutile_python_v1()
    signature = ct.compilation.KernelSignature(parameters, convention)
    output = BytesIO()
    ct.compilation.export_kernel(
        kernel,
        [signature],
        output,
        gpu_code="sm_90",
        output_format="tileir_bytecode",
        bytecode_version=version,
    )
    return output.getvalue()


def compile_with_tileiras(folder: Path, nvidia_tools: Path, data: bytes) -> int:
    """Compile bytecode by NVIDIA's compiler and return the size of the cubin."""
    source, target = folder / "kernel.tileirbc", folder / "kernel.cubin"
    source.write_bytes(data)
    command = [str(nvidia_tools / "tileiras"), str(source), "-o", str(target)]
    done = subprocess.run(
        [*command, "--gpu-name", "sm_90"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target.stat().st_size


@pytest.mark.parametrize(("name", "version"), keep_every(CASES, 5))
@pytest.mark.sampled(3)
def test_exported_kernel(name: str, version: str, tmp_path: Path, nvidia_tools: Path) -> None:
    original = export(name, version)
    assert original[8:10] == bytes(map(int, version.split(".")))
    module = tilewright.read(original, name=name)
    assert disassemble(module) == peer_text(original)
    ours = tilewright.write_bytecode(module, version)
    assert ours[8:10] == original[8:10]
    assert equivalent(module, tilewright.read(ours, name=name))
    assert peer_text(ours, "-g") == peer_text(original, "-g")
    assert compile_with_tileiras(tmp_path, nvidia_tools, ours) > 1000


@pytest.mark.parametrize("name", keep_every(list(KERNELS), 3))
def test_optimized_kernel(name: str, tmp_path: Path, nvidia_tools: Path) -> None:
    module = tilewright.read(export(name, "13.4"))
    pipeline = level_pipeline(3)
    assert pipeline is not None
    pipeline.run(module)
    verify(module)
    data = tilewright.write_bytecode(module)
    assert peer_text(data) == disassemble(module)
    assert compile_with_tileiras(tmp_path, nvidia_tools, data) > 1000


def test_features_that_an_old_version_lacks() -> None:
    module = tilewright.read(export("angles", "13.4"))
    with pytest.raises(tilewright.UserError, match=r"atan2.* 13\.2"):
        tilewright.write_bytecode(module, "13.1")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.sampled(1)
def test_our_example_compiles(version: str, tmp_path: Path, nvidia_tools: Path) -> None:
    module = tilewright.read(Path(__file__).parents[2] / "examples" / "gemm.mlir")
    data = tilewright.write_bytecode(module, version)
    assert compile_with_tileiras(tmp_path, nvidia_tools, data) > 1000


@pytest.mark.parametrize("version", keep(VERSIONS, VERSIONS[-1].__eq__))
@pytest.mark.parametrize("name", ["matmul_f16", "collatz", "softmax", "prefix_sum"])
def test_text_to_bytecode_compiles(
    name: str, version: str, tmp_path: Path, nvidia_tools: Path
) -> None:
    text = disassemble(tilewright.read(export(name, version)))
    data = tilewright.write_bytecode(tilewright.read(text), version)
    assert peer_text(data) == text
    assert compile_with_tileiras(tmp_path, nvidia_tools, data) > 1000
