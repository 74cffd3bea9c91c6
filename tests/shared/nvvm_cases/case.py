"""A case of the NVVM dialect: its text, and its PTX."""

from __future__ import annotations

from collections.abc import Callable

ARGUMENTS = (
    "%p: !llvm.ptr, %g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %i: i32, %h: i16, "
    "%l: i64, %b: i1, %x: f32, %y: f64, %v: vector<2xf16>, %w: vector<2xbf16>, %z: vector<2xi8>, "
    "%q: vector<2xf32>, %o: i8"
)


class Case:
    """The text of a body, the type of its result `%r` if any, and a part of the PTX."""

    def __init__(self, body: str, ptx: str, result: str = "", since: str = "80") -> None:
        self.body = body
        self.ptx = ptx
        self.result = result
        self.since = since

    def function(self, name: str) -> str:
        """A kernel that uses the result."""
        lines = [self.body]
        if self.result:
            lines.append(f"llvm.store %r, %g : {self.result}, !llvm.ptr<1>")
        inside = "\n    ".join([*lines, "llvm.return"])
        return (
            f"  llvm.func @{name}({ARGUMENTS}) attributes {{nvvm.kernel}} {{\n    {inside}\n  }}\n"
        )

    def __repr__(self) -> str:
        return self.body


HAVING: dict[str, Callable[[int], bool]] = {
    "80": lambda number: True,
    "89": lambda number: number >= 89,
    "90": lambda number: number >= 90,
    "90a": lambda number: number == 90,
    "100": lambda number: number >= 100,
    "100a": lambda number: 100 <= number < 120,
    "redux": lambda number: number in (100, 103, 107),
    "rs": lambda number: number in (100, 103),
}
"""The GPUs of each target condition of the PTX ISA; LLVM 22 supports less of sm_110."""
