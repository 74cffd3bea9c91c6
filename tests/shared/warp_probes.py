"""Probes of instructions by which the threads of a warp exchange values and matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matrix_probes import generator, vector
from ptx_probes import Probe


def shuffle_probes() -> Iterator[Probe]:
    """`shfl.sync` in all modes with many clamps, and two results."""
    rng = generator("shfl")
    count = 1024
    value = rng.integers(0, 1 << 32, count).astype(np.uint32)
    clamps = {"idx": (0x1F, 0x181F, 0x1C1F, 0x100F), "bfly": (0x1F, 0x181F, 0x100F),
              "down": (0x1F, 0x181F, 0x0F), "up": (0x0, 0x1800, 0x4)}  # fmt: skip
    for mode, values in clamps.items():
        for clamp in values:
            step = rng.integers(0, 32, count).astype(np.uint32)
            body = f"shfl.sync.{mode}.b32 %o0|%o1, %i0, %i1, {clamp}, 0xffffffff;"
            inputs = [("b32", value), ("b32", step)]
            yield Probe(f"shfl {mode} {clamp:x}", body, inputs, ["b32", "pred"], threads=count)


def vote_probes() -> Iterator[Probe]:
    """Votes, matches, reductions and elections, also among parts of a warp."""
    rng = generator("vote")
    count = 512
    value = rng.integers(0, 4, count).astype(np.uint32)
    flags = (rng.random(count) < 0.9).astype(np.uint8)
    flags[:64] = 1
    flags[64:96] = 0
    yield Probe(
        "vote",
        "vote.sync.all.pred %o0, %i0, 0xffffffff; vote.sync.any.pred %o1, %i0, 0xffffffff;"
        " vote.sync.uni.pred %o2, %i0, 0xffffffff; vote.sync.ballot.b32 %o3, %i0, 0xffffffff;"
        " vote.sync.ballot.b32 %o4, !%i0, 0xffffffff;",
        [("pred", flags)], ["pred", "pred", "pred", "b32", "b32"], threads=count,
    )  # fmt: skip
    wide = value.astype(np.uint64) << np.uint64(40)
    yield Probe(
        "match",
        "match.any.sync.b32 %o0, %i0, 0xffffffff; match.all.sync.b32 %o1|%o2, %i0, 0xffffffff;"
        " match.any.sync.b64 %o3, %i1, 0xffffffff; match.all.sync.b64 %o4|%o5, %i2, 0xffffffff;",
        [("b32", value), ("b64", wide), ("b64", np.full(count, 7, np.uint64))],
        ["b32", "b32", "pred", "b32", "b32", "pred"], threads=count,
    )  # fmt: skip
    numbers = rng.integers(0, 1 << 32, count).astype(np.uint32)
    ops = ["add.s32", "add.u32", "min.s32", "min.u32", "max.s32", "max.u32",
           "and.b32", "or.b32", "xor.b32"]  # fmt: skip
    body = " ".join(f"redux.sync.{op} %o{at}, %i0, 0xffffffff;" for at, op in enumerate(ops))
    yield Probe("redux", body, [("b32", numbers)], ["b32"] * len(ops), threads=count)
    # The lanes of each value reduce among themselves.
    body = "match.any.sync.b32 %o0, %i0, 0xffffffff;" + " ".join(
        f"redux.sync.{op} %o{at + 1}, %i1, %o0;" for at, op in enumerate(ops)
    )
    yield Probe(
        "redux groups", body, [("b32", value), ("b32", numbers)], ["b32"] * 10, threads=count
    )
    yield Probe(
        "divergent",
        "mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0;"
        " setp.eq.u32 %odd, %i0, 1; @%odd bra taken;"
        " activemask.b32 %o0; elect.sync %o1|%p, %o0; selp.b32 %o2, 1, 2, %p; bra done;"
        " taken: activemask.b32 %o0; elect.sync %o1|%p, %o0; selp.b32 %o2, 3, 4, %p;"
        " shfl.sync.idx.b32 %o1, %i1, %o1, 31, %o0; done: bar.warp.sync 0xffffffff;",
        [("b32", value & 1), ("b32", numbers)], ["b32"] * 3, threads=count,
        declarations=".reg .pred %odd, %p;",
    )  # fmt: skip


def matrix_move_probes() -> Iterator[Probe]:
    """`ldmatrix`, `stmatrix` and `movmatrix`."""
    rng = generator("ldmatrix")
    image = rng.integers(0, 256, 4096).astype(np.uint8)
    rows = np.concatenate([rng.permutation(256)[:32] for _ in range(4)]).astype(np.uint32) * 16
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            into = vector("o", 0, count)
            load = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {into}, [%where32];"
            body = f"add.u32 %where32, %smem, %i0; {load}"
            yield Probe(
                f"ldmatrix x{count}{trans}", body, [("b32", rows)], ["b32"] * count,
                threads=128, image=image, declarations=".reg .b32 %where32;",
            )  # fmt: skip
            source = vector("i", 1, count)
            store = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%where32], {source};"
            words = [("b32", rng.integers(0, 1 << 32, 128).astype(np.uint32)) for _ in range(count)]
            # Each warp has rows of its own: no two of them write to the same address.
            own = (rng.permutation(64)[None, :32] + 64 * np.arange(4)[:, None]).astype(np.uint32)
            yield Probe(
                f"stmatrix x{count}{trans}", f"add.u32 %where32, %smem, %i0; {store}",
                [("b32", own.reshape(-1) * np.uint32(16)), *words], [],
                threads=128, image=image, dump=True, declarations=".reg .b32 %where32;",
            )  # fmt: skip
    value = rng.integers(0, 1 << 32, 128).astype(np.uint32)
    body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;"
    yield Probe("movmatrix", body, [("b32", value)], ["b32"], threads=128)
