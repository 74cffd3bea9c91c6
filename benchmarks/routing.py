"""Rows of a mixture of experts in the order in which grouped GEMMs compute them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Routing(NamedTuple):
    """The rows of a GEMM over experts: one for each choice of a token, sorted by expert."""

    tokens: Array
    """The token of each row."""
    choices: Array
    """Which of the token's choices a row is."""
    offsets: Array
    """Where the rows of each expert begin, and the number of rows."""
    padded: Array
    """The position of each row if those of each expert are padded to whole tiles."""
    padded_tokens: Array
    """The token at each position; the number of tokens at padding."""
    tile_experts: Array
    """The expert of each tile."""


def route(chosen: Array, experts: int, height: int) -> Routing:
    """Sort the choices of tokens, tokens by choices, by expert; tiles are `height` rows high."""
    count, per_token = chosen.shape
    order = np.argsort(chosen.ravel(), kind="stable")
    tokens, choices = np.divmod(order, per_token)
    sizes = np.bincount(chosen.ravel(), minlength=experts)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    tiles = -(-sizes // height)
    starts = (np.cumsum(tiles) - tiles) * height
    padded = np.repeat(starts - offsets[:-1], sizes) + np.arange(len(order))
    padded_tokens = np.full(tiles.sum() * height, count)
    padded_tokens[padded] = tokens
    arrays = (tokens, choices, offsets, padded, padded_tokens, np.repeat(range(experts), tiles))
    return Routing(*(each.astype(np.int32) for each in arrays))
