"""GEMM and GEMV kernels in cuTile Python that the compiler was not tuned for."""

import math

import cuda.tile as ct
from attention_forward import zeros
from gemm_kernels import element, tiles_along
from variant_kernels import ZERO, Size
from variant_quantized import SCALED


@ct.kernel
def gemv(w: ct.Array, x: ct.Array, y: ct.Array, tm: Size, tk: Size) -> None:
    """`y = w @ x`; columns are added after the loop."""
    row = ct.bid(0)
    accumulator = zeros(tm, tk)
    for k in range(ct.num_tiles(w, axis=1, shape=(tm, tk))):
        weights = ct.load(w, (row, k), (tm, tk), padding_mode=ZERO).astype(ct.float32)
        vector = ct.load(x, (k,), (tk,), padding_mode=ZERO).astype(ct.float32)
        accumulator += weights * vector[None, :]
    ct.store(y, (row,), tile=ct.sum(accumulator, axis=1).astype(y.dtype))


@ct.kernel
def gemv_batched(x: ct.Array, a: ct.Array, y: ct.Array, tk: Size, tn: Size) -> None:
    """`y[i] = x[i] @ a[i]`; rows are added in the loop."""
    column, batch = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tn,), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        matrix = ct.load(a, (batch, k, column), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
        vector = ct.load(x, (batch, k), (1, tk), padding_mode=ZERO).reshape((tk, 1))
        accumulator += ct.sum(matrix.astype(ct.float32) * vector, axis=0)
    ct.store(y, (batch, column), tile=accumulator.astype(y.dtype).reshape((1, tn)))


@ct.kernel
def gemv_int8(
    w: ct.Array, scale: ct.Array, x: ct.Array, x_scale: float, y: ct.Array, tn: Size, tk: Size
) -> None:
    """`y = (w * scale) @ (x * x_scale)` of int8; a scale of W is for 128 elements of a row."""
    row, groups = ct.bid(0), tk // SCALED
    accumulator = zeros(tn, groups)
    for k in range(tiles_along(w.shape[1], tk)):
        weights = ct.load(w, (row, k), (tn, tk), padding_mode=ZERO).astype(ct.int32)
        vector = ct.load(x, (k,), (tk,), padding_mode=ZERO).astype(ct.int32)
        by_group = ct.sum((weights * vector[None, :]).reshape((tn, groups, SCALED)), axis=2)
        scales = ct.load(scale, (row, k), (tn, groups), padding_mode=ZERO)
        accumulator += by_group.astype(ct.float32) * scales
    ct.store(y, (row,), tile=(ct.sum(accumulator, axis=1) * x_scale).astype(y.dtype))


@ct.kernel
def skinny(x: ct.Array, w: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = x @ w.T` of few rows of X, computed as `w @ x.T`."""
    column = ct.bid(0)
    accumulator = zeros(tn, tm)
    for k in range(tiles_along(x.shape[1], tk)):
        weights = ct.load(w, (column, k), (tn, tk), padding_mode=ZERO)
        rows = ct.load(x, (0, k), (tm, tk), padding_mode=ZERO)
        accumulator = ct.mma(weights, rows.transpose(), accumulator)
    ct.store(c, (0, column), tile=accumulator.transpose().astype(c.dtype))


@ct.kernel
def grouped_fp8(
    a: ct.Array,
    scale_a: ct.Array,
    b: ct.Array,
    scale_b: ct.Array,
    offsets: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c[rows] = a[rows] @ b[group].T` of fp8 for the rows `offsets[g]` to `offsets[g + 1]`.

    Scales of A are for 1 by 128 elements, of B for 128 by 128. A group with fewer rows than others
    leaves blocks without work.
    """
    column, row, group = ct.bid(0), ct.bid(1), ct.bid(2)
    start, stop = element(offsets, group), element(offsets, group + 1)
    if row * tm < stop - start:
        own_a = a.slice(axis=0, start=start, stop=stop)
        own_scale = scale_a.slice(axis=0, start=start, stop=stop)
        accumulator = zeros(tm, tn)
        for k in range(tiles_along(a.shape[1], tk)):
            left = ct.load(own_a, (row, k), (tm, tk), padding_mode=ZERO)
            right = ct.load(b, (group, column, k), (1, tn, tk), padding_mode=ZERO)
            part = ct.mma(left, right.reshape((tn, tk)).transpose(), zeros(tm, tn))
            by_row = ct.load(own_scale, (row, k * tk // SCALED), (tm, 1), padding_mode=ZERO)
            by_block = element(scale_b, (group, column * tn // SCALED, k * tk // SCALED))
            accumulator += part * (by_row * by_block)
        own_c = c.slice(axis=0, start=start, stop=stop)
        ct.store(own_c, (row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def gate_int8(
    x: ct.Array,
    gate: ct.Array,
    gate_scale: ct.Array,
    gate_bias: ct.Array,
    up: ct.Array,
    up_scale: ct.Array,
    up_bias: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = g * sigmoid(1.702 g) * u` of two GEMMs with int8 weights, scales and biases."""
    column, row = ct.bid(0), ct.bid(1)
    gate_accumulator, up_accumulator = zeros(tm, tn), zeros(tm, tn)
    for k in range(tiles_along(x.shape[1], tk)):
        left = ct.load(x, (row, k), (tm, tk), padding_mode=ZERO)
        right = ct.load(gate, (k, column), (tk, tn), padding_mode=ZERO)
        gate_accumulator = ct.mma(left, right.astype(x.dtype), gate_accumulator)
        right = ct.load(up, (k, column), (tk, tn), padding_mode=ZERO)
        up_accumulator = ct.mma(left, right.astype(x.dtype), up_accumulator)
    scale = ct.load(gate_scale, (column,), (tn,), padding_mode=ZERO)[None, :]
    bias = ct.load(gate_bias, (column,), (tn,), padding_mode=ZERO)[None, :]
    gated = gate_accumulator * scale + bias
    gated = gated / (1.0 + ct.exp(-1.702 * gated))
    scale = ct.load(up_scale, (column,), (tn,), padding_mode=ZERO)[None, :]
    bias = ct.load(up_bias, (column,), (tn,), padding_mode=ZERO)[None, :]
    result = gated * (up_accumulator * scale + bias)
    ct.store(c, (row, column), tile=result.astype(c.dtype))


@ct.kernel
def k_means(
    points: ct.Array,
    centroids: ct.Array,
    labels: ct.Array,
    distances: ct.Array,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """The nearest centroid of each point, and the square of its distance."""
    row = ct.bid(0)
    point = ct.load(points, (row, 0), (tm, width), padding_mode=ZERO)
    nearest = ct.full((tm,), math.inf, dtype=ct.float32)
    label = ct.zeros((tm,), dtype=ct.int32)
    for i in range(tiles_along(centroids.shape[0], tn)):
        centroid = ct.load(centroids, (i, 0), (tn, width), padding_mode=ZERO)
        wide = centroid.astype(ct.float32)
        squares = ct.sum(wide * wide, axis=1)
        dots = ct.mma(point, centroid.transpose(), zeros(tm, tn))
        others = squares[None, :] - 2.0 * dots
        index = i * tn + ct.arange(tn, dtype=ct.int32)
        others = ct.where(index[None, :] < centroids.shape[0], others, math.inf)
        best = ct.min(others, axis=1)
        label = ct.where(best < nearest, i * tn + ct.argmin(others, axis=1), label)
        nearest = ct.minimum(best, nearest)
    wide = point.astype(ct.float32)
    ct.store(labels, (row,), tile=label)
    ct.store(distances, (row,), tile=nearest + ct.sum(wide * wide, axis=1))


@ct.kernel
def sinkhorn(
    logits: ct.Array, out: ct.Array, sharpness: float, iterations: Size, tb: Size, size: Size
) -> None:
    """Make the exponentials of square matrices doubly stochastic, alternating rows and columns."""
    batch = ct.bid(0)
    tile = ct.load(logits, (batch, 0, 0), (tb, size, size), padding_mode=ZERO)
    weights = ct.exp(tile * sharpness)
    for _ in range(iterations):
        weights = weights / ct.sum(weights, axis=2, keepdims=True)
        weights = weights / ct.sum(weights, axis=1, keepdims=True)
    ct.store(out, (batch, 0, 0), tile=weights)
