"""Reduction of programs: from a file in the form of the file, and of modules in memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tilewright.bytecode.reader import read_header
from tilewright.bytecode.varint import Cursor
from tilewright.bytecode.versions import NEWEST
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.assembly import tile_module, with_plain_locations
from tilewright.driver.files import is_bytecode
from tilewright.driver.reduction.engine import Candidate, Form, Reducer
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.ir.operation import Operation


def reducer_of(
    data: bytes,
    name: str,
    test: Callable[[Candidate], bool],
    accepted: Callable[[Reducer], object],
    *,
    keep_arguments: bool = False,
) -> Reducer | None:
    """A reducer of a program, in the first form that is interesting; None if there is none.

    Raises `tilewright.Error` if the program is invalid.
    """
    module = read_level(data, name)
    verify(module)
    for form in forms(data, name):
        written = form.write(module.clone())
        reducer = Reducer(form, test, accepted, keep_arguments=keep_arguments)
        if reducer.start(Candidate(written, form.read(written))):
            return reducer
    return None


def forms(data: bytes, name: str) -> list[Form]:
    """The forms of a program: that of its file; text without locations, and with them."""

    def read(written: bytes) -> Operation:
        return read_level(written, name)

    if is_bytecode(data):
        version = max(NEWEST, read_header(Cursor(data, 0, name, "file")))

        def encode(module: Operation) -> bytes:
            return write_bytecode(with_plain_locations(tile_module(module, name)), version)

        return [Form(encode, read)]
    return [Form(partial(_text, debug=debug), read) for debug in (False, True)]


def _text(module: Operation, *, debug: bool) -> bytes:
    return print_op(module, debug=debug).encode()


def reduce_module(module: Operation, fails: Callable[[Operation], bool]) -> Operation:
    """Reduce a module for which `fails` holds; kernels keep their arguments.

    An edit may introduce undefined behaviour: `fails` must distinguish it from the failure of
    interest.
    """

    def test(candidate: Candidate) -> bool:
        return fails(candidate.module.clone())

    data = print_op(module).encode()
    reducer = reducer_of(data, "<module>", test, lambda _: None, keep_arguments=True)
    return module if reducer is None else reducer.run().module
