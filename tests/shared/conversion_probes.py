"""Probes of `cvt`, in every direction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from probe_operands import FLOATS, INTEGERS, each, probe
from ptx_probes import Probe

MODES = ("rn", "rz", "rm", "rp")
TO_INTEGRAL = ("rni", "rzi", "rmi", "rpi")


def conversion_probes() -> Iterator[Probe]:
    """`cvt`."""
    for to, of in itertools.product(INTEGERS, INTEGERS):
        yield probe(f"cvt.{to}.{of}", to, of)
        if not _holds(to, of):
            yield probe(f"cvt.sat.{to}.{of}", to, of)
    yield from _integers_and_floats()
    yield from _float_conversions()
    yield from _half_conversions()
    yield from _narrow_conversions()
    for to in ("u16", "s16"):
        yield probe(f"cvt.pack.sat.{to}.s32", "b32", "s32 s32")
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield probe(f"cvt.pack.sat.{to}.s32.b32", "b32", "s32 s32 b32")


def _integers_and_floats() -> Iterator[Probe]:
    for integer, float in itertools.product(INTEGERS, FLOATS):
        if float == "bf16" and integer in ("u8", "s8"):
            continue
        for mode in TO_INTEGRAL:
            yield probe(f"cvt.{mode}.{integer}.{float}", integer, float)
        if float != "bf16":
            yield probe(f"cvt.rzi.sat.{integer}.{float}", integer, float)
        for mode in MODES:
            yield probe(f"cvt.{mode}.{float}.{integer}", float, integer)
    yield from each("cvt.rni.ftz.{t}.f32 cvt.rpi.ftz.sat.{t}.f32", INTEGERS, "{t}", "f32")
    yield from each("cvt.rn.sat.f32.{t} cvt.rz.sat.f16.{t}", INTEGERS, "f32", "{t}")


def _holds(to: str, of: str) -> bool:
    """Return whether an integer type represents all values of another: `.sat` is invalid."""
    capacity, needed = int(to[1:]) - (to[0] == "s"), int(of[1:]) - (of[0] == "s")
    return capacity >= needed and (of[0] == "u" or to[0] == "s")


def _float_conversions() -> Iterator[Probe]:
    for to, of in (("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f64")):
        for mode in MODES if to != "bf16" else ("rn",):
            yield probe(f"cvt.{mode}.{to}.{of}", to, of)
            if to != "bf16":
                yield probe(f"cvt.{mode}.sat.{to}.{of}", to, of)
    for mode in MODES:
        yield probe(f"cvt.{mode}.ftz.f16.f32", "f16", "f32")
        yield probe(f"cvt.{mode}.ftz.sat.f32.f64", "f32", "f64")
        yield probe(f"cvt.{mode}.bf16.f32", "bf16", "f32")
        yield probe(f"cvt.{mode}.bf16.f16", "bf16", "f16")
        yield probe(f"cvt.{mode}.f16.bf16", "f16", "bf16")
    for to, of in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16"),
                   ("f64", "bf16")):  # fmt: skip
        yield probe(f"cvt.{to}.{of}", to, of)
        if of != "bf16":
            yield probe(f"cvt.sat.{to}.{of}", to, of)
    yield from each("cvt.ftz.{t}.f16 cvt.ftz.{t}.bf16", ("f32",), "{t}", "f16")
    yield from each("cvt.ftz.f64.{t}", ("f32",), "f64", "{t}")
    for type, mode in itertools.product(FLOATS, TO_INTEGRAL):
        yield probe(f"cvt.{mode}.{type}.{type}", type, type)
    yield from each("cvt.sat.{t}.{t} cvt.rni.sat.{t}.{t}", ("f16", "f32", "f64"), "{t}", "{t}")
    yield from each("cvt.ftz.{t}.{t} cvt.rzi.ftz.{t}.{t} cvt.ftz.sat.{t}.{t}", ("f32",), "{t}",
                    "{t}")  # fmt: skip


def _half_conversions() -> Iterator[Probe]:
    extras = ("", ".relu", ".satfinite", ".relu.satfinite")
    for mode, extra in itertools.product(("rn", "rz"), extras):
        for to in ("f16", "bf16"):
            if extra:
                yield probe(f"cvt.{mode}{extra}.{to}.f32", to, "f32")
            yield probe(f"cvt.{mode}{extra}.{to}x2.f32", f"{to}x2", "f32 f32")
        if "satfinite" not in extra:
            yield probe(f"cvt.{mode}{extra}.tf32.f32", "b32", "f32")
    yield probe("cvt.rna.tf32.f32", "b32", "f32")
    yield probe("cvt.rna.satfinite.tf32.f32", "b32", "f32")


def _narrow_conversions() -> Iterator[Probe]:
    for type, relu in itertools.product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield probe(f"cvt.rn.satfinite{relu}.{type}.f32", "b16", "f32 f32")
        yield probe(f"cvt.rn.satfinite{relu}.{type}.f16x2", "b16", "f16x2")
        yield probe(f"cvt.rn{relu}.f16x2.{type}", "b32", type)
