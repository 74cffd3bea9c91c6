"""The rounding modes of conversions, against NVIDIA's tool."""

from __future__ import annotations

from op_cases.conversion import float_modes
from op_cases.values import ALL_FLOATS

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.rounding import conversion_roundings
from tilewright.support.floats import FORMATS


def test_the_table_of_legal_roundings() -> None:
    accepted = set(float_modes())
    assert {type.spell() for type in ALL_FLOATS} == set(FORMATS)
    for source in ALL_FLOATS:
        for target in ALL_FLOATS:
            if source is not target:
                legal = conversion_roundings(Rounding, source, target)
                assert {(source, target, mode) for mode in legal} == {
                    case for case in accepted if case[:2] == (source, target)
                }
