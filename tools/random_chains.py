"""Compare random loops with dots in a row, rotated or not, with the reference executor.

    python tools/random_chains.py --count 200 [--schedule rotate=1]

Each program is like attention: P is computed from Q @ K, with or without a running maximum, a mask,
a second dot or a conversion of K from int8, and P @ V is accumulated, where the accumulator may be
scaled before or after. One or two loops have random bounds and steps; they may run no iteration.
The second may go on where the first ends, with a mask in one of them. The numbers of keys may be
near 2**31 and 2**32. It is compiled under a random schedule and run on the emulator with its race,
proxy and barrier checks, in two orders of warps.
All numbers are small integers, so that every order of summation gives the same result, bit for bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from pipeline_views import Views, random_views

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.progress import progress

ORDERS: Final = (1, 2)
ROTATED: Final = ("rotate=1", "rotate=1,stages=2", "rotate=1,agents=0")
SCHEDULES: Final = ("", *ROTATED, "rotate=0")
SHAPES: Final = (
    *((16, 16, 16), (64, 32, 32), (128, 64, 32), (128, 128, 64), (128, 64, 64)),
    (64, 128, 128),
)
"""Queries, keys of an iteration, and elements of a head. Of 128 queries, two warpgroups compute. Of
the last shape, two blocks on an SM have memory for three tiles of K and V."""
MOST_TILES: Final = 5
"""Of keys."""
START: Final = "%acc = %none, %top = %lowest"
"""What loops carry, and the values before the first iteration."""
LIMIT: Final = 2
"""Of the elements of P, which are exact in f16."""


class Chain(NamedTuple):
    """A random program and its schedule."""

    arch: str
    schedule: str
    shape: tuple[int, int, int]
    keys: int
    """The number of keys, which may end within a tile."""
    first: int
    """The first tile of the first loop."""
    step: int
    split: int
    """The end of the first loop, where a second one starts; none if it is negative."""
    converted: bool
    """Whether K and V are int8 in memory."""
    transposed: bool
    """Whether K is contiguous along keys."""
    second: bool
    """Whether P depends on a second dot."""
    masked: bool
    maximum: bool
    """Whether a running maximum is carried."""
    scaled: str
    """Where the accumulator is negated: `before` or `after` the last dot; nothing if it is not."""
    occupancy: int
    """The number of blocks on an SM that it asks for; 0 for none."""
    continues: bool
    """Whether a second loop goes on where the first ends, as `loop-split` makes them. The mask, if
    there is one, is then in one of them."""
    masks_first: bool
    """Whether it is in the first."""
    views: Views
    """Of K and V."""

    @property
    def loaded(self) -> str:
        """The element type of K and V in memory."""
        return "i8" if self.converted else "f16"


def random_chain(seed: int) -> Chain:
    """The program of a seed."""
    pick = random.Random(seed)
    shape = pick.choice(SHAPES)
    keys = pick.choice((1, shape[1] // 16, 16)) * pick.randrange(0, 5) * 16
    return Chain(
        pick.choice(("sm_90", "sm_90", "sm_80")),
        pick.choice(SCHEDULES),
        shape,
        keys if keys <= 4 * shape[1] else 3 * shape[1] - 16,
        pick.choice((0, 0, 0, 1)),
        pick.choice((1, 1, 1, 2)),
        pick.choice((-1, -1, 0, 1, 2)),
        pick.random() < 0.2,
        pick.random() < 0.3,
        pick.random() < 0.2,
        pick.random() < 0.3,
        pick.random() < 0.5,
        pick.choice(("", "before", "before", "after")),
        pick.choice((0, 2)),
        pick.random() < 0.6,
        pick.random() < 0.2,
        random_views(pick, (shape[1], shape[0], shape[1]), MOST_TILES)._replace(k=0),
    )


def text_of(chain: Chain) -> str:
    """The program as Tile IR text."""
    m, n, d = chain.shape
    element = chain.loaded
    asked = f"optimization_hints=<sm_90 = {{occupancy = {chain.occupancy}}}> "
    hints = asked if chain.occupancy else ""
    k_strides = "[1,?]" if chain.transposed else f"[{d},1]"
    stride = ", %stride" if chain.transposed else ""
    types = f"(tile<{m}x{d}xf32>, tile<{m}xf32>)"
    if chain.split < 0:
        text = _loop(chain, "%first to %count", types)
    else:
        ends = ("%before", "%after") if chain.continues else ("%split", "%split")
        masks = (chain.masks_first, not chain.masks_first) if chain.continues else (True, True)
        parts = [chain._replace(masked=chain.masked and each) for each in masks]
        text = _loop(parts[0], f"%first to {ends[0]}", types).replace("%o, %t =", "%o0, %t0 =")
        later = _loop(parts[1], f"{ends[1]} to %count", types)
        text += "\n    " + later.replace(START, "%acc = %o0, %top = %t0")
    step = "constant <i32: 1>" if chain.continues else "assume bounded<1, ?>, %step0"
    k_shape = f"[%all_keys, {d}], strides = {'[1, %key_step]' if stride else f'[{d}, 1]'}"
    views, aligned = chain.views, "assume div_by<16>,"
    skipped = views.rows * n
    return f"""
!q = !cuda_tile.tensor_view<{m}x{d}xf16, strides=[{d},1]>
!qv = !cuda_tile.partition_view<tile=({m}x{d}), {_view(f"{m}x{d}xf16", f"[{d},1]")}>
!k = !cuda_tile.tensor_view<?x{d}x{element}, strides={k_strides}>
!kv = !cuda_tile.partition_view<tile=({n}x{d}), padding_value = zero,
    {_view(f"?x{d}x{element}", k_strides)}>
!v = !cuda_tile.tensor_view<?x{d}x{element}, strides=[{d},1]>
!vv = !cuda_tile.partition_view<tile=({n}x{d}), padding_value = zero,
    {_view(f"?x{d}x{element}", f"[{d},1]")}>
!o = !cuda_tile.tensor_view<{m}x{d}xf32, strides=[{d},1]>
!ov = !cuda_tile.partition_view<tile=({m}x{d}), {_view(f"{m}x{d}xf32", f"[{d},1]")}>
!m = !cuda_tile.tensor_view<{m}xf32, strides=[1]>
!mv = !cuda_tile.partition_view<tile=({m}), {_view(f"{m}xf32", "[1]")}>
cuda_tile.module @m {{
  entry @k(%q0: tile<ptr<f16>>, %k0: tile<ptr<{element}>>, %v0: tile<ptr<{element}>>,
           %o0p: tile<ptr<f32>>, %m0p: tile<ptr<f32>>, %length: tile<i32>, %first: tile<i32>,
           %step0: tile<i32>, %split: tile<i32>) {hints}{{
    %zero = constant <i32: 0> : tile<i32>
    %width = constant <i32: {n}> : tile<i32>
    %step = {step} : tile<i32>
    %positive = assume bounded<0, ?>, %length : tile<i32>
    %keys = assume div_by<16>, %positive : tile<i32>
    %stride = assume div_by<16>, %keys : tile<i32>
    %qp = assume div_by<16>, %q0 : tile<ptr<f16>>
    %kp = assume div_by<16>, %k0 : tile<ptr<{element}>>
    %vp = assume div_by<16>, %v0 : tile<ptr<{element}>>
    %qt = make_tensor_view %qp, shape = [{m}, {d}], strides = [{d}, 1] : !q
    %qv = make_partition_view %qt : !qv
    %one = constant <i32: 1> : tile<i32>
    %head = constant <i32: {d}> : tile<i32>
    {views.cast("left", "%zero")}
    {views.cast("key_step", "%stride")}
    {views.size("all_keys", "%keys", skipped, chain.keys)}
    {views.base("ks", f"{aligned} %kp", element, [(skipped, "%one" if stride else "%head")])}
    {views.base("vs", f"{aligned} %vp", element, [(skipped, "%head")])}
    %kt = make_tensor_view %ks, shape = {k_shape} : tile<{views.type}> -> !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %vs, shape = [%all_keys, {d}], strides = [{d}, 1]
        : tile<{views.type}> -> !v
    %vv = make_partition_view %vt : !vv
    %ot = make_tensor_view %o0p, shape = [{m}, {d}], strides = [{d}, 1] : !o
    %ov = make_partition_view %ot : !ov
    %mt = make_tensor_view %m0p, shape = [{m}], strides = [1] : !m
    %mv = make_partition_view %mt : !mv
    %count = divi %keys, %width signed rounding<positive_inf> : tile<i32>
    %before = mini %count, %split signed : tile<i32>
    %after = maxi %first, %split signed : tile<i32>
    %scoreless = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %least = constant <f32: -{LIMIT}.0> : tile<{m}x{n}xf32>
    %most = constant <f32: {LIMIT}.0> : tile<{m}x{n}xf32>
    %none = constant <f32: 0.0> : tile<{m}x{d}xf32>
    %lowest = constant <f32: -1000.0> : tile<{m}xf32>
    %lanes = iota : tile<{n}xi32>
    %across = reshape %lanes : tile<{n}xi32> -> tile<1x{n}xi32>
    %columns = broadcast %across : tile<1x{n}xi32> -> tile<{m}x{n}xi32>
    %query, %tq = load_view_tko weak %qv[%zero, %zero] : !qv, tile<i32>
        -> tile<{m}x{d}xf16>, token
    {text}
    %x = store_view_tko weak %o, %ov[%zero, %zero] : tile<{m}x{d}xf32>, !ov, tile<i32> -> token
    %y = store_view_tko weak %t, %mv[%zero] : tile<{m}xf32>, !mv, tile<i32> -> token
    return
  }}
}}"""


def _loop(chain: Chain, bounds: str, types: str) -> str:
    loop = f"%o, %t = for %j in ({bounds}, step %step) : tile<i32> iter_values({START})"
    return f"{loop} -> {types} {{{_body(chain)}}}"


def _view(shape: str, strides: str) -> str:
    return f"tensor_view<{shape}, strides={strides}>"


def _load(chain: Chain, name: str, view: str) -> str:
    """Load a tile of K or V, and convert it if it is not f16."""
    _, n, d = chain.shape
    raw = f"%{name}8" if chain.converted else f"%{name}"
    tile = f"tile<{n}x{d}x{chain.loaded}>"
    type = f"!{view}, tile<{chain.views.type}> -> {tile}, token"
    load = f"{raw}, %token_{name} = load_view_tko weak %{view}[%at, %left] : {type}"
    if chain.converted:
        load += f"\n      %{name} = itof {raw} signed : {tile} -> tile<{n}x{d}xf16>"
    return load


def _body(chain: Chain) -> str:
    """An iteration: P from Q @ K, the running maximum, and P @ V."""
    m, n, d = chain.shape
    scores, head = f"tile<{m}x{n}xf32>", f"tile<{m}x{d}xf32>"
    left, right = f"tile<{m}x{d}xf16>", f"tile<{d}x{n}xf16>"
    lines = [
        chain.views.tile_index("at", "%j", chain.views.rows, MOST_TILES),
        _load(chain, "key", "kv"),
        f"%turned = permute %key [1, 0] : tile<{n}x{d}xf16> -> {right}",
        f"%s0 = mmaf %query, %turned, %scoreless : {left}, {right}, {scores}",
        f"%s1 = maxf %s0, %least : {scores}",
        f"%s2 = minf %s1, %most : {scores}",
    ]
    last = "%s2"
    if chain.second:
        lines += [
            f"%double = addf %query, %query : {left}",
            f"%d0 = mmaf %double, %turned, %scoreless : {left}, {right}, {scores}",
            f"%d1 = maxf %d0, %least : {scores}",
            f"%d2 = minf %d1, %s2 : {scores}",
        ]
        last = "%d2"
    if chain.masked:
        lines += [
            "%from = muli %j, %width : tile<i32>",
            "%fr = reshape %from : tile<i32> -> tile<1x1xi32>",
            f"%froms = broadcast %fr : tile<1x1xi32> -> tile<{m}x{n}xi32>",
            f"%number = addi %froms, %columns : tile<{m}x{n}xi32>",
            "%er = reshape %split : tile<i32> -> tile<1x1xi32>",
            f"%ends = broadcast %er : tile<1x1xi32> -> tile<{m}x{n}xi32>",
            f"%seen = cmpi greater_than %number, %ends, signed : tile<{m}x{n}xi32>"
            f" -> tile<{m}x{n}xi1>",
            f"%masked = select %seen, {last}, %least : tile<{m}x{n}xi1>, {scores}",
        ]
        last = "%masked"
    higher = "%top"
    if chain.maximum:
        lines += [
            f"%here = reduce {last} dim=1 identities=[-1000.0 : f32] : {scores} -> tile<{m}xf32>",
            "(%a: tile<f32>, %b: tile<f32>) {",
            "  %r = maxf %a, %b : tile<f32>",
            "  yield %r : tile<f32>",
            "}",
            f"%higher = maxf %top, %here : tile<{m}xf32>",
        ]
        higher = "%higher"
    acc, result = "%acc", "%o1"
    if chain.scaled == "before":
        lines.append(f"%negated = negf %acc : {head}")
        acc = "%negated"
    lines += [
        _load(chain, "value", "vv"),
        f"%p = ftof {last} : {scores} -> tile<{m}x{n}xf16>",
        f"%o1 = mmaf %p, %value, {acc} : tile<{m}x{n}xf16>, tile<{n}x{d}xf16>, {head}",
    ]
    if chain.scaled == "after":
        lines.append(f"%o2 = negf %o1 : {head}")
        result = "%o2"
    lines.append(f"continue {result}, {higher} : {head}, tile<{m}xf32>")
    return "".join(f"\n      {line}" for line in lines) + "\n    "


def arguments_of(chain: Chain, seed: int) -> list[Any]:
    """Matrices of small integers, results to overwrite, and the bounds."""
    numbers = np.random.default_rng(seed)
    m, _, d = chain.shape
    dtype = np.int8 if chain.converted else np.float16
    q = numbers.integers(-1, 2, (m * d,)).astype(np.float16)
    size = max(chain.keys * d, 16)
    k, v = (numbers.integers(-1, 2, (size,)).astype(dtype) for _ in range(2))
    o, top = np.full(m * d, 99, np.float32), np.full(m, 99, np.float32)
    return [q, k, v, o, top, chain.keys, chain.first, chain.step, max(chain.split, 0)]


def problem(seed: int, *, schedule: str = "") -> str | None:
    """What is wrong with the compiled program of a seed; nothing if all is well."""
    chain = random_chain(seed)
    if schedule:
        chain = chain._replace(schedule=schedule)
    try:
        module = read_runnable(text_of(chain), f"seed{seed}.mlir")
        expected = arguments_of(chain, seed)
        tilewright.execute(module, "k", (1, 1, 1), expected)
        made = tilewright.compile(module, chain.arch, emit="ptx", schedule=chain.schedule)
        for order in ORDERS:
            actual = arguments_of(chain, seed)
            run_ptx(made.ptx, module, "k", (1, 1, 1), actual, check=True, seed=order)
            for name, at in (("o", 3), ("m", 4)):
                wrong = np.flatnonzero(actual[at] != expected[at])
                if len(wrong):
                    first = f"{actual[at][wrong[0]]} instead of {expected[at][wrong[0]]}"
                    return f"seed {seed}, order {order}: {name}[{wrong[0]}] is {first}: {chain}"
    except tilewright.UserError as error:
        return f"seed {seed}: {error.render().strip().splitlines()[0]}: {chain}"
    except Exception as error:
        return f"seed {seed}: {type(error).__name__}: {error}: {chain}"
    return None


def main() -> int:
    """Run the programs of many seeds; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description="Random loops with dots in a row.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--schedule", default="", help="of all programs; a random one if not given")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        judged = pool.imap_unordered(partial(problem, schedule=given.schedule), seeds)
        problems = [result for result in progress(judged, len(seeds)) if result is not None]
    print("\n".join(sorted(problems)))
    print(f"{len(seeds)} programs, {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
