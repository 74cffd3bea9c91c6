"""No text hangs the reader, overflows its stack, or gets past it as anything but an error."""

from __future__ import annotations

import sys
import time
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Error
from tilewright.text.cursor import MAX_NESTING
from tilewright.text.parser import parse_text

N = 100_000


class Reading(Protocol):
    def __call__(self, text: str) -> Operation: ...
    def error(self, text: str) -> tuple[int, int, str]: ...


def complaint(text: str) -> str | None:
    """What is wrong with a text; nothing if it can be read."""
    try:
        parse_text(text, context(allow_unregistered=True))
    except Error as error:
        return error.headline()
    return None


NESTED = {
    "regions": ("module {" * N, ""),
    "generic regions": ('"x.y"() ({' * N, ""),
    "types": ('"x.y"() : () -> ' + "tuple<" * N, ">" * N),
    "function types": ('"x.y"() : () -> (' + "(" * N, ""),
    "arrays": ('"x.y"() {a = ' + "[" * N, "]" * N),
    "dictionaries": ('"x.y"() {a = ' + "{a = " * N, "}" * N),
    "dense": ('"x.y"() {a = dense<' + "[" * N, "]" * N + "> : tensor<1xi8>}"),
    "call sites": ('"x.y"() : () -> () loc(' + "callsite(" * N, ""),
    "names": ('"x.y"() : () -> () loc(' + '"a"(' * N, ")" * N),
    "locations": ('"x.y"() : () -> () loc(' + "loc(" * N, ")" * N),
    "aliases before uses": (
        '"x.y"() {a = #a0} : () -> ()' + "".join(f"#a{i} = [#a{i + 1}]" for i in range(N)),
        "",
    ),
    "aliases after uses": (
        "#a0 = 1" + "".join(f"#a{i + 1} = [#a{i}]" for i in range(N)),
        "",
    ),
}


@pytest.mark.parametrize("what", NESTED)
@pytest.mark.sampled(6)
def test_nesting_has_a_limit(what: str, read: Reading) -> None:
    before, after = NESTED[what]
    assert read.error(before + after)[2] == f"nested more than {MAX_NESTING} levels deep"


def test_nesting_up_to_the_limit(read: Reading) -> None:
    text = '"x.y"() ({' * MAX_NESTING + "}) : () -> ()" * MAX_NESTING
    assert len(list(read(text).walk())) == MAX_NESTING + 1


def test_nesting_up_to_the_limit_after_deep_aliases(read: Reading) -> None:
    """Aliases count as deep as what they stand for, so depths are reached in leaps."""
    nesting = MAX_NESTING - 1
    aliases = f"#a = {'[' * 20}{']' * 20}\n#b = {'[' * 20}#a{']' * 20}\n"
    regions = '"x.y"() ({' * nesting + "}) : () -> ()" * nesting
    text = aliases + '"x.y"() {a = #b} : () -> ()' + regions
    assert len(list(read(text).walk())) == nesting + 2


@pytest.mark.parametrize("nesting", [MAX_NESTING, MAX_NESTING + 1])
def test_the_limit_of_frames_is_what_it_was(nesting: int) -> None:
    usual = sys.getrecursionlimit()
    complaint('"x.y"() ({' * nesting + "}) : () -> ()" * nesting)
    assert sys.getrecursionlimit() == usual


LONG = {
    "integer": '"x.y"() {a = ' + "9" * N + "} : () -> ()",
    "hexadecimal": '"x.y"() {a = 0x' + "F" * N + "} : () -> ()",
    "float": '"x.y"() {a = 1.' + "9" * N + "e" + "9" * N + "} : () -> ()",
    "width": '"x.y"() : () -> i' + "9" * N,
    "extent": '"x.y"() : () -> tensor<' + "9" * N + "xf32>",
    "result number": "%a:" + "9" * N + ' = "x.y"() : () -> ()',
    "line": '"x.y"() : () -> () loc("a":' + "9" * N + ":1)",
    "string": '"' + "\\" * (2 * N),
    "open": "<" * N,
    "types that do not end": "tensor<" * 100 + "x" * N,
    "comments": "//\n" * N + "~",
    "quotes": '"' * (N + 1),
}


@pytest.mark.parametrize("what", LONG)
def test_long_tokens_take_little_time(what: str) -> None:
    start = time.process_time()
    message = complaint(LONG[what])
    assert message is None or len(message) < 200
    assert time.process_time() - start < 5


def test_a_program_of_many_aliases_is_read_in_linear_time(read: Reading) -> None:
    uses = "".join(f'"x.y"() : () -> () loc(#loc{i})\n' for i in range(5000))
    definitions = "".join(f'#loc{i} = loc("f":{i}:1)\n' for i in range(5000))
    start = time.process_time()
    assert len(list(read(uses + definitions).walk())) == 5001
    assert time.process_time() - start < 5


PIECES = st.sampled_from(
    '"x.y" ( ) { } < > [ ] , : = -> :: % %a %a#1 %0 @a @ ^a ^ #a ! !a i32 tensor<4x ?x f32 0x10 0x'
    " 1 1.5 - ? * dense array loc callsite fused unknown at to module attributes builtin.module"
    ' affine_map strided true unit "a" " \\ // ... {-# #-} vector< memref< tuple<'.split(" ")
)


@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_any_tokens_are_read_or_refused(text: str) -> None:
    message = complaint(text)
    assert message is None or message.startswith("<stdin>:")


# An alphabet: Hypothesis would need seconds to make its table of all of Unicode.
CHARACTERS = "".join(map(chr, range(256))) + "\u0130\u0301\u2028\u20ac\ufeff\ufffd\U0001d7d8"


@given(st.text(CHARACTERS, max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    message = complaint(text)
    assert message is None or message.startswith("<stdin>:")
