"""Random programs: a module, the arguments of its kernel, and the comparison of results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.api import read
from tilewright.driver.array_text import ELEMENTS
from tilewright.reference.tile import DTYPES, Array
from tilewright.testing.compare import EXACT, Tolerance, difference
from tilewright.testing.generate import (
    arithmetic,
    control,
    conversions,
    effects,
    functions,
    matmuls,
    memory,
    shapes,
    views,
)
from tilewright.testing.generate.inputs import Input
from tilewright.testing.generate.kernel import Kernel, Options, Result

FAMILIES: Final = {
    arithmetic: 6,
    conversions: 3,
    shapes: 4,
    functions: 2,
    matmuls: 1,
    memory: 4,
    views: 3,
    effects: 1,
    control: 4,
}
"""The weights of the kinds of statements."""
MAX_OUTPUTS: Final = 8
ENTRY: Final = "kernel"
OCCUPANCIES: Final = (None, None, None, 2, 16)
"""The hint `occupancy`, or none: two blocks on an SM, or more than a thread has registers for."""
DEFAULT: Final = Options()


class Program(NamedTuple):
    """A program for any executor: run the entry on `arguments()`, then call `differences`."""

    seed: int
    options: Options
    text: str
    grid: tuple[int, int, int]
    inputs: tuple[Input, ...]
    results: tuple[Result, ...]
    """The arguments that the kernel changes."""
    prints: bool
    """Whether it prints: whole lines, in any order."""
    entry: str = ENTRY

    def module(self) -> ModuleOp:
        """The program, parsed and verified."""
        module = read(self.text, name=f"seed_{self.seed}.mlir")
        assert isinstance(module, ModuleOp)
        return module

    def arguments(self) -> list[Any]:
        """New arguments, in order."""
        return [given.value() for given in self.inputs]

    def outcome(self, arguments: Sequence[Any]) -> list[Array]:
        """The result arrays, in an order independent of whether constants are arguments."""
        positions = {given.name: at for at, given in enumerate(self.inputs)}
        return [arguments[positions[result.name]] for result in self.results]

    def differences(
        self, actual: Sequence[Array], expected: Sequence[Array], *, perturbed: bool = False
    ) -> list[str]:
        """Describe the results that differ by more than their tolerance.

        Of a run with perturbed approximations, only results that are specified bit for bit: the
        documented errors of libdevice are those on a GPU.
        """
        wrong: list[str] = []
        for result, a, b in zip(self.results, actual, expected, strict=True):
            if perturbed and result.tolerance is not EXACT:
                continue
            element = ELEMENTS[result.element]
            kind = DTYPES[element]
            gap = difference(a.view(kind), b.view(kind), element, result.tolerance)
            if gap is not None:
                wrong.append(f"{result.name}: {gap}")
        return wrong

    def __str__(self) -> str:
        head = [f"// seed {self.seed}, grid {'x'.join(map(str, self.grid))}"]
        head += [f"// {given.name} = {given}" for given in self.inputs]
        head += [
            f"// compare {result.name}: {_spelled(result.tolerance)}" for result in self.results
        ]
        return "\n".join((*head, self.text))


def _spelled(tolerance: Tolerance) -> str:
    if tolerance is EXACT:
        return "the same bits"
    parts = {"ulps": tolerance.ulps, "relative": tolerance.relative, "absolute": tolerance.absolute}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def generate(seed: int, options: Options = DEFAULT) -> Program:
    """Generate the program of a seed."""
    kernel = Kernel(seed, options)
    statements(kernel, options.size)
    _write_outputs(kernel)
    return Program(
        seed, options, _module_text(kernel), kernel.grid, tuple(kernel.inputs),
        tuple(kernel.results), kernel.prints > 0,
    )  # fmt: skip


def statements(kernel: Kernel, count: int) -> None:
    """Emit `count` random statements."""
    families = list(FAMILIES)
    weights = list(FAMILIES.values())
    for _ in range(count):
        (family,) = kernel.random.choices(families, weights)
        if family is control:
            control.statement(kernel, statements)
        else:
            # pyrefly: ignore[missing-attribute]: any family but control
            kernel.random.choice(family.STATEMENTS)(kernel)


def _write_outputs(kernel: Kernel) -> None:
    """Store values that are not used yet."""
    used = re.findall(r"%v\d+", "\n".join(kernel.lines))
    # The uses of constants depend on whether they are arguments.
    computed = [value for value in kernel.scope.values if value.name not in kernel.constants]
    unused = [value for value in computed if used.count(value.name) == 1]
    kept = kernel.random.sample(unused, min(len(unused), MAX_OUTPUTS))
    for value in kept or [kernel.block]:
        kernel.output(value)


def _module_text(kernel: Kernel) -> str:
    parameters = ", ".join(_parameter(given) for given in kernel.inputs)
    asked = kernel.random.choice(OCCUPANCIES)
    hints = f" optimization_hints=<default = {{occupancy = {asked}}}>" if asked else ""
    lines = [
        "cuda_tile.module @kernels {",
        *[f"  {text}" for text in kernel.globals],
        f"  entry @{ENTRY}({parameters}){hints} {{",
        *kernel.lines,
        "    return",
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _parameter(given: Input) -> str:
    kind = given.element if given.number else f"ptr<{given.element}>"
    return f"%{given.name}: tile<{kind}>"
