"""Seeded mutations of Tile IR texts, many of which stay valid programs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

TYPES: Final = (
    "i1", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN",
    "f8E5M2", "f8E8M0FNU", "f4E2M1FN",
)  # fmt: skip
OPERATIONS: Final = (
    ("addi", "subi", "muli", "andi", "ori", "xori", "shli", "shri", "divi", "remi", "maxi", "mini",
     "mulhii"),
    ("addf", "subf", "mulf", "divf", "maxf", "minf", "pow", "remf", "atan2"),
    ("exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "rsqrt",
     "floor", "ceil", "negf", "absf"),
    ("negi", "absi"),
    ("itof", "ftoi", "exti", "trunci", "ftof", "bitcast"),
)  # fmt: skip
WORDS: Final = (
    ("signed", "unsigned"),
    ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than"),
    ("ordered", "unordered"),
    ("weak", "relaxed", "acquire", "release", "acq_rel"),
    ("tl_blk", "device", "sys"),
    ("add", "addf", "and", "or", "xor", "max", "min", "umax", "umin", "xchg"),
    ("zero", "neg_zero", "nan", "pos_inf", "neg_inf"),
    ("nearest_even", "negative_inf", "positive_inf", "zero", "approx", "full"),
)
EXTENTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WORD: Final = re.compile(r"[A-Za-z_]\w*")
EXTENT: Final = re.compile(r"(?<=[<x\[ ])\d+(?=[x\]>,])")
NUMBER: Final = re.compile(r"(?<=: )-?\d+(?:\.\d+e[+-]\d+)?(?=>)")


def mutate_program(text: str, rng: random.Random) -> str:
    """One to three edits, most of them of the whole text at once."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(EDITS)(text, rng)
    return text


def _retype(text: str, rng: random.Random) -> str:
    """One element type becomes another everywhere."""
    present = [kind for kind in TYPES if re.search(rf"(?<![\w.]){kind}\b|x{kind}\b", text)]
    if not present:
        return text
    old, new = rng.choice(present), rng.choice(TYPES)
    return re.sub(rf"(?<![A-Za-z.]){old}\b", new, text)


def _resize(text: str, rng: random.Random) -> str:
    """One extent becomes another everywhere."""
    present = sorted(set(EXTENT.findall(text)))
    if not present:
        return text
    old, new = rng.choice(present), str(rng.choice(EXTENTS))
    return EXTENT.sub(lambda match: new if match[0] == old else match[0], text)


def _constant(text: str, rng: random.Random) -> str:
    """One constant becomes another."""
    return _one(text, NUMBER, lambda _: rng.choice(("0", "1", "-1", "7", "2147483647", "3")), rng)


def _operation(text: str, rng: random.Random) -> str:
    """One operation becomes another of the same shape."""
    return _swap(text, rng.choice(OPERATIONS), rng)


def _word(text: str, rng: random.Random) -> str:
    """One attribute becomes another of its kind."""
    return _swap(text, rng.choice(WORDS), rng)


def _swap(text: str, kin: Sequence[str], rng: random.Random) -> str:
    pattern = re.compile(rf"(?<![\w@%.])(?:{'|'.join(kin)})(?!\w)")
    return _one(text, pattern, lambda _: rng.choice(kin), rng)


def _operand(text: str, rng: random.Random) -> str:
    """One value becomes another."""
    return _one(text, re.compile(r"%\w+(?:#\d+)?"), lambda _: rng.choice(_values(text)), rng)


def _values(text: str) -> list[str]:
    return re.findall(r"%\w+(?:#\d+)?", text) or ["%0"]


def _drop_line(text: str, rng: random.Random) -> str:
    rows = text.splitlines(keepends=True)
    del rows[rng.randrange(len(rows))]
    return "".join(rows)


def _repeat_effect(text: str, rng: random.Random) -> str:
    """A line without results happens twice."""
    rows = text.splitlines(keepends=True)
    effects = [at for at, row in enumerate(rows) if "=" not in row and row.strip().startswith("p")]
    if effects:
        at = rng.choice(effects)
        rows.insert(at, rows[at])
    return "".join(rows)


def _one(
    text: str, pattern: re.Pattern[str], make: Callable[[str], str], rng: random.Random
) -> str:
    """Replace one of the matches."""
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[: match.start()] + make(match[0]) + text[match.end() :]


EDITS: Final[tuple[Callable[[str, random.Random], str], ...]] = (
    _retype, _retype, _resize, _resize, _constant, _constant, _operation, _operation, _word, _word,
    _operand, _drop_line, _repeat_effect,
)  # fmt: skip
