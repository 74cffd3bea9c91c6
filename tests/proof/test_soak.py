"""Short forms of `tools/soak.py`: nothing is left of a compilation, threads do not interfere."""

from __future__ import annotations

import gc
from collections import Counter

import pytest
from soak import compile_at_once, growth, ptx_of, slope

import tilewright
from tilewright.ir import attributes

OPERATIONS = ("addi", "muli", "andi", "ori", "xori", "subi", "maxi", "mini")


def tiny(number: int) -> str:
    """A kernel whose name, constant and operations are its own."""
    name = OPERATIONS[number % len(OPERATIONS)]
    suffix = " signed" if name in ("maxi", "mini") else ""
    return (
        f"entry @k{number}(%p: tile<ptr<i32>>, %n: tile<i32>) {{\n"
        f"  %c = constant <i32: {1000 + number}> : tile<i32>\n"
        f"  %x = {name} %n, %c{suffix} : tile<i32>\n"
        "  %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token\n"
        "  return\n}\n"
    )


def living() -> Counter[str]:
    """The objects of our classes, by class, and the attributes that are known."""
    gc.collect()
    kinds = Counter(
        type(each).__qualname__
        for each in gc.get_objects()
        if str(type(each).__module__).startswith("tilewright")
    )
    kinds["attributes in the pool"] = len(attributes._pool)
    return kinds


def compile_some() -> None:
    for number in range(8):
        tilewright.compile(tiny(number), "sm_90", emit="ptx")
    with pytest.raises(tilewright.UserError):
        tilewright.compile(tiny(1).replace("%c :", "%d :"), "sm_90")


def test_compilations_leave_no_objects() -> None:
    # The caches of the compiler, which are bounded, have what these programs add to them.
    compile_some()
    before = living()
    compile_some()
    assert living() - before == Counter()


def test_threads_do_not_interfere() -> None:
    programs = [tiny(number) for number in range(16)]
    together = compile_at_once(programs)
    assert [f"k{number}" in ptx for number, ptx in enumerate(together)] == [True] * 16
    assert together == [ptx_of(program) for program in programs]


def test_growth_of_the_second_half_counts() -> None:
    rising = [(count, 50.0 + count / 500) for count in range(0, 10_000, 500)]
    assert slope(rising) == pytest.approx(2.0)
    assert growth([size for _, size in rising]) == pytest.approx(69 / 59)
    settled = [(count, min(50.0 + count, 80.0)) for count in range(0, 10_000, 500)]
    assert slope(settled) == pytest.approx(0.0)
    assert growth([100.0, 160.0, 100.0, 110.0, 158.0]) < 1.0
