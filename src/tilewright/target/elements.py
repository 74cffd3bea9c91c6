"""The element types of tiles, by the generation of GPUs that takes them in programs."""

from __future__ import annotations

from typing import Final

NUMBERS: Final = frozenset(
    ("i1", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64")
)
WITH_FP8: Final = NUMBERS | {"f8E4M3FN", "f8E5M2"}
WITH_NARROW_FLOATS: Final = WITH_FP8 | {"f8E8M0FNU", "f4E2M1FN"}
