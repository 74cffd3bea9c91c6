from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from ptx_probes import Array, Probe, emulate

from tilewright.support.diagnostics import Unsupported, UserError

LANE = np.arange(32)


def words(
    body: str, *inputs: Array, results: int = 1, threads: int = 32, declarations: str = ""
) -> Array:
    """Run a body and return its results as (results, threads)."""
    named = [("b32", np.asarray(each, np.uint32)) for each in inputs]
    probe = Probe("test", body, named, ["b32"] * results, threads, declarations=declarations)
    return np.stack([each.view(np.uint32) for each in emulate(probe)])


@each_case(
    ("mode", "b", "c", "expected"),
    [
        ("down", 4, 31, np.where(LANE + 4 < 32, LANE + 4, LANE)),
        ("up", 1, 0, np.maximum(LANE - 1, 0)),
        ("bfly", 16, 31, LANE ^ 16),
        ("idx", 5, 31, np.full(32, 5)),
        # Segments of 8 lanes: the mask of c says which bits of the lane stay.
        ("idx", 3, 0x181F, LANE // 8 * 8 + 3),
        ("down", 3, 0x181F, np.where(LANE % 8 + 3 < 8, LANE + 3, LANE)),
        ("up", 2, 0x1800, np.where(LANE % 8 >= 2, LANE - 2, LANE)),
    ],
)
def test_shuffles(mode: str, b: int, c: int, expected: Array) -> None:
    body = f"shfl.sync.{mode}.b32 %o0, %i0, {b}, {c}, -1;"
    assert words(body, LANE * 10).tolist() == [(expected * 10).tolist()]


def test_the_predicate_of_a_shuffle_says_whether_the_source_is_in_range() -> None:
    body = "shfl.sync.down.b32 %o0|%p, %i0, 30, 31, -1; selp.b32 %o0, 1, 0, %p;"
    assert words(body, LANE, declarations=".reg .pred %p;").sum() == 2


def test_a_warp_sum_by_butterfly() -> None:
    steps = "".join(
        f"shfl.sync.bfly.b32 %x, %o0, {1 << at}, 31, -1; add.u32 %o0, %o0, %x;" for at in range(5)
    )
    actual = words(f"mov.b32 %o0, %i0; {steps}", LANE, declarations=".reg .b32 %x;")
    assert actual.tolist() == [[496] * 32]


def test_votes_count_only_lanes_of_the_mask() -> None:
    body = """
    setp.lt.u32 %p, %i0, 20; setp.ge.u32 %q, %i0, 16; mov.b32 %o0, 0; mov.b32 %o1, 7;
    @%q vote.sync.ballot.b32 %o0, %p, 0xffff0000;
    @%q vote.sync.any.pred %r, %p, 0xffff0000; @%q selp.b32 %o1, 1, 0, %r;"""
    actual = words(body, LANE, results=2, declarations=".reg .pred %p, %q, %r;")
    assert actual[0].tolist() == [0] * 16 + [0x000F0000] * 16
    assert actual[1].tolist() == [7] * 16 + [1] * 16


def test_matches_and_reductions_of_groups() -> None:
    body = """
    match.any.sync.b32 %o0, %i0, -1;
    redux.sync.add.u32 %o1, %i1, %o0;
    redux.sync.max.s32 %o2, %i2, %o0;"""
    group = LANE % 3
    actual = words(body, group, LANE, 5 - LANE, results=3)
    masks = [sum(1 << int(lane) for lane in LANE[group == each]) for each in group]
    assert actual[0].tolist() == masks
    assert actual[1].tolist() == [int(LANE[group == each].sum()) for each in group]
    assert actual[2].view(np.int32).tolist() == [5 - int(each) for each in group]


@each_case(
    ("operation", "expected"),
    [("min", 0x80000000), ("max", 0x40400000), ("min.abs", 0), ("min.NaN", 0x7FFFFFFF)],
)
def test_reductions_of_floats(operation: str, expected: int) -> None:
    values = np.zeros(32, np.float32)
    values[:4] = [3, 0.5, -0.0, np.nan]
    assert words(f"redux.sync.{operation}.f32 %o0, %i0, -1;", values.view(np.uint32))[0, 9] == (
        expected
    )


def test_the_lowest_lane_is_elected() -> None:
    body = """
    setp.ge.u32 %q, %i0, 8; mov.b32 %o0, 99; mov.b32 %o1, 0;
    @%q elect.sync %o0|%p, 0xffffff00; @%q selp.b32 %o1, 1, 0, %p;"""
    actual = words(body, LANE, results=2, declarations=".reg .pred %p, %q;")
    assert actual[0].tolist() == [99] * 8 + [8] * 24
    assert np.flatnonzero(actual[1]).tolist() == [8]


def test_the_active_mask_has_the_threads_of_a_branch() -> None:
    body = "setp.lt.u32 %q, %i0, 5; mov.b32 %o0, 0; @!%q bra out; activemask.b32 %o0; out:"
    actual = words(body, LANE, declarations=".reg .pred %q;")
    assert actual[0].tolist() == [31] * 5 + [0] * 27


def test_votes_do_not_cross_warps() -> None:
    body = "vote.sync.ballot.b32 %o0, %p, -1;"
    actual = words(
        f"setp.eq.u32 %p, %i0, 40; {body}",
        np.arange(96),
        threads=96,
        declarations=".reg .pred %p;",
    )
    assert actual[0].tolist() == [0] * 32 + [1 << 8] * 32 + [0] * 32


def test_divergent_threads_reconverge_for_a_vote() -> None:
    body = """
    setp.lt.u32 %q, %i0, 5; mov.b32 %o0, 3; @%q bra low;
    add.u32 %o0, %o0, 4; bra join;
    low: add.u32 %o0, %o0, 1;
    join: vote.sync.ballot.b32 %o0, %q, -1;"""
    assert words(body, LANE, declarations=".reg .pred %q;").tolist() == [[31] * 32]


def test_a_matrix_is_transposed() -> None:
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;"
    actual = words(body, matrix.view(np.uint32).reshape(-1))
    assert np.array_equal(actual.view(np.uint16).reshape(8, 8), matrix.T)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("shfl.sync.idx.b32 %o0, %i0, 9, 31, 255;", "does not name its own lane"),
        (
            "setp.lt.u32 %q, %i0, 8; mov.b32 %o0, 0; @%q shfl.sync.idx.b32 %o0, %i0, 9, 31, 255;",
            "reads lane 9, which does not participate",
        ),
    ],
)
def test_misuse_is_reported(body: str, text: str) -> None:
    with pytest.raises(UserError, match=text):
        words(body, LANE, declarations=".reg .pred %q;")


@each_case(
    "body",
    ["vote.ballot.b32 %o0, %q;", "shfl.up.b32 %o0, %i0, 1, 0;", "redux.sync.add.u64 a, b, c;"],
)
def test_other_forms_are_unsupported_by_name(body: str) -> None:
    with pytest.raises(Unsupported, match=body.split()[0]):
        words(body, LANE, declarations=".reg .pred %q;")
