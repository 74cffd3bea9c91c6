"""Layout conversions within warps by shuffles: run for random layouts and types."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import tilewright
from tilewright.layout.gf2 import rank
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.transfer import is_shuffled, transfer
from tilewright.ptxsim import Module

WARP_BITS = 1


def random_layout(random: Random, bits: int, replicas: int) -> Layout:
    """A layout whose warps hold the upper half and the lower half of a tile."""
    own = bits - WARP_BITS
    registers = own - 5 + replicas
    while True:
        vectors = [random.randrange(1, 1 << own) for _ in range(own)]
        if rank(vectors) == own:
            break
    lanes = vectors[registers:] + [0] * replicas
    random.shuffle(lanes)
    inputs = [(REGISTER, vectors[:registers]), (LANE, lanes), (WARP, [1 << own])]
    return Layout(inputs, (1 << bits,))


def pairs(seed: int, bits: int) -> tuple[Layout, Layout]:
    """Return two layouts whose conversion shuffles."""
    random = Random(seed)
    while True:
        layouts = [random_layout(random, bits, random.choice((0, 0, 1))) for _ in range(2)]
        if is_shuffled(transfer(layouts[0], layouts[1])):
            return layouts[0], layouts[1]


def spelled(layout: Layout) -> str:
    parts = [f"{name} = {[[v] for v in vectors]}" for name, vectors in layout.inputs]
    return f"#nv_tileas.layout<[{layout.size}], {', '.join(parts)}>"


def program(source: Layout, wanted: Layout, element: str, convert: str) -> str:
    count = source.size
    one, two = (spelled(each) for each in (source, wanted))
    numbers = "%r" if element == "i32" else "%n"
    return f"""
      gpu.module @kernels attributes {{
          nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>}} {{
        nv_tileaa.func @k(%p: !nv_tileaa.ptr<{element}>) attributes {{
            kernel_spec = #nv_tileaa.kernel_spec<num_warps = {1 << WARP_BITS}>}} {{
          %r = nv_tileas.make_range : tensor<{count}xi32, {one}>
          {convert.format(f"tensor<{count}xi32, {one}> to tensor<{count}x{element}, {one}>")}
          %m = nv_tileas.convert_layout {numbers}
            : tensor<{count}x{element}, {one}> -> tensor<{count}x{element}, {two}>
          %b = nv_tileas.splat %p
            : !nv_tileaa.ptr<{element}> -> tensor<{count}x!nv_tileaa.ptr<{element}>, {two}>
          %o = nv_tileas.make_range : tensor<{count}xi32, {two}>
          %a = nv_tileaa.addptr %b, %o
            : tensor<{count}x!nv_tileaa.ptr<{element}>, {two}>, tensor<{count}xi32, {two}>
          %t = nv_tileas.store weak %a, %m
            : tensor<{count}x!nv_tileaa.ptr<{element}>, {two}>, tensor<{count}x{element}, {two}>
          nv_tileaa.return
        }}
      }}"""


TYPES = {
    "i32": ("", np.int32),
    "i16": ("%n = nv_tileaa.trunci %r : {}", np.int16),
    "i64": ("%n = nv_tileaa.exti %r signed : {}", np.int64),
    "i8": ("%n = nv_tileaa.trunci %r : {}", np.int8),
}


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("bits", [6, 7, 8, 9])
@pytest.mark.sampled(3)
def test_every_element_arrives(element: str, bits: int) -> None:
    convert, dtype = TYPES[element]
    for seed in range(4):
        source, wanted = pairs(seed, bits)
        text = program(source, wanted, element, convert)
        compiled = tilewright.compile(text, arch="sm_80")
        assert "shfl.sync.idx" in compiled.ptx
        assert "bar.sync" not in compiled.ptx
        array = np.zeros(1 << bits, dtype)
        Module(compiled.ptx).launch("k", (1, 1, 1), (32 << WARP_BITS, 1, 1), [array], check=True)
        assert np.array_equal(array, np.arange(1 << bits).astype(dtype))
