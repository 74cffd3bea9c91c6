"""Small programs of nv_tileaa as text, where `aa.` stands for the dialect, and their rewrites."""

from __future__ import annotations

from integrity import check_integrity

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op


def module(text: str) -> Operation:
    """A module of these functions and symbols."""
    op = parse_text(text.replace("aa.", "nv_tileaa."), context())
    verify(op)
    return op


def kernel(body: str, arguments: str = "") -> FuncOp:
    """A function of these operations."""
    root = module(f"module {{ aa.func @f({arguments}) {{\n{body}\naa.return\n}} }}")
    return next(op for op in root.walk() if isinstance(op, FuncOp))


def run(function: FuncOp, passes: str = "canonicalize") -> FuncOp:
    """Run passes, and verify the program afterwards."""
    root = function.parent_op
    assert root is not None
    parse_pipeline(passes).run(root)
    verify(root)
    check_integrity(root)
    return function


def lines(function: FuncOp) -> list[str]:
    """Return the lines of a function, without its last `return`."""
    return [line.strip() for line in print_op(function).splitlines()[1:-2]]


def simplified(body: str, arguments: str = "") -> list[str]:
    """Return the lines of a function after canonicalization."""
    return lines(run(kernel(body, arguments)))


def same(body: str, expected: str, arguments: str = "") -> bool:
    """Return whether canonicalization rewrites a function to another one.

    The other one must be canonical itself.
    """
    actual = simplified(body, arguments)
    assert simplified(expected, arguments) == lines(kernel(expected, arguments))
    return actual == lines(kernel(expected, arguments))


def stays(body: str, arguments: str = "") -> bool:
    """Return whether canonicalization leaves a function as it is."""
    return simplified(body, arguments) == lines(kernel(body, arguments))


def use(*values: str) -> str:
    """A use of values, each with its type after a colon, that no pass removes."""
    pairs = [value.split(" : ") for value in values]
    names, types = (", ".join(part) for part in zip(*pairs, strict=True))
    return f"aa.optimization_barrier {names} : {types}\n"
