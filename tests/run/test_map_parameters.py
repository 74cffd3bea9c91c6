"""Tensor maps that the launcher passes, on the emulator: as those that the kernel encodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from compiled_once import CompiledKernel
from compiled_once import compiled as compiled_once
from programs import parse_runs
from repeats import keep_first
from specialized_programs import Gemm

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import encode_map, run_ptx
from tilewright.driver.map_parameters import MapArguments, bind_maps
from tilewright.driver.signatures import isolate_kernel, signature_of
from tilewright.ptxsim import Module
from tilewright.support.tensor_map_parameters import KERNEL, MAP_BYTES, OUT_OF_BOUNDS, PARAMETERS

Array = np.ndarray[Any, Any]
PERSISTENT: Final = Path(__file__).parent / "kernels" / "persistent_gemm.mlir"
ENCODING: Final = ("tensormap.", "_tensor_maps", "fence.proxy.tensormap")
"""What PTX of a kernel has that encodes tensor maps."""


def compiled(text: str, tensor_maps: str, schedule: str = "agents=1") -> CompiledKernel:
    made = compiled_once(text, schedule=schedule, tensor_maps=tensor_maps)
    encodes = [each in made.ptx.replace("prefetch.param.tensormap", "") for each in ENCODING]
    assert encodes == [tensor_maps == KERNEL] * len(ENCODING)
    return made


def run(
    text: str, entry: str, grid: int, arguments: list[Any], tensor_maps: str, **how: str
) -> None:
    made = compiled(text, tensor_maps, **how)
    maps = made.map_parameters.get(entry, ())
    assert bool(maps) == (tensor_maps == PARAMETERS)
    module = read_runnable(text, "kernel.mlir")
    run_ptx(made.ptx, module, entry, (grid, 1, 1), arguments, maps=maps, check=True, seed=1)


@pytest.mark.parametrize("number", keep_first([0, 1]), ids=["f16", "tf32"])
def test_persistent_gemm(number: int) -> None:
    """The same bits either way, in a kernel that is specialized without being forced."""
    case = parse_runs(PERSISTENT.read_text())[number]
    assert case.entry is not None
    text = str(isolate_kernel(read_runnable(PERSISTENT.read_text(), PERSISTENT.name), case.entry))
    results: list[Array] = []
    for tensor_maps in (KERNEL, PARAMETERS):
        values = case.values()
        run(text, case.entry, 2, list(values.values()), tensor_maps, schedule="")
        results.append(values["c"])
    by_kernel, by_launcher = results
    np.testing.assert_array_equal(by_launcher, by_kernel)
    assert np.count_nonzero(by_kernel)


class Operands:
    """A, B and C of `Gemm`: small integers, so that every order of summation is exact."""

    def __init__(self, m: int, n: int, k: int) -> None:
        numbers = np.random.default_rng(3)
        self.sizes = m, n, k
        self.a: Array = numbers.integers(-2, 3, (m, k)).astype(np.float16)
        self.b: Array = numbers.integers(-2, 3, (k, n)).astype(np.float16)

    def arguments(self, tiles: int, steps: int) -> list[Any]:
        # An empty array has no address.
        a, b = (each if each.size else np.zeros(16, each.dtype) for each in (self.a, self.b))
        return [a, b, np.full((256, 256), 99, np.float32), *self.sizes, tiles, steps]

    def expected(self, tiles: int) -> Array:
        m, n, _ = self.sizes
        c: Array = np.full((256, 256), 99, np.float32)
        c[: 64 * tiles, :64] = 0
        rows = min(64 * tiles, m)
        c[:rows, :n] = self.a[:rows].astype(np.float32) @ self.b.astype(np.float32)
        return c


@pytest.mark.parametrize(
    ("m", "n", "k"),
    keep_first(
        [(200, 48, 80), (0, 64, 64), (64, 0, 64), (64, 64, 0), (1, 16, 16), (128, 64, 64)], 4
    ),
)
def test_ragged_and_empty(m: int, n: int, k: int) -> None:
    operands = Operands(m, n, k)
    arguments = operands.arguments(2, 3)
    run(Gemm().persistent(), "k", 1, arguments, PARAMETERS)
    np.testing.assert_array_equal(arguments[2], operands.expected(2))


def test_one_tile() -> None:
    operands = Operands(64, 64, 208)
    arguments = operands.arguments(1, 7)
    run(Gemm().one_shot(), "k", 1, arguments, PARAMETERS)
    np.testing.assert_array_equal(arguments[2], operands.expected(1))


def test_null_pointers_of_tensors_that_are_not_copied() -> None:
    c = np.full((256, 256), 99, np.float32)
    run(Gemm().persistent(), "k", 1, [None, None, c, 64, 64, 64, 0, 3], PARAMETERS)
    assert (c == 99).all()


def test_execute_passes_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiles and launches uses parameters without being asked; cp.async needs no maps."""
    seen: list[int] = []

    def record(maps: Any, signature: Any, passed: Any) -> Any:
        seen.append(len(maps))
        return bind_maps(maps, signature, passed)

    monkeypatch.setattr("tilewright.driver.map_parameters.bind_maps", record)
    operands = Operands(128, 128, 64)
    c = np.zeros((128, 128), np.float16)
    arguments = [operands.a, operands.b, c, 128, 128, 64]
    tilewright.execute(PERSISTENT, "f16", 1, arguments, on="emulator", check=True)
    np.testing.assert_array_equal(c, operands.a.astype(np.float32) @ operands.b.astype(np.float32))
    one_shot = Operands(64, 64, 64)
    tilewright.execute(Gemm().one_shot(), "k", 1, one_shot.arguments(1, 2), on="emulator")
    assert seen == [2, 0]


@pytest.mark.parametrize(
    ("index", "wrong", "message"),
    [
        (0, np.zeros(65, np.float16)[1:], "argument 0 of '@k': .* address divisible by 16"),
        (5, 72, "argument 5 of '@k': .* divisible by 16, .* got 72"),
    ],
)
def test_what_maps_cannot_describe(index: int, wrong: Any, message: str) -> None:
    """The assumptions of the program, without which TMA would not be chosen, are checked first."""
    arguments = Operands(64, 64, 64).arguments(1, 1)
    arguments[index] = wrong
    with pytest.raises(tilewright.UserError, match=message):
        run(Gemm().persistent(), "k", 1, arguments, PARAMETERS)


GEMMS: Final = [Gemm(), Gemm("f32", precision="tf32"), Gemm("i8", (64, 64, 64))]


@pytest.mark.parametrize("gemm", keep_first(map(pytest.param, GEMMS), 2))
@pytest.mark.parametrize("sizes", keep_first(map(pytest.param, [(200, 48, 80), (0, 64, 32)])))
def test_host_and_kernel_encode_the_same_bytes(gemm: Gemm, sizes: tuple[int, int, int]) -> None:
    """The kernel's maps are read from its slot after the launch."""
    text = gemm.persistent()
    module = Module(compiled(text, KERNEL).ptx)
    element = {"f16": np.float16, "f32": np.float32, "i8": np.int8}[gemm.element]
    a, b, c = (module.upload(np.zeros(1 << 16, kind)) for kind in (element, element, np.float32))
    module.launch("k", 1, 1, [a, b, c, *sizes, 1, 1])
    slot = module.memory.download(module.variable("k_tensor_maps"), 1024 * 96 * 4)
    rows = slot.reshape(1024, -1)
    (used,) = rows[rows.any(axis=1)]

    maps = compiled(text, PARAMETERS).map_parameters["k"]
    signature = signature_of(read_runnable(text, "k.mlir"), "k")
    numbers = [each.to_bytes(4, "little") for each in (*sizes, 1, 1)]
    passed = [int(each).to_bytes(8, "little") for each in (a, b, c)] + numbers
    parameters = MapArguments(maps, signature, encode_map).of(tuple(passed))
    kernels = {used[start : start + MAP_BYTES].tobytes() for start in (0, MAP_BYTES)}
    assert set(parameters[::2]) == kernels
    assert len(kernels) == 2
    offsets = [int.from_bytes(each, "little") for each in parameters[1::2]]
    assert offsets == [0 if sizes[0] else OUT_OF_BOUNDS, 0]
