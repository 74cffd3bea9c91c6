from __future__ import annotations

import pickle

from each_case import each_case

from tilewright.dialects.arith.attributes import FastMathAttr, OverflowAttr
from tilewright.driver.registry import context
from tilewright.text.attribute_printer import attribute_text
from tilewright.text.parser import parse_attribute

SPELLINGS = {
    "#arith.fastmath<none>": FastMathAttr(),
    "#arith.fastmath<nnan,contract>": FastMathAttr("contract", "nnan"),
    "#arith.fastmath<fast>": FastMathAttr(*FastMathAttr.flags),
    "#arith.overflow<none>": OverflowAttr(),
    "#arith.overflow<nsw, nuw>": OverflowAttr("nuw", "nsw"),
}


@each_case("text", SPELLINGS)
def test_spelling(text: str) -> None:
    assert parse_attribute(text, context()) is SPELLINGS[text]
    assert attribute_text(SPELLINGS[text]) == text


def test_flags_are_sets() -> None:
    quick, safe = FastMathAttr("nnan", "ninf"), FastMathAttr("nnan")
    assert quick & safe is safe
    assert quick | FastMathAttr("nsz") is FastMathAttr("nsz", "ninf", "nnan")
    assert "ninf" in quick
    assert "fast" not in quick
    assert "fast" in FastMathAttr("fast")
    assert not FastMathAttr("none")
    assert pickle.loads(pickle.dumps(quick)) is quick
