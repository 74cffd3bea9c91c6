"""Tensor maps as parameters on a GPU: the driver's encoding, and kernels that copy through it."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_programs import MAP_CASES, WORDS, MapCase

import tilewright
from tilewright.driver.launch import Plan, start
from tilewright.driver.signatures import signature_of
from tilewright.runtime.device import current_gpu
from tilewright.runtime.tensor_maps import encode_map
from tilewright.support.tensor_map_parameters import ELEMENT_BYTES

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
GEMM = (ROOT / "tests" / "run" / "kernels" / "persistent_gemm.mlir").read_text()
BOX_BYTES_WORD = 16
"""The word of a tensor map in which the driver writes the bytes of a box."""
ALIGNMENT_WORD = 18
"""The word in which some drivers write how a box is aligned in shared memory, and others zero."""


@pytest.fixture(autouse=True)
def needs_hopper() -> None:
    if current_gpu().arch != "sm_90":
        pytest.skip("kernels copy by TMA on sm_90 alone")


def kernel_words(case: MapCase) -> list[int]:
    """The words of a map that a kernel encodes."""
    made = tilewright.compile(case.text, "sm_90")
    device, words = current_gpu(), np.zeros(WORDS, np.uint32)
    with device.current():
        out = device.upload(words)
        tilewright.launch(made, "encode", 1, [*case.arguments, out])
        device.synchronize()
        device.download(out, words)
        device.free(out)
    return words.tolist()


@pytest.mark.parametrize("case", [pytest.param(each) for each in MAP_CASES])
def test_the_driver_encodes_what_a_kernel_does(case: MapCase) -> None:
    with current_gpu().current():
        words = np.frombuffer(encode_map(case.parameter, case.tensor), np.uint32)
    encoded = list(zip(words.tolist(), kernel_words(case), strict=True))
    # The driver also writes the bytes of a box and its alignment, which no instruction sets.
    by_driver, by_kernel = encoded.pop(ALIGNMENT_WORD)
    atom = 8 * case.parameter.swizzle or 16
    assert by_driver in (0, atom)
    assert by_kernel == 0
    by_driver, by_kernel = encoded.pop(BOX_BYTES_WORD)
    bytes = prod(case.parameter.box) * ELEMENT_BYTES[case.parameter.element]
    assert (by_driver, by_kernel) == (bytes, 0)
    assert [f"{word:#x}" for word, _ in encoded] == [f"{word:#x}" for _, word in encoded]


def compiled(tensor_maps: str) -> tilewright.CompiledModule:
    made = tilewright.compile(GEMM, "sm_90", tensor_maps=tensor_maps)
    assert bool(made.map_parameters) == (tensor_maps == "parameters")
    return made


class Matrices:
    """A and B of small integers, so that every order of summation is exact."""

    def __init__(self, m: int, n: int, k: int, dtype: Any = np.float16) -> None:
        random = np.random.default_rng(m + n + k)
        self.a, self.b = (random.integers(-2, 3, shape).astype(dtype) for shape in ((m, k), (k, n)))
        self.sizes = m, n, k

    def run(self, kernel: tilewright.CompiledModule, entry: str) -> np.ndarray[Any, Any]:
        """C as a kernel computes it, with more blocks than tiles or fewer."""
        m, n, _ = self.sizes
        c = np.full((m, n), 99, self.a.dtype)
        tilewright.launch(kernel, entry, 7, [self.a, self.b, c, *self.sizes])
        return c

    @property
    def expected(self) -> np.ndarray[Any, Any]:
        """C as NumPy computes it."""
        return self.a.astype(np.float32) @ self.b.astype(np.float32)


@pytest.mark.parametrize("entry", ["f16", "tf32"])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(136, 144, 80), (512, 1024, 448), (1, 16, 16), (2000, 1008, 16)]
)
def test_gemm(entry: str, m: int, n: int, k: int) -> None:
    matrices = Matrices(m, n, k, np.float16 if entry == "f16" else np.float32)
    by_launcher = matrices.run(compiled("parameters"), entry)
    np.testing.assert_array_equal(by_launcher, matrices.expected.astype(by_launcher.dtype))
    np.testing.assert_array_equal(by_launcher, matrices.run(compiled("kernel"), entry))


def test_execute() -> None:
    matrices = Matrices(300, 272, 96)
    c = np.zeros((300, 272), np.float16)
    tilewright.execute(GEMM, "f16", 3, [matrices.a, matrices.b, c, 300, 272, 96], on="gpu")
    np.testing.assert_array_equal(c, matrices.expected.astype(np.float16))


def test_a_cubin_alone() -> None:
    """What is launched says itself which maps it needs: `Plan` reads the note of the cubin."""
    made, matrices = compiled("parameters"), Matrices(136, 144, 80)
    threads = made.entries["f16"].resources.threads
    assert threads is not None
    signature = signature_of(tilewright.read(GEMM), "f16")
    plan = Plan(signature, "sm_90", bytes(bytearray(made.cubin)), threads)
    c = np.zeros((136, 144), np.float16)
    start(plan, 2, [matrices.a, matrices.b, c, 136, 144, 80], None)
    np.testing.assert_array_equal(c, matrices.expected.astype(np.float16))


@pytest.mark.parametrize("k", [0, 64])
def test_empty_tensors_and_null_pointers(k: int) -> None:
    """Without rows there are no tiles; without K, no copies: the result is zero."""
    c = np.full((128, 128), 99, np.float16)
    kernel = compiled("parameters")
    tilewright.launch(kernel, "f16", 2, [None, None, c, 0, 128, k])
    assert (c == 99).all()
    tilewright.launch(kernel, "f16", 2, [None, None, c, 128, 128, 0])
    assert (c == 0).all()


def test_tensors_of_torch_are_encoded_once() -> None:
    torch = pytest.importorskip("torch")
    kernel = compiled("parameters")
    a, b = (torch.randint(-4, 5, size, device="cuda").half() for size in ((512, 320), (320, 384)))
    c = torch.zeros(512, 384, device="cuda", dtype=torch.half)
    before = encode_map.cache_info().misses
    for _ in range(5):
        tilewright.launch(kernel, "f16", 12, [a, b, c, 512, 384, 320])
    assert encode_map.cache_info().misses - before <= 2
    assert torch.equal(c, (a.float() @ b.float()).half())


def test_a_graph_keeps_its_maps() -> None:
    """Parameters are copied when a launch is captured, maps included."""
    torch = pytest.importorskip("torch")
    kernel = compiled("parameters")
    a, b = (torch.randint(-4, 5, (256, 256), device="cuda").half() for _ in "ab")
    c, d = (torch.zeros(256, 256, device="cuda", dtype=torch.half) for _ in "cd")
    tilewright.launch(kernel, "f16", 4, [a, b, c, 256, 256, 256])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tilewright.launch(kernel, "f16", 4, [a, b, c, 256, 256, 256])
        tilewright.launch(kernel, "f16", 4, [b, a, d, 256, 256, 256])
    c.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(c, (a.float() @ b.float()).half())
    assert torch.equal(d, (b.float() @ a.float()).half())


@pytest.mark.parametrize("stride", [0, 16, 1 << 20])
def test_strides_of_rows_that_repeat_or_overlap(stride: int) -> None:
    """The hardware takes them. If the driver does not, the kernel encodes its maps as before."""
    text = GEMM.replace("%k: tile<i32>) {", "%k: tile<i32>, %lda0: tile<i32>) {", 1)
    text = text.replace("%at =", "%lda = assume div_by<16>, %lda0 : tile<i32>\n    %at =", 1)
    text = text.replace("strides = [%inner, 1]", "strides = [%lda, 1]", 1)
    memory = np.random.default_rng(1).integers(-2, 3, 1 << 22).astype(np.float16)
    b = Matrices(16, 128, 80).b
    rows = 3 if stride > 1 << 16 else 200
    a = np.stack([memory[row * stride : row * stride + 80] for row in range(rows)])
    c = np.zeros((rows, 128), np.float16)
    tilewright.execute(text, "f16", 2, [memory, b, c, rows, 128, 80, stride], on="gpu")
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(c.dtype))
