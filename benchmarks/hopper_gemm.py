"""Time the GEMMs of tests/run/low/hopper_gemm on a GPU, beside hand-written ones and cuBLAS.

    python benchmarks/hopper_gemm.py PROTOTYPES [--sizes 8192 4096] [--repeat 9] [--launches 20]

compiles our programs and the kernels of PROTOTYPES (a folder with hopper-gemm and
hopper-gemm-plain, each with a build.py that writes LLVM IR), checks both against torch, and times
them alternately, so that throttling of the GPU affects all alike. It needs an H100 or H200, torch
and cuda.bindings.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "src")]

import tilewright  # noqa: E402
from tilewright.emit.cubin import assemble  # noqa: E402
from tilewright.target.arch import ARCHES  # noqa: E402

torch: Any = importlib.import_module("torch")
cuda: Any = importlib.import_module("cuda.bindings.driver")

PROGRAMS = _ROOT / "tests" / "run" / "low" / "hopper_gemm"
THREADS = 384
TILE = (128, 256)
DYNAMIC_SHARED = 229440
"""Shared memory of the prototypes with tensor maps as parameters; the others have their own."""
SHAPES = ((128, 256, 64), (512, 1024, 448), (1000, 1000, 1000), (333, 776, 4096))
TENSOR_MAP = 128


class Pair(NamedTuple):
    """A program of ours, and the prototype that does the same in the same way."""

    program: str
    folder: str
    prototype: str | None
    cluster: int = 1

    @property
    def transposed(self) -> bool:
        """Whether B is given as [N, K]."""
        return self.program.startswith("nt")

    @property
    def plain(self) -> bool:
        """Whether the kernel takes addresses instead of tensor maps."""
        return self.program.endswith("plain")


PAIRS = (
    Pair("nt", "hopper-gemm", "gemm_nt_c1"),
    Pair("nt_cluster", "hopper-gemm", "gemm_nt_c2", 2),
    Pair("nn", "hopper-gemm", "gemm_nn_c1"),
    # The prototype of this one computes a different function.
    Pair("nn_cluster", "hopper-gemm", None, 2),
    Pair("nt_plain", "hopper-gemm-plain", "gemm_nt_plain"),
    Pair("nn_plain", "hopper-gemm-plain", "gemm_nn_plain"),
)


def call(name: str, *arguments: Any) -> Any:
    """Call a function of the driver; failures are errors."""
    status, *results = getattr(cuda, name)(*arguments)
    if int(status):
        raise RuntimeError(f"{name}: {cuda.cuGetErrorName(status)[1].decode()}")
    return results[0] if len(results) == 1 else results


class Kernel:
    """A kernel on the GPU, and its resources according to ptxas."""

    def __init__(self, cubin: bytes, name: str, resources: Any, shared: int) -> None:
        self.resources = resources
        self.shared = shared
        self._module = call("cuModuleLoadData", cubin)
        self.function = call("cuModuleGetFunction", self._module, name.encode())
        if shared:
            limit = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("cuFuncSetAttribute", self.function, limit, shared)


def our_kernel(pair: Pair) -> Kernel:
    """Compile a program by the whole path."""
    compiled = tilewright.compile(PROGRAMS / f"{pair.program}.mlir", "sm_90")
    return Kernel(compiled.cubin, "gemm", compiled.entries["gemm"].resources, 0)


def prototype(pair: Pair, folder: Path) -> Kernel | None:
    """Compile the hand-written LLVM IR that a prototype's build script makes."""
    name = pair.prototype
    if name is None:
        return None
    script = folder / pair.folder / "build.py"
    spec = importlib.util.spec_from_file_location(pair.folder.replace("-", "_"), script)
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    options = {"layout": pair.program[:2]} | ({"cluster": 2} if pair.cluster > 1 else {})
    ptx = build.compile_ptx(build.gen(name, **options))[0]
    cubin = assemble(ptx, ARCHES["sm_90"])
    shared = 0 if pair.plain else DYNAMIC_SHARED
    return Kernel(cubin.data, name, cubin.entries[name], shared)


def encoded(tensor: Any, box: tuple[int, int]) -> Any:
    """The tensor map of a matrix, aligned as the driver asks; the box is rows by columns."""
    rows, columns = tensor.shape
    storage = ctypes.create_string_buffer(2 * TENSOR_MAP)
    start = -ctypes.addressof(storage) % 64
    map = (ctypes.c_char * TENSOR_MAP).from_buffer(storage, start)
    modes = (
        cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        cuda.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        cuda.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    status = ctypes.CDLL("libcuda.so.1").cuTensorMapEncodeTiled(
        ctypes.byref(map),
        int(cuda.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16),
        2,
        ctypes.c_void_p(tensor.data_ptr()),
        (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(2 * columns),
        (ctypes.c_uint32 * 2)(box[1], box[0]),
        (ctypes.c_uint32 * 2)(1, 1),
        *[int(mode) for mode in modes],
    )
    if status:
        raise RuntimeError(f"cuTensorMapEncodeTiled: error {status}")
    return map


class Gemm:
    """Matrices, and launches of kernels on them."""

    def __init__(self, pair: Pair, m: int, n: int, k: int) -> None:
        make = {"device": "cuda", "dtype": torch.bfloat16}
        self.shape = (m, n, k)
        self.a = torch.randn(m, k, **make)
        self.b = torch.randn(*((n, k) if pair.transposed else (k, n)), **make)
        self.c = torch.full((m, n), float("nan"), **make)
        self._right = self.b.t() if pair.transposed else self.b
        self._scratch = torch.empty_like(self.c)
        self._held = [*self._tensors(pair), *[ctypes.c_int32(size) for size in self.shape]]
        pointers = [ctypes.addressof(each) for each in self._held]
        self._arguments = (ctypes.c_void_p * len(pointers))(*pointers)
        tiles = -(-m // (TILE[0] * pair.cluster)) * -(-n // TILE[1])
        processors = torch.cuda.get_device_properties(0).multi_processor_count
        self._grid = min(tiles, processors // pair.cluster) * pair.cluster

    def _tensors(self, pair: Pair) -> Sequence[Any]:
        if pair.plain:
            return [ctypes.c_uint64(each.data_ptr()) for each in (self.a, self.b, self.c)]
        box_b = (256 // pair.cluster, 64) if pair.transposed else (64, 64)
        return [encoded(self.a, (128, 64)), encoded(self.b, box_b), encoded(self.c, (64, 64))]

    def run(self, kernel: Kernel) -> None:
        """Start a kernel."""
        grid, block = (self._grid, 1, 1), (THREADS, 1, 1)
        stream = torch.cuda.current_stream().cuda_stream
        arguments = ctypes.addressof(self._arguments)
        call("cuLaunchKernel", kernel.function, *grid, *block, kernel.shared, stream, arguments, 0)

    def run_cublas(self) -> None:
        """Start cuBLAS."""
        torch.matmul(self.a, self._right, out=self._scratch)

    def is_right(self, kernel: Kernel) -> bool:
        """Return whether a kernel computes the same bits as torch."""
        self.c.fill_(float("nan"))
        self.run(kernel)
        self.run_cublas()
        return bool(torch.equal(self.c, self._scratch))


def seconds(start: Callable[[], None], launches: int) -> float:
    """The time of one launch out of several in a row."""
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start()
    before.record()
    for _ in range(launches):
        start()
    after.record()
    torch.cuda.synchronize()
    return before.elapsed_time(after) / 1000 / launches


def speeds(gemm: Gemm, kernels: Sequence[Kernel | None], repeat: int, launches: int) -> Any:
    """Return TFLOP/s of each kernel and of cuBLAS: medians of alternating measurements."""
    starts: list[Callable[[], None]] = [
        (lambda kernel=kernel: gemm.run(kernel)) for kernel in kernels if kernel is not None
    ]
    starts.append(gemm.run_cublas)
    for start in starts:
        seconds(start, launches)
    times = [[seconds(start, launches) for start in starts] for _ in range(repeat)]
    m, n, k = gemm.shape
    rates = [2e-12 * m * n * k / median(column) for column in zip(*times, strict=True)]
    return rates if None not in kernels else [rates[0], None, rates[-1]]


def compare(pair: Pair, options: argparse.Namespace) -> bool:
    """Print the row of one pair; return whether all results are right."""
    ours, theirs = our_kernel(pair), prototype(pair, options.prototypes)
    right = all(
        Gemm(pair, *shape).is_right(kernel)
        for shape in (*SHAPES, *[(size,) * 3 for size in options.sizes])
        for kernel in (ours, theirs)
        if kernel is not None
    )
    used = ours.resources
    spills = used.spill_stores + used.spill_loads
    words = f"| {pair.program} | {used.registers} | {spills} | {'equal' if right else 'WRONG'} |"
    for size in options.sizes:
        gemm = Gemm(pair, size, size, size)
        mine, other, library = speeds(gemm, (ours, theirs), options.repeat, options.launches)
        share = "" if other is None else f"{mine / other:.3f}"
        other = "" if other is None else f"{other:.1f}"
        words += f" {mine:.1f} | {other} | {share} | {library:.1f} | {mine / library:.3f} |"
    print(words, flush=True)
    return right and not spills


def main() -> int:
    """Print a table, a row for each program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("prototypes", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=[8192, 4096])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--only", nargs="*", help="programs to run, by name")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    columns = ["program", "registers", "spill bytes", "results"]
    for size in options.sizes:
        columns += [f"{size}^3: ours", "prototype", "of it", "cuBLAS", "of it"]
    print(f"{torch.cuda.get_device_name(0)}, TFLOP/s")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    chosen = [pair for pair in PAIRS if not options.only or pair.program in options.only]
    return 0 if all([compare(pair, options) for pair in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
