"""A hint `occupancy` that would make a kernel spill is relaxed, as far as ptxas demands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from scratch_programs import kernel, whole

import tilewright
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.driver.back_end import BackEnd
from tilewright.driver.compile import Compilation, Observers, target
from tilewright.driver.settings import Settings
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr
from tilewright.ir.types import I1, I64
from tilewright.testing.generate.program import generate

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

ATTENTION: Final = Path(__file__).parents[2] / "run" / "kernels" / "attention_rows.mlir"
TILES = 5
"""Of 2048 elements, each of which takes 16 registers of the 128 threads: all are live together."""


def program(occupancy: int, hints: str = "sm_90") -> str:
    """Subtract the largest element of the first tile from every tile."""
    views = [whole(f"a{n}", (2048,), "f32") for n in range(TILES)]
    outputs = [whole(f"b{n}", (2048,), "f32") for n in range(TILES)]
    tile = views[0].tile_type
    lines = ["%sum0 = addf %x0, %x0 : " + tile]
    for n in range(1, TILES):
        lines.append(f"%sum{n} = mulf %sum{n - 1}, %x{n} : {tile}")
    lines.append(
        f"%most = reduce %sum{TILES - 1} dim=0 identities=[0.0 : f32] : {tile} -> tile<f32> "
        "(%l: tile<f32>, %r: tile<f32>) { %m = maxf %l, %r : tile<f32> yield %m : tile<f32> }\n"
        "%m1 = reshape %most : tile<f32> -> tile<1xf32>\n"
        f"%all = broadcast %m1 : tile<1xf32> -> {tile}"
    )
    lines += [f"%y{n} = subf %x{n}, %all : {tile}" for n in range(TILES)]
    text = kernel([*views, *outputs], "\n".join(lines), [f"%y{n}" for n in range(TILES)])
    asked = f" optimization_hints=<{hints} = {{num_worker_warps_per_cta = 4, occupancy = "
    return text.replace(") {", f"){asked}{occupancy}}}> {{", 1) if occupancy else text


def give_hints(op: Operation, hints: dict[str, Attribute]) -> None:
    """Give an operation these hints instead of its own."""
    op.attributes["optimization_hints"] = OptimizationHintsAttr({"default": DictionaryAttr(hints)})


def blocks_of(ptx: str) -> list[int]:
    """For how many blocks ptxas limits registers, for each kernel."""
    return [int(number) for number in re.findall(r"\.minnctapersm (\d+)", ptx)]


@pytest.mark.parametrize("hints", ["sm_90", "default"])
def test_a_hint_that_spills_is_relaxed(hints: str) -> None:
    module = tilewright.compile(program(16, hints))
    resources = module.entries["k"].resources
    assert (resources.spill_stores, resources.spill_loads) == (0, 0)
    # 16 blocks of 128 threads leave 32 registers of a thread, and the tiles alone take 80.
    (blocks,) = blocks_of(module.ptx)
    assert 1 < blocks < 16
    assert resources.occupancy is not None
    assert resources.occupancy >= blocks


def test_a_hint_without_spills_is_held() -> None:
    module = tilewright.compile(program(3))
    assert blocks_of(module.ptx) == [3]


def test_ptx_is_that_of_the_cubin() -> None:
    text = program(16)
    assert tilewright.compile(text, emit="ptx").ptx == tilewright.compile(text).ptx


def test_without_ptxas_ptx_is_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "/nowhere/ptxas")
    assert blocks_of(tilewright.compile(program(16), emit="ptx").ptx) == [16]


def test_ptxas_does_not_run_for_ptx_of_one_block_on_an_sm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackEnd, "trial_cubin", lambda _: pytest.fail("ptxas ran"))
    tilewright.compile(program(0), emit="ptx")
    tilewright.compile(program(1), emit="ptx")


def test_a_hint_that_spills_for_want_of_shared_memory_is_relaxed() -> None:
    """Two blocks of 128 threads have 255 registers each, as one has, but only two stages each."""
    module = tilewright.read(ATTENTION.read_text())
    for op in module.walk():
        if op.name == "cuda_tile.entry":
            entry = {"num_cta_in_cga": 2, "num_worker_warps_per_cta": 4, "occupancy": 2}
            give_hints(op, {name: IntegerAttr(value, I64) for name, value in entry.items()})
        elif op.name == "cuda_tile.load_view_tko":
            give_hints(op, {"allow_tma": IntegerAttr(0, I1)})
    compilation = Compilation(module.clone(), Settings(target("sm_90")), source=module.clone)
    compilation.to("cubin")
    assert compilation.cubin is not None
    assert compilation.cubin.entries["full"].spill_stores == 0


@pytest.mark.parametrize("is_specified", [False, True])
def test_the_hint_of_an_nv_tileaa_kernel_is_relaxed(is_specified: bool) -> None:
    """There it is what is asked, or in text by hand part of the specification of the kernel."""
    text = tilewright.compile(program(16), emit="ptx").stages["nv_tileaa"]
    asked = "warps = <4, entry>, occupancy = <16, entry>"
    assert f", nv_tileaa.asked = #nv_tileaa.asked<{asked}>" in text
    if is_specified:
        text = text.replace(f", nv_tileaa.asked = #nv_tileaa.asked<{asked}>", "")
        text = text.replace("kernel_spec<>", "kernel_spec<num_warps = 4, occupancy = 16>")
        assert "asked" not in text
    module = tilewright.compile(text)
    assert module.entries["k"].resources.spill_stores == 0
    assert blocks_of(module.ptx) != [16]


def test_other_kernels_keep_their_hints() -> None:
    spilling = program(16)
    other = "entry @other() optimization_hints=<sm_90 = {occupancy = 16}> { return }"
    module = tilewright.compile(spilling.replace("@m {", f"@m {{ {other} ", 1))
    assert set(module.entries) == {"k", "other"}
    kept, relaxed = blocks_of(module.ptx)
    assert kept == 16
    assert relaxed < 16


def test_one_remark_says_what_was_relaxed() -> None:
    module = tilewright.read(program(16))
    observers = Observers(remarks=True)
    settings = Settings(target("sm_90"))
    compilation = Compilation(module.clone(), settings, observers, source=module.clone)
    compilation.to("cubin")
    (remark,) = [each for each in observers.sink.remarks if each.id == "occupancy-relaxed"]
    (blocks,) = blocks_of(compilation.ptx)
    assert re.fullmatch(
        rf"Occupancy 16 relaxed to {blocks}: above it, a thread spills \d+ bytes", remark.message
    )
    assert remark.function == "k"
    # Those of compilations that were given up are gone.
    loads = [each for each in observers.sink.remarks if each.id == "load-selected"]
    assert len(loads) == TILES


def test_a_hint_for_more_blocks_than_threads_fit_is_relaxed() -> None:
    """ptxas ignores a limit of 16 blocks of 512 threads, but then saves registers by spilling."""
    views = {"a": "i64", "b": "f16"}
    made = "\n".join(
        f"%{name}v = make_tensor_view %{name}, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> "
        f"tensor_view<?x?x{element}, strides=[?,1]>\n"
        f"%{name}p = make_partition_view %{name}v : partition_view<tile=(128x128), "
        f"tensor_view<?x?x{element}, strides=[?,1]>>"
        for name, element in views.items()
    )
    text = f"""cuda_tile.module @m {{
      entry @k(%a: tile<ptr<i64>>, %b: tile<ptr<f16>>, %n: tile<i32>)
          optimization_hints=<default = {{occupancy = 16, num_worker_warps_per_cta = 16}}> {{
        %0 = constant <i32: 0> : tile<i32>
        {made}
        %x, %t = load_view_tko weak %ap[%0, %0] : partition_view<tile=(128x128),
          tensor_view<?x?xi64, strides=[?,1]>>, tile<i32> -> tile<128x128xi64>, token
        %y = itof %x unsigned : tile<128x128xi64> -> tile<128x128xf16>
        %s = atomic_red_view_tko relaxed device %bp[%0, %0], addf, %y : tile<128x128xf16>,
          partition_view<tile=(128x128), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> token
        return
      }}
    }}"""
    resources = tilewright.compile(text).entries["k"].resources
    assert resources.threads == (512, 1, 1)
    assert resources.spill_stores == 0


def test_a_choice_of_one_warp_and_many_blocks_is_relaxed() -> None:
    """Threads compute 8-bit integers in registers of 32 bits, which the choice does not expect."""
    views = [whole(name, (1, 2048), "i8") for name in ("a", "b")]
    tile = views[0].tile_type
    compute = f"""%all = reduce %x0 dim=1 identities=[0 : i8] : {tile} -> tile<1xi8>
      (%l: tile<i8>, %r: tile<i8>) {{ %s = addi %l, %r : tile<i8> yield %s : tile<i8> }}
    %a1 = reshape %all : tile<1xi8> -> tile<1x1xi8>
    %a2 = broadcast %a1 : tile<1x1xi8> -> {tile}
    %y = addi %a2, %x0 : {tile}"""
    module = tilewright.compile(kernel(views, compute, ["%y"]))
    resources = module.entries["k"].resources
    assert resources.threads == (32, 1, 1)
    assert resources.spill_stores == 0
    (blocks,) = blocks_of(module.ptx)
    assert 1 < blocks < 32


def test_the_limit_of_a_lower_level_is_no_hint() -> None:
    """A program of nvvm says itself how many blocks are to be resident."""
    text = tilewright.compile(program(16), emit="ptx").stages["nvvm"]
    module = tilewright.compile(text)
    assert blocks_of(module.ptx) == [16]
    assert module.entries["k"].resources.spill_stores > 0


@pytest.mark.parametrize("seed", [58, 69, 119])
@pytest.mark.sampled(1)
def test_random_programs_spill_no_more_with_the_hint(seed: int) -> None:
    plain = re.sub(r" optimization_hints=<default = {occupancy = \d+}>", "", generate(seed).text)
    hint = " optimization_hints=<default = {occupancy = 16}> {"
    hinted = plain.replace(") {", f"){hint}", 1)
    assert hint in hinted
    spills = [
        tilewright.compile(text).entries["kernel"].resources.spill_stores
        for text in (plain, hinted)
    ]
    assert spills == [0, 0]
