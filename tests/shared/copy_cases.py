"""Cases of bulk copies, tensor copies and mbarriers; recorded on a GPU."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from copy_kernels import (
    CLEARED,
    DUMP,
    FILL,
    HEAD,
    LEAVE,
    NAMED,
    PEER,
    REMOTE,
    REPLACED,
    TOKENS,
    TOLD,
    VOTES,
    WAIT,
    copy_ptx,
    load_ptx,
    reduce_ptx,
    store_ptx,
)

SHARED = 16384
FILLER = 0xCD


@dataclass(frozen=True)
class Map:
    """Arguments of `cuTensorMapEncodeTiled`; sizes innermost first, strides in bytes."""

    type: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    interleave: int = 0
    swizzle: int = 0
    fill: int = 0


@dataclass(frozen=True)
class Case:
    """A kernel `probe(map, tensor, output, input)`, and the initial bytes."""

    name: str
    ptx: str
    map: Map | None
    tensor: np.ndarray[Any, Any]
    input: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(SHARED, np.uint8))
    ctas: int = 1

    @property
    def output_size(self) -> int:
        """Bytes of output: each CTA of the one cluster writes its shared memory and a word."""
        return self.ctas * (SHARED + 16)

    def fingerprint(self) -> int:
        """A number that changes when the kernel or its inputs do."""
        texts = (self.ptx, repr(self.map), str(self.ctas))
        parts = [text.encode() for text in texts]
        return zlib.crc32(b"".join([*parts, self.tensor.tobytes(), self.input.tobytes()]))


def _numbers(size: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def _filler() -> np.ndarray[Any, Any]:
    return np.full(SHARED, FILLER, np.uint8)


def _load(
    name: str, map: Map, at: tuple[int, ...], size: int, offset: int = 0, tensor: Any = None
) -> Case:
    data = _numbers(32768) if tensor is None else tensor
    return Case(name, load_ptx(at, size, offset), map, data, _filler())


def _swizzles() -> Iterator[Case]:
    for swizzle, span in ((0, 128), (1, 32), (2, 64), (3, 128)):
        for inner in sorted({16, span // 2, span}):
            map = Map("u16", (128, 40), (256,), (inner // 2, 20), swizzle=swizzle)
            yield _load(f"load swizzle {swizzle} inner {inner}", map, (8, 3), inner * 20)
        for offset in (128, 384, 1152):
            map = Map("u16", (128, 40), (256,), (span // 2, 20), swizzle=swizzle)
            name = f"load swizzle {swizzle} at {offset}"
            yield _load(name, map, (8, 3), span * 20, offset)
    three = Map("u8", (64, 5, 6), (64, 320), (64, 3, 4), swizzle=2)
    yield _load("load swizzle 2 three", three, (0, 1, 1), 64 * 12)


def _bounds() -> Iterator[Case]:
    yield _load("load one", Map("u32", (100,), (), (64,)), (72,), 256)
    yield _load("load one before", Map("u32", (100,), (), (64,)), (-8,), 256)
    two = Map("u16", (50, 9), (112,), (32, 8))
    for at in ((0, 0), (32, 5), (-8, -2), (64, 0), (0, 9), (-32, 0), (8, -8)):
        yield _load(f"load two {at}", two, at, 512)
    three = Map("u8", (40, 7, 5), (48, 336), (32, 4, 3))
    yield _load("load three", three, (16, 5, -1), 384)
    four = Map("u32", (12, 5, 4, 3), (48, 240, 960), (8, 3, 2, 2))
    yield _load("load four", four, (8, 3, -1, 2), 384)
    five = Map("u64", (6, 5, 4, 3, 2), (48, 240, 960, 2880), (4, 3, 2, 2, 2))
    yield _load("load five", five, (4, 3, -1, 2, 1), 768)
    for type, width in (("f16", 2), ("bf16", 2), ("f32", 4), ("f64", 8), ("tf32", 4), ("ftz", 4)):
        nan = Map(type, (128 // width, 4), (128,), (64 // width, 4), fill=1)
        yield _load(f"load nan {type}", nan, (96 // width, 2), 256)


def _special_floats() -> np.ndarray[Any, Any]:
    words = [0, 1, 0x7FFFFF, 0x80000001, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000,
             0x7F800000, 0x7F800001, 0x7FC00000, 0xFF800000, 0x7F7FFFFF, 0xFFFFFFFF,
             0x00800FFF, 0x807FFFFF]  # fmt: skip
    return np.tile(np.array(words, np.uint32), 512).view(np.uint8)


def _types() -> Iterator[Case]:
    for type in ("f32", "ftz", "tf32", "tf32ftz"):
        map = Map(type, (16, 4), (64,), (16, 4))
        yield _load(f"load {type}", map, (0, 0), 256, tensor=_special_floats())
        zeros = np.zeros(32768, np.uint8)
        yield Case(f"store {type}", store_ptx((0, 0)), map, zeros, _special_floats()[:SHARED])


def _element_strides() -> Iterator[Case]:
    for strides, count in (((1, 2), 4), ((1, 3), 3), ((2, 1), 8), ((2, 2), 4)):
        map = Map("u16", (60, 20), (128,), (32, 8), strides)
        for at in ((0, 0), (40, 14)):
            size = 64 * count
            yield _load(f"load step {strides} {at}", map, at, size)
            name = f"store step {strides} {at}"
            yield Case(name, store_ptx(at), map, np.zeros(32768, np.uint8), _numbers(SHARED, 2))


def _interleaved() -> Iterator[Case]:
    # Dimensions are width, height, slices, images; a step along the width is one slice, and a box
    # has one along the last dimension but one, whatever its size there.
    for interleave, slice, swizzles in ((1, 8, (0, 1, 2, 3)), (2, 16, (1,))):
        unit = 2 * slice
        dims = (16, 5, 64, 3)
        strides = (16 * unit, 80 * unit, 80 * unit * 64 // slice)
        for swizzle in swizzles:
            for box, at in (
                ((16, 2, slice, 1), (0, 0, 0, 0)),
                ((16, 3, 2 * slice, 2), (0, 1, 0, 1)),
                ((16, 3, 2 * slice, 2), (8, 3, 1, 1)),
                ((16, 2, 3, 1), (4, -1, 2, 2)),
                ((16, 1, 2 * slice, 1), (-2, 0, slice, 0)),
                ((16, 1, 2 * slice, 1), (0, 0, 28, 0)),
            ):
                map = Map("u16", dims, strides, box, (), interleave, swizzle)
                size = unit * box[0] * box[1] * box[3]
                name = f"load interleave {interleave} swizzle {swizzle} {box} {at}"
                yield _load(name, map, at, size, tensor=_numbers(131072))


def _stores() -> Iterator[Case]:
    data = _numbers(SHARED, 1)
    for swizzle, span in ((0, 128), (1, 32), (2, 64), (3, 128)):
        map = Map("u16", (100, 30), (208,), (span // 2, 20), swizzle=swizzle)
        for at in ((8, 3), (88, 15)):
            name = f"store swizzle {swizzle} {at}"
            yield Case(name, store_ptx(at), map, np.zeros(32768, np.uint8), data)
    five = Map("u64", (6, 5, 4, 3, 2), (48, 240, 960, 2880), (4, 3, 2, 2, 2))
    yield Case("store five", store_ptx((4, 3, 1, 2, 1)), five, np.zeros(32768, np.uint8), data)


def numbers_of(type: str, seed: int, size: int) -> np.ndarray[Any, Any]:
    """Return bytes that encode corner cases of a type."""
    random = np.random.default_rng(seed)
    if type in ("f16", "bf16", "f32", "f64", "ftz"):
        wide = random.normal(size=size) * 2.0 ** random.integers(-6, 7, size)
        if type == "f64":
            return wide.view(np.uint8)[:size]
        single = wide.astype(np.float32)
        single[::17] = 0
        single[5::31] = np.float32(1e-41)
        single[7::61] = np.inf
        single[9::67] = np.nan
        if type == "f16":
            return single.astype(np.float16).view(np.uint8)[:size]
        if type == "bf16":
            return (single.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)[:size]
        return single.view(np.uint8)[:size]
    return random.integers(0, 256, size, dtype=np.uint8)


_REDUCTIONS = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",), "dec": ("u32",),
    "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
}  # fmt: skip
_LOCAL_REDUCTIONS = {
    "add": ("u32", "s32", "u64"), "min": ("u32", "s32"), "max": ("u32", "s32"),
    "inc": ("u32",), "dec": ("u32",), "and": ("b32",), "or": ("b32",), "xor": ("b32",),
}  # fmt: skip


def _reductions() -> Iterator[Case]:
    for name, types in _REDUCTIONS.items():
        for type in types:
            before = numbers_of(type, 3, 32768)
            brought = numbers_of(type, 4, SHARED)
            full = (
                f"{name}.noftz.{type}" if name == "add" and type[-3:] == "f16" else f"{name}.{type}"
            )
            yield Case(f"reduce {name} {type}", reduce_ptx(full, 1024), None, before, brought)
            if type in ("f64", "b32", "b64"):
                continue
            width = int(type[-2:]) // 8
            map = Map(type, (128 // width, 16), (128,), (64 // width, 8))
            ptx = store_ptx((80 // width, 3), name)
            yield Case(f"tensor reduce {name} {type}", ptx, map, before, brought)


def _in_cluster(name: str, issue: str, size: int, map: Map | None = None) -> Case:
    """A case in which both CTAs of a cluster do the same; each expects `size` bytes."""
    expect = f"""
    @!%first bra issued;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [bar], {size};
"""
    ptx = HEAD + FILL + PEER + expect + issue + "\nissued:\n" + WAIT + LEAVE + DUMP
    return Case(name, ptx, map, _numbers(32768), _numbers(SHARED, 5), ctas=2)


def _clusters() -> Iterator[Case]:
    done = "mbarrier::complete_tx::bytes"
    copy = f"cp.async.bulk.shared::cluster.shared::cta.{done}"
    copy += " [%theirs+4096], [smem], 1024, [%theirbar];"
    yield _in_cluster("bulk to peer", copy, 1024)
    for name, types in _LOCAL_REDUCTIONS.items():
        for type in types:
            full = f"cp.reduce.async.bulk.shared::cluster.shared::cta.{done}.{name}.{type}"
            issue = f"{full} [%theirs+4096], [smem], 1024, [%theirbar];"
            yield _in_cluster(f"bulk reduce to peer {name} {type}", issue, 1024)
    issue = f"""
    mul.wide.u32 %d4, %rank, 512;
    add.u64 %d4, %d4, %tensor;
    shl.b32 %r22, %rank, 9;
    add.u32 %r22, %r22, %r20;
    mov.b16 %h0, 3;
    cp.async.bulk.shared::cluster.global.{done}.multicast::cluster
        [%r22], [%d4], 512, [bar], %h0;"""
    yield _in_cluster("bulk multicast", issue, 1024)
    issue = f"""
    shl.b32 %r22, %rank, 11;
    add.u32 %r23, %r22, %r20;
    shl.b32 %r24, %rank, 3;
    mov.b16 %h0, 3;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.{done}.multicast::cluster
        [%r23], [%map, {{%r24, 2}}], [bar], %h0;"""
    map = Map("u16", (128, 40), (256,), (64, 16), swizzle=3)
    yield _in_cluster("tensor multicast", issue, 4096, map)
    for type, width, vector in (
        ("b32", 4, ""),
        ("b64", 8, ""),
        ("b32", 8, "v2"),
        ("b32", 16, "v4"),
    ):
        value = {"b32": "%r25", "b64": "%d5"}[type]
        values = "{" + ", ".join([value] * int(vector[1:])) + "}" if vector else value
        issue = f"""
    add.u32 %r25, %rank, 12345;
    cvt.u64.u32 %d5, %r25;
    st.async.weak.shared::cluster.{done}.{vector + "." if vector else ""}{type}
        [%theirs+256], {values}, [%theirbar];"""
        yield _in_cluster(f"store to peer {type} {vector}", issue, width)
    for name, type in (
        ("add", "u32"),
        ("min", "s32"),
        ("inc", "u32"),
        ("xor", "b32"),
        ("add", "u64"),
    ):
        value = "%d5" if type == "u64" else "%r25"
        issue = f"""
    add.u32 %r25, %rank, 12345;
    cvt.u64.u32 %d5, %r25;
    red.async.relaxed.cluster.shared::cluster.{done}.{name}.{type}
        [%theirs+256], {value}, [%theirbar];"""
        yield _in_cluster(f"reduce to peer {name} {type}", issue, int(type[1:]) // 8)


def _plain() -> Iterator[Case]:
    done = "mbarrier::complete_tx::bytes"
    issue = f"""
    @!%first bra issued;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [bar], 2048;
    cp.async.bulk.shared::cluster.global.{done} [smem+512], [%tensor+48], 2048, [bar];
issued:
"""
    data = _numbers(32768)
    yield Case("bulk load", HEAD + FILL + issue + WAIT + DUMP, None, data, _filler())
    issue = """
    @!%first bra issued;
    cp.async.bulk.global.shared::cta.bulk_group [%tensor+64], [smem+16], 1040;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    cp.async.bulk.wait_group 0;
issued:
    @%first st.global.u32 [%output+16384], 1;
"""
    yield Case("bulk store", HEAD + FILL + issue + DUMP, None, data, _numbers(SHARED, 6))
    for size in (4, 8, 16):
        yield Case(f"copy {size}", copy_ptx(size), None, data, _filler())


def _built() -> Iterator[Case]:
    data = _numbers(32768)
    yield Case("named barriers", NAMED, None, data, _filler())
    yield Case("arrivals from the other CTA", REMOTE, None, data, _filler(), ctas=2)
    yield Case("copies that arrive", TOLD, None, data, _filler())
    ptx = HEAD + FILL + REPLACED + WAIT + CLEARED + DUMP
    yield Case("map built by the kernel", ptx, None, _numbers(32768), _filler())


def cases() -> list[Case]:
    """Every case, each with a name of its own."""
    empty = np.zeros(256, np.uint8)
    all_cases = [Case("tokens", TOKENS, None, empty), Case("votes", VOTES, None, empty)]
    groups = (_swizzles, _bounds, _types, _element_strides, _interleaved, _stores, _reductions,
              _clusters, _plain, _built)  # fmt: skip
    for group in groups:
        all_cases += group()
    return all_cases
