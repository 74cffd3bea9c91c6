"""All cases of all operations, run on the reference executor and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from op_cases import (
    aggregate,
    atomics,
    control_flow,
    conversion,
    core,
    floating,
    functions,
    integer,
    memory,
    misc,
    mma,
    multimem,
    view,
)
from op_cases.accepted import accepted
from op_cases.features import Feature, features, short_name
from op_cases.kernel import Case
from op_cases.values import Effort
from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.ir.operation import Operation


class Group:
    """The cases of some files of the dialect."""

    def __init__(self, sources: Sequence[Callable[[Effort], Iterator[Case]]], *files: str) -> None:
        self.sources = sources
        self.files = files

    @property
    def operations(self) -> list[type[Operation]]:
        """The operations that the files declare."""
        kinds = (CUDA_TILE.ops[name] for name in OPCODES)
        return [kind for kind in kinds if kind.__module__.rpartition(".")[2] in self.files]

    def cases(self, effort: Effort) -> Iterator[Case]:
        """All cases."""
        for source in self.sources:
            yield from source(effort)


GROUPS = {
    "aggregate": Group([aggregate.cases], "aggregate"),
    "atomics": Group([atomics.cases], "atomics"),
    "control_flow": Group([control_flow.cases], "control_flow"),
    "conversion": Group([conversion.cases], "conversion"),
    "core": Group([core.cases], "core"),
    "floating": Group([floating.cases, functions.cases], "floating"),
    "integer": Group([integer.cases], "integer", "bitwise"),
    "memory": Group([memory.cases], "memory"),
    "misc": Group([misc.cases], "misc", "structure"),
    "mma": Group([mma.cases], "mma"),
    "multimem": Group([multimem.cases], "multimem"),
    "view": Group([view.cases], "view"),
}


class Tally:
    """How often an operation was tried, on how many values, and what went wrong."""

    def __init__(self) -> None:
        self.cases = 0
        self.values = 0
        self.problems: list[str] = []


class Report:
    """What came of the cases of a group."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.tallies = {short_name(kind): Tally() for kind in group.operations}
        self.features: set[Feature] = set()

    def run(self, effort: Effort, every: int = 1) -> None:
        """Run all cases, or one of `every` few, and note what they tried."""
        for case in islice(self.group.cases(effort), None, None, every):
            module = case.read()
            problem = case.problem(module)
            wanted = {case.op, *case.also} & set(self.tallies)
            for op in wanted:
                tally = self.tallies[op]
                tally.cases += 1
                tally.values += case.values
                tally.problems += [problem] if problem else []
            if problem is None:
                for op in module.walk():
                    if short_name(op) in wanted:
                        self.features.update(features(op))

    @property
    def problems(self) -> list[str]:
        """Everything that went wrong."""
        return [problem for tally in self.tallies.values() for problem in tally.problems]

    def missing(self) -> set[Feature]:
        """What the verifier lets pass and no case tried."""
        return accepted(self.group.operations) - self.features
