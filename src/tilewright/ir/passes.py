"""Passes with declared options, and the pipelines that run them.

    class LoopSplit(Pass):
        \"\"\"Split loops where a condition on the counter changes.\"\"\"

        name = "loop-split"
        split_threshold: int = option(default=1, doc="least cost of what the split saves")
        split = statistic("loops split in two")

        def run(self, op: Operation, sink: Sink) -> None: ...

`LoopSplit(split_threshold=2)` in Python is `loop-split{split-threshold=2}` in text; see
`ir.pipeline_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast, dataclass_transform

from tilewright.support.diagnostics import InternalError, Sink

if TYPE_CHECKING:
    from tilewright.ir.legality import ConversionTarget
    from tilewright.ir.operation import Operation

T = TypeVar("T")


class Option(Generic[T]):
    """An option of a pass: its default, what it is for, and how its text is read."""

    __slots__ = ("default", "doc", "name", "parse")

    def __init__(self, default: T, doc: str, parse: Callable[[str], T] | None) -> None:
        self.default = default
        self.doc = doc
        self.parse = _reader(default) if parse is None else parse
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def spelling(self) -> str:
        """The name in a textual pipeline."""
        return self.name.replace("_", "-")

    # Without `__set__` the value in the instance's dictionary, if there is one, goes first.
    def __get__(self, owner: object, kind: type) -> Option[T] | T:
        return self if owner is None else self.default


def option(*, default: T, doc: str = "", parse: Callable[[str], T] | None = None) -> T:
    """Declare an option; `parse` raises `ValueError` with what it expected."""
    return cast("T", Option(default, doc, parse))


class Statistic:
    """A statistic of a pass: it counts in the sink of a run, since passes keep no state."""

    __slots__ = ("doc", "name", "pass_name")

    def __init__(self, doc: str) -> None:
        self.doc = doc
        self.name = ""
        self.pass_name = ""

    def __set_name__(self, owner: type[Pass], name: str) -> None:
        self.name = name.replace("_", "-")
        self.pass_name = owner.name

    def add(self, sink: Sink, amount: int = 1) -> None:
        """Count what a run of the pass did."""
        sink.count(self.pass_name, self.name, amount)


def statistic(doc: str) -> Statistic:
    """Declare a statistic of a pass, which `--statistics` shows."""
    return Statistic(doc)


def _reader(default: T) -> Callable[[str], T]:
    readers: dict[type, Callable[[str], object]] = {bool: _read_bool, int: _read_int}
    return cast("Callable[[str], T]", readers.get(type(default), str))


def _read_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"


def _read_int(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError("expected an integer") from None


@dataclass_transform(kw_only_default=True, field_specifiers=(option,))
class Pass:
    """One step over a program. Passes keep no state between runs: threads may share them."""

    name: ClassVar[str] = ""
    is_required: ClassVar[bool] = False
    """Whether programs do not compile without it; `--opt-bisect-limit` skips only others."""

    def __init__(self, **options: object) -> None:
        known = self.options()
        for key, value in options.items():
            if key not in known:
                raise InternalError(f"pass '{self.name}' has no option {key!r}")
            self.__dict__[key] = value

    @classmethod
    def options(cls) -> dict[str, Option[object]]:
        """The declared options by name."""
        members = [member for base in reversed(cls.__mro__) for member in vars(base).values()]
        return {member.name: member for member in members if isinstance(member, Option)}

    @classmethod
    def statistics(cls) -> list[Statistic]:
        """The declared statistics."""
        return [member for member in vars(cls).values() if isinstance(member, Statistic)]

    def run(self, op: Operation, sink: Sink) -> None:
        """Change what is inside `op`. Errors, warnings and remarks go to `sink`."""
        raise NotImplementedError

    def __str__(self) -> str:
        given = {key: value for key, value in vars(self).items() if key in self.options()}
        if not given:
            return self.name
        texts = [f"{key.replace('_', '-')}={_text(value)}" for key, value in given.items()]
        return f"{self.name}{{{' '.join(texts)}}}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Instrument:
    """Watches passes run. A subclass overrides what it wants to see."""

    __slots__ = ()

    def skips(self, step: Pass, op: Operation) -> bool:
        """Whether `step` does not run on `op`; no instrument sees it then."""
        return False

    def before(self, step: Pass, op: Operation) -> None:
        """`step` is about to run on `op`."""

    def after(self, step: Pass, op: Operation) -> None:
        """`step` has run on `op`; called in the reverse order of `before`."""

    def failed(self, step: Pass, op: Operation) -> None:
        """`step` has stopped with an error."""


class Pipeline:
    """Passes in order. A pipeline inside another runs on the operations that `on` names.

    These are the operation at hand, or the outermost ones inside it; each goes through all steps
    before the next one starts.
    """

    __slots__ = ("on", "steps")

    def __init__(self, *steps: Pass | Pipeline, on: str | None = None) -> None:
        self.steps = steps
        self.on = on

    def run(
        self, op: Operation, sink: Sink | None = None, instruments: Sequence[Instrument] = ()
    ) -> None:
        """Run all steps on `op`; raises a `UserError` after the first step that reports one."""
        reports = Sink() if sink is None else sink
        for step in self.steps:
            if isinstance(step, Pass):
                _run(step, op, reports, instruments)
                continue
            for target in tuple(_targets(op, step.on)):
                step.run(target, reports, instruments)

    def __str__(self) -> str:
        steps = ",".join(map(str, self.steps))
        return steps if self.on is None else f"{self.on}({steps})"


class Stage(Pipeline):
    """A pipeline with a contract: when it is done, only what `leaves` calls legal is left."""

    __slots__ = ("leaves", "name")

    def __init__(self, name: str, *steps: Pass | Pipeline, leaves: ConversionTarget) -> None:
        super().__init__(*steps)
        self.name = name
        self.leaves = leaves

    def run(
        self, op: Operation, sink: Sink | None = None, instruments: Sequence[Instrument] = ()
    ) -> None:
        super().run(op, sink, instruments)
        for problem in self.leaves.problems(op):
            message = f"after stage '{self.name}': {problem.message}"
            raise InternalError(message, problem.location)


def _run(step: Pass, op: Operation, sink: Sink, instruments: Sequence[Instrument]) -> None:
    if any([instrument.skips(step, op) for instrument in instruments]):
        return
    for instrument in instruments:
        instrument.before(step, op)
    try:
        step.run(op, sink)
        sink.raise_errors()
    except BaseException:
        for instrument in reversed(instruments):
            instrument.failed(step, op)
        raise
    for instrument in reversed(instruments):
        instrument.after(step, op)


def _targets(op: Operation, name: str | None) -> Iterator[Operation]:
    if name is None or op.name == name:
        yield op
        return
    for inner in op.members():
        if inner.regions or inner.name == name:
            yield from _targets(inner, name)
