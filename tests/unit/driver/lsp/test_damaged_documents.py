"""Documents as they are while someone types: no request ends in an exception."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tilewright.driver.lsp.analysis import analyse
from tilewright.driver.lsp.completion import completions
from tilewright.driver.lsp.hover import hover
from tilewright.driver.lsp.outline import outline
from tilewright.text.index import Index

ROOT = Path(__file__).parents[4]
PROGRAMS = [ROOT / "examples" / "gemm.mlir", *sorted((ROOT / "tests" / "programs").glob("*.mlir"))]
LOWER = """\
module {
  llvm.mlir.global internal @g(1 : i32) : i32
  llvm.func @f(%c: i1, %v: i32) -> i32 attributes {a = @g} {
    %0 = llvm.mlir.addressof @g : !llvm.ptr
    llvm.cond_br %c, ^bb1(%v : i32), ^bb2
  ^bb1(%w: i32):
    llvm.return %w : i32 loc(#l)
  ^bb2:
    llvm.br ^bb1(%v : i32)
  }
}
#l = loc("a.py":1:2)
"""


def check_requests(index: Index, text: str, offset: int) -> None:
    token = index.token_at(offset)
    if token is not None:
        start, end = index.range(token)
        assert start <= offset <= end
        definition = index.definition(token)
        if definition is not None:
            assert {definition, token} <= set(index.references(definition))
    hover(index, text, offset)
    start, _ = completions(index, text, offset)
    assert start <= offset


@pytest.mark.parametrize("seed", range(40))
def test_requests_in_damaged_documents(seed: int) -> None:
    draw = random.Random(seed)
    text = draw.choice([LOWER, *(path.read_text() for path in PROGRAMS)])
    tokens = re.findall(r"\s+|\w+|.", text)
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(tokens))
        tokens[at] = draw.choice(["", tokens[at][:1], tokens[at] * 2, draw.choice(tokens)])
    text = "".join(tokens)
    if draw.random() < 0.3:
        text = text[: draw.randrange(len(text))]
    analysis = analyse(text, "k.mlir", (13, 4))
    for problem in analysis.problems:
        for start, end in (problem.range, *(range for range, _ in problem.notes)):
            assert 0 <= start <= end <= len(text)
    assert analysis.index is not None
    outline(analysis.index)
    for _ in range(60):
        check_requests(analysis.index, text, draw.randint(0, len(text)))
