"""Seeded mutations of bytecode and of text, for fuzzing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

INTERESTING: Final = (0, 1, 2, 3, 7, 0x0F, 0x10, 0x7E, 0x7F, 0x80, 0x81, 0xCB, 0xFE, 0xFF)
LARGEST: Final = 1 << 20
"""Largest input size: time and memory grow with the size, and the limits are for this one."""
TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w.$]+|->|\s+|.', re.DOTALL)
SPLICES: Final = (
    "tile<", "ptr<f32>", "tile<4xf32>", "x", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "=",
    "->", '"', "%0", "%x#1", "@f", "#a", "!a", "^bb0", "loc(unknown)", "-1", "0", "1", "0x", "1.0",
    "99999999999999999999", "4x", "?x", "i1", "f64", "f4E2M1FN", "token", "true", "return", "yield",
    "break", "continue", "if", "for", "loop", "constant", "entry", "module", "cuda_tile.", "dense<",
    "loc(#l1)", "callsite(", "fused[", " at ", "!t1", "#s1", "%n", "%99999999d", "%*d", "%5.2f",
    "array<i32: 1>", "unsigned", "signed", "weak", "rounding<zero>", "\0", "é", "\n", "//",
)  # fmt: skip


def mutate_bytes(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """One to eight random edits of a binary file."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(BYTE_EDITS)(out, others, rng)
    return bytes(out[:LARGEST])


def mutate_text(text: str, others: Sequence[str], rng: random.Random) -> str:
    """One to eight random edits of a text, token by token."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(TEXT_EDITS)(tokens, others, rng)
    return "".join(tokens)[:LARGEST]


def _flip(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    if out:
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)


def _set(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    if out:
        out[rng.randrange(len(out))] = rng.choice(INTERESTING)


def _nudge(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    if out:
        at = rng.randrange(len(out))
        out[at] = (out[at] + rng.choice((-2, -1, 1, 2))) & 0xFF


def _insert(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(out) + 1)
    out[at:at] = bytes(rng.choice(INTERESTING) for _ in range(rng.choice((1, 1, 2, 9))))


def _delete(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(out) + 1)
    del out[at : at + rng.choice((1, 1, 2, 4, 16))]


def _truncate(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    del out[rng.randrange(len(out) + 1) :]


def _splice(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    other = rng.choice(others)
    start = rng.randrange(len(other))
    piece = other[start : start + rng.choice((1, 4, 16, 64))]
    at = rng.randrange(len(out) + 1)
    out[at : at + rng.choice((0, len(piece)))] = piece


def _repeat(out: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(out) + 1)
    out[at:at] = out[at : at + rng.choice((1, 8, 64))] * rng.choice((1, 2, 50))


BYTE_EDITS: Final[tuple[Callable[[bytearray, Sequence[bytes], random.Random], None], ...]] = (
    _flip, _flip, _set, _set, _nudge, _nudge, _insert, _delete, _truncate, _splice, _repeat,
)  # fmt: skip


def _drop_token(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        del tokens[rng.randrange(len(tokens))]


def _swap_tokens(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[a], tokens[b] = tokens[b], tokens[a]


def _copy_token(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(tokens)


def _splice_token(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(SPLICES))


def _replace_token(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(SPLICES)


def _nudge_number(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    numbers = [at for at, token in enumerate(tokens) if any(c.isdigit() for c in token)]
    if numbers:
        at = rng.choice(numbers)
        digit = str(rng.choice((0, 1, 3, 9, 16, 1 << 31, 1 << 63)))
        tokens[at] = re.sub(r"\d+", digit, tokens[at], count=1)


def _edit_character(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        at = rng.randrange(len(tokens))
        position = rng.randrange(len(tokens[at]) + 1)
        character = chr(rng.choice((0, 10, 34, 60, 62, 92, 120, 255, 0x1F600, rng.randrange(128))))
        tokens[at] = tokens[at][:position] + character + tokens[at][position + 1 :]


def _splice_lines(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    lines = rng.choice(others).splitlines(keepends=True)
    start = rng.randrange(len(lines))
    tokens.insert(
        rng.randrange(len(tokens) + 1), "".join(lines[start : start + rng.choice((1, 3))])
    )


def _cut_tail(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    del tokens[rng.randrange(len(tokens) + 1) :]


LONGEST: Final = 1 << 20
"""The most characters of a token: edits may repeat one that was repeated before."""


def _nest(tokens: list[str], others: Sequence[str], rng: random.Random) -> None:
    if tokens:
        at, count = rng.randrange(len(tokens)), rng.choice((2, 50, 2000))
        if len(tokens[at]) * count <= LONGEST:
            tokens[at] = tokens[at] * count


TEXT_EDITS: Final[tuple[Callable[[list[str], Sequence[str], random.Random], None], ...]] = (
    _drop_token, _swap_tokens, _copy_token, _splice_token, _replace_token, _replace_token,
    _nudge_number, _nudge_number, _edit_character, _splice_lines, _cut_tail, _nest,
)  # fmt: skip
