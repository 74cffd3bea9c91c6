"""Tensor maps as parameters: read from programs, carried by results and cubins, bound at launch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from compiled_once import lowered_to
from specialized_programs import Gemm
from tma_store_programs import StoredGemm

import tilewright
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.compile import Compilation, Observers
from tilewright.driver.map_parameters import KEPT, MapArguments, bind_maps
from tilewright.driver.settings import Settings
from tilewright.driver.signatures import signature_of
from tilewright.emit.note import read_map_parameters, read_note
from tilewright.runtime.signature import Parameter, Signature
from tilewright.support.identity import identity
from tilewright.support.tensor_map_parameters import (
    KERNEL,
    OUT_OF_BOUNDS,
    PARAMETERS,
    Argument,
    BoundTensor,
    TensorMapParameter,
    from_json,
    to_json,
)
from tilewright.target.arch import ARCHES

GEMM: Final = Gemm(tile=(64, 64, 64)).persistent()
A: Final = TensorMapParameter(
    "f16", (64, 64), Argument(0), (Argument(5), Argument(3)), (Argument(5),), 128
)
"""The map of A of the kernel: m x k, row-major."""
B: Final = A._replace(address=Argument(1), sizes=(Argument(4), Argument(5)), strides=(Argument(4),))
DESCRIPTOR: Final = (
    "!nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = swizzle_128b, "
    "l2promo = none, oob = zero, interleave = none>"
)


def test_maps_of_a_gemm(ptxas: Path) -> None:
    """What the program says of its views; the note of the cubin has it too."""
    made = tilewright.compile(GEMM, "sm_90", schedule="agents=1", tensor_maps=PARAMETERS)
    assert made.map_parameters == {"k": (A, B)}
    assert read_map_parameters(made.cubin) == {"k": (A, B)}
    note = read_note(made.cubin)
    assert note is not None
    assert note.digest == identity()


def test_maps_of_other_compilations(ptxas: Path) -> None:
    """Without the option, and without TMA, kernels have the arguments of the program alone."""
    for agents, tensor_maps in ((1, KERNEL), (0, PARAMETERS)):
        made = tilewright.compile(
            GEMM, "sm_90", schedule=f"agents={agents}", tensor_maps=tensor_maps
        )
        assert (made.map_parameters, read_map_parameters(made.cubin)) == ({}, {})
        assert ".align 64" not in made.ptx.partition("{")[0]


def test_results_keep_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        made = tilewright.compile(
            GEMM, "sm_90", emit="ptx", schedule="agents=1", tensor_maps=PARAMETERS, cache=True
        )
        assert made.map_parameters == {"k": (A, B)}
    result = CompilationResult.of("sm_90", "", None, [], {"k": (A,), "other": (B, A)})
    again = CompilationResult.unpack(result.pack())
    assert again.map_parameters == {"k": (A,), "other": (B, A)}


def test_text() -> None:
    map = TensorMapParameter("u8", (16,), Argument(1), (64,), (), 0, 32, nan=True, l2_promotion=128)
    maps = {"a": (A, map), 'b "quoted"': (B,)}
    assert from_json(to_json(maps)) == maps


def test_a_program_that_begins_at_nvgpu() -> None:
    """The text of a level has all that is needed to go on from there, and to launch."""
    whole = tilewright.compile(
        GEMM, "sm_90", emit="ptx", schedule="agents=1", tensor_maps=PARAMETERS
    )
    for level in ("nvgpu", "nvvm"):
        made = tilewright.compile(whole.stages[level], "sm_90", emit="ptx")
        assert made.map_parameters == {"k": (A, B)}
        assert len(signature_of(made.program, "k").parameters) == 8


def test_a_program_that_begins_at_nv_tileas() -> None:
    """Maps that a hand-written producer creates become parameters, too."""
    text = lowered_to("nv_tileas", GEMM, schedule="agents=1")
    assert "create_tensor_maps" in text
    made = tilewright.compile(text, "sm_90", emit="ptx", tensor_maps=PARAMETERS)
    assert made.map_parameters == {"k": (A, B)}


@pytest.mark.parametrize(
    ("arguments", "tensor", "message"),
    [
        ("%x: i64", "address = arg0, sizes = [8, 64], strides = [64]", "last parameters for each"),
        ("%x: i64, M", "address = arg1, sizes = [8, 64], strides = [64]", "argument 1, which"),
        ("%x: i32, M", "address = arg0, sizes = [8, 64], strides = [64]", "expected an address"),
        ("%x: i64, %y: f32, M", "address = arg0, sizes = [arg1, 64], strides = [64]", "argument 1"),
        ("%x: i64, M", "address = arg0, sizes = [8, 64], strides = [arg7]", "argument 7, which"),
    ],
)
def test_maps_that_do_not_match_their_kernel(arguments: str, tensor: str, message: str) -> None:
    signature = arguments.replace("M", f"%map: {DESCRIPTOR}, %offset: i32")
    text = f"""gpu.module @m {{
      gpu.func @k({signature}) kernel attributes {{known_block_size = array<i32: 32, 1, 1>,
          cute_nvgpu.map_parameters = [#cute_nvgpu.map_parameter<{DESCRIPTOR}, {tensor}>]}} {{
        gpu.return
      }}
    }}"""
    with pytest.raises(tilewright.UserError, match=message):
        tilewright.compile(text, "sm_90", emit="ptx")


SIZE = GEMM.replace("shape = [%m, %k]", "shape = [%m2, %k]").replace(
    "%at = make", "%m2 = addi %m, %one : tile<i32>\n    %at = make"
)
"""A size is computed."""
_STORED_GEMM = StoredGemm(Gemm(tile=(64, 128, 32)))
STORED = _STORED_GEMM.persistent(f"{_STORED_GEMM.converted()}\n{_STORED_GEMM.store()}")
"""C can be stored by TMA."""


@pytest.mark.parametrize(("text", "schedule", "reason"), [
    (SIZE, "agents=1", "a size or stride is neither an argument nor a constant"),
    (STORED, "agents=1,tma-stores=1", "another agent gets a map through a pipeline"),
])  # fmt: skip
def test_a_kernel_that_encodes_its_maps_says_why(text: str, schedule: str, reason: str) -> None:
    settings = Settings(ARCHES["sm_90"], schedule=schedule, tensor_maps=PARAMETERS)
    observers = Observers(remarks=True)
    compilation = Compilation(tilewright.read(text), settings, observers)
    ptx = compilation.to("ptx")
    assert isinstance(ptx, str)
    assert "tensormap.replace" in ptx
    assert compilation.map_parameters == {}
    (remark,) = [each for each in observers.sink.remarks if each.name == "RemarkTensorMaps"]
    assert reason in remark.message


class Launch:
    """A launch of a kernel whose arguments are an address and two numbers."""

    def __init__(self, address: int, columns: int, rows: int, stride: int) -> None:
        sizes = [("i64", 64), ("i64", 64), ("i32", 32), ("i32", 32)]
        parameters = [
            Parameter(f"argument {n} of '@k'", type, type, bits, is_pointer=not n)
            for n, (type, bits) in enumerate(sizes)
        ]
        self.signature = Signature("k", parameters)
        numbers = zip((address, columns, rows, stride), (8, 8, 4, 4), strict=True)
        self.passed = [
            number.to_bytes(size, "little", signed=number < 0) for number, size in numbers
        ]

    def parameters(self) -> tuple[bytes, ...]:
        """What is passed for `MAP`."""
        return MapArguments([MAP], self.signature, encoded).of(tuple(self.passed))


def encoded(map: TensorMapParameter, tensor: BoundTensor) -> bytes:
    """A stand-in for the encoder of a device."""
    return b"map of %d" % tensor.address


MAP: Final = TensorMapParameter(
    "f32", (32, 8, 1), Argument(0), (Argument(1), Argument(2), 3), (Argument(3), 4), 128
)


def test_binding() -> None:
    launch = Launch(0x1000, 100, 7, 104)
    (tensor,) = bind_maps([MAP], launch.signature, launch.passed)
    assert tensor == (0x1000, (100, 7, 3), (416, 16), 0)
    assert launch.parameters() == (b"map of 4096", bytes(4))


@pytest.mark.parametrize(("columns", "rows"), [(0, 7), (100, 0)])
def test_binding_an_empty_tensor(columns: int, rows: int) -> None:
    """No extent is 0."""
    launch = Launch(0, columns, rows, 104)
    (tensor,) = bind_maps([MAP], launch.signature, launch.passed)
    assert tensor.sizes == (columns or 1, rows or 1, 3)
    assert launch.parameters() == (b"map of 0", OUT_OF_BOUNDS.to_bytes(4, "little"))


@pytest.mark.parametrize("columns", [(1 << 32) - 1, 1 << 32, (1 << 32) + 64, 1 << 40])
def test_large_extents_saturate(columns: int) -> None:
    """They have 32 bits, as in a kernel that encodes maps."""
    launch = Launch(0x1000, columns, 7, 104)
    (tensor,) = bind_maps([MAP], launch.signature, launch.passed)
    assert tensor.sizes == ((1 << 32) - 1, 7, 3)
    assert tensor.offset == 0


def test_arguments_are_bound_once() -> None:
    tensors: list[BoundTensor] = []

    def encode(map: TensorMapParameter, tensor: BoundTensor) -> bytes:
        tensors.append(tensor)
        return b""

    launches = [Launch(16 * number, 100, 7, 104) for number in range(KEPT + 1)]
    arguments = MapArguments([MAP], launches[0].signature, encode)
    for launch in (*launches, launches[-1], launches[0]):
        arguments.of(tuple(launch.passed))
    # The first is forgotten after as many others.
    assert [tensor.address for tensor in tensors] == [16 * n for n in range(KEPT + 1)] + [0]


def test_binding_unsigned_numbers() -> None:
    launch = Launch(0x1000, 100, -1, -4)
    (tensor,) = bind_maps([MAP], launch.signature, launch.passed)
    assert tensor == (0x1000, (100, (1 << 32) - 1, 3), (4 * ((1 << 32) - 4), 16), 0)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (Launch(0x1008, 100, 7, 104), "argument 0 of '@k': .* divisible by 16, .* got 0x1008"),
        (Launch(0x1000, 100, 7, 102), "argument 0 of '@k': .* divisible by 16 bytes, .* got 408"),
    ],
)
def test_binding_what_tma_cannot_copy(launch: Launch, message: str) -> None:
    """Hand-written programs need not assume what TMA needs."""
    with pytest.raises(tilewright.UserError, match=message):
        list(bind_maps([MAP], launch.signature, launch.passed))


def test_only_two_encoders() -> None:
    with pytest.raises(ValueError, match="expected tensor maps of"):
        tilewright.compile(GEMM, "sm_90", tensor_maps="host")
