"""The rounding modes of conversions, against what NVIDIA's tool accepts."""

from __future__ import annotations

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.rounding import conversion_roundings
from tilewright.ir.types import FLOATS
from tilewright.support.floats import FORMATS

# Rows are sources, columns targets in the same order. N nearest_even, Z zero, - negative_inf,
# + positive_inf, W nearest_away: what tileirdisasm 13.4.92 accepts on `ftof`.
ROUNDINGS = """
             f16    bf16   f32    f64    tf32   f8E4M3FN f8E5M2 f8E8M0FNU f4E2M1FN fnv8E5M3FNU
f16          .      NZ     NZ-+W  NZ-+W  NZ-+W  N        N      Z+        N        N
bf16         NZ     .      NZ-+W  NZ-+W  NZ-+W  N        N      Z+        N        N
f32          NZ     NZ     .      NZ-+W  NZW    N        N      Z+        N        N
f64          NZ     NZ     NZ-+   .      NZ     N        N      Z+        N        N
tf32         NZ     NZ     NZ-+W  NZ-+W  .      N        N      Z+        N        N
f8E4M3FN     NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  .        N      Z+        N        N
f8E5M2       NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  N        .      Z+        N        N
f8E8M0FNU    NZ     NZ     NZ     NZ-+W  NZ     N        N      .         N        N
f4E2M1FN     NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  N        N      Z+        .        N
fnv8E5M3FNU  NZ     NZ-+W  NZ-+W  NZ-+W  NZ-+W  N        N      Z+        N        .
"""
LETTERS = {
    "N": Rounding.NEAREST_EVEN,
    "Z": Rounding.ZERO,
    "-": Rounding.NEGATIVE_INF,
    "+": Rounding.POSITIVE_INF,
    "W": Rounding.NEAREST_AWAY,
}


def test_the_table_of_legal_roundings() -> None:
    targets, *rows = (line.split() for line in ROUNDINGS.strip().splitlines())
    assert set(targets) == set(FORMATS) == {row[0] for row in rows}
    for source, *cells in rows:
        for target, cell in zip(targets, cells, strict=True):
            if cell != ".":
                legal = conversion_roundings(Rounding, FLOATS[source], FLOATS[target])
                assert set(legal) == {LETTERS[letter] for letter in cell}, (source, target)
