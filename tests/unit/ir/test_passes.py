"""Passes, their options, pipelines and instruments."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
import toy
from each_case import each_case

from tilewright.ir.instruments import EVERY, PrintEach, Timing, VerifyEach
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.passes import Instrument, Pass, Pipeline, Stage, option
from tilewright.ir.pipeline_text import parse_pipeline
from tilewright.support.diagnostics import InternalError, Sink, UserError


class Count(Pass):
    """Append the names of its operations to the log of its options."""

    name = "count"
    times: int = option(default=1, doc="how often")
    loud: bool = option(default=False)
    word: str = option(default="seen")

    def run(self, op: Operation, sink: Sink) -> None:
        for _ in range(self.times):
            sink.warning(f"{self.word} {op.attributes.get('sym_name', op.name)}")


class Break(Pass):
    """Make the program invalid."""

    name = "break-things"

    def run(self, op: Operation, sink: Sink) -> None:
        block = op.regions[0].blocks[0]
        block.append(toy.ConstantOp())


class Report(Pass):
    """Report an error."""

    name = "report"

    def run(self, op: Operation, sink: Sink) -> None:
        sink.error("that does not work", op.location)


PASSES: dict[str, str | type[Pass]] = {
    "count": Count,
    "break-things": Break,
    "report": Report,
    "cse": "tilewright.transforms.generic.cse:Cse",
}


def program() -> toy.ModuleOp:
    blocks = [toy.block_of() for _ in range(2)]
    for _, build in blocks:
        build.create(toy.ReturnOp)
    return toy.module(*[toy.func(f"f{n}", block) for n, (block, _) in enumerate(blocks)])[0]


def messages(pipeline: Pipeline, op: Operation) -> list[str]:
    sink = Sink()
    pipeline.run(op, sink)
    return [re.sub(r"StringAttr\('(\w+)',\)", r"\1", d.message) for d in sink.diagnostics]


def test_options_have_defaults_and_values() -> None:
    assert (Count().times, Count().loud) == (1, False)
    assert Count(times=3).times == 3
    assert list(Count.options()) == ["times", "loud", "word"]
    assert Count.options()["times"].doc == "how often"
    with pytest.raises(InternalError, match="pass 'count' has no option 'time'"):
        cast(Any, Count)(time=1)


def test_a_nested_pipeline_runs_on_each_operation_of_its_kind() -> None:
    steps = Pipeline(Count(), Pipeline(Count(word="a"), Count(word="b"), on="toy.func"))
    assert messages(steps, program()) == ["seen toy.module", "a f0", "b f0", "a f1", "b f1"]


def test_a_nested_pipeline_finds_the_outermost_operations() -> None:
    inner = program()
    outer, _ = toy.module(inner)
    assert messages(Pipeline(Pipeline(Count(), on="toy.func")), outer) == ["seen f0", "seen f1"]
    assert messages(Pipeline(Pipeline(Count(), on="toy.module")), outer) == ["seen toy.module"]


def test_text_and_pipelines_mean_the_same() -> None:
    text = "count{times=2 loud=true},toy.func(cse,count{word=x})"
    pipeline = parse_pipeline(text, PASSES)
    assert str(pipeline) == text
    assert messages(pipeline, program()) == ["seen toy.module"] * 2 + ["x f0", "x f1"]
    spaced = parse_pipeline(' count { times = 2, loud } , toy.func( cse, count{word="x"}) ', PASSES)
    assert str(spaced) == text


@each_case(
    ("text", "column", "message"),
    [
        ("", 1, "expected a pass or an operation, got the end of the text"),
        ("cse,", 5, "expected a pass or an operation, got the end of the text"),
        ("cse,csee", 5, "unknown pass 'csee': expected one of break-things, count, cse, report"),
        ("cse)", 4, "expected ',' or the end of the pipeline, got ')'"),
        ("toy.func(cse", 13, "expected ',' or ')' to end the pipeline of 'toy.func'"),
        ("toy.func()", 10, "expected a pass or an operation, got ')'"),
        ("cse{a=1}", 5, "unknown option 'a' of pass 'cse': it has none"),
        (
            "count{time=1}",
            7,
            "unknown option 'time' of pass 'count': expected one of times, loud, word",
        ),
        ("count{times}", 12, "expected '=' and a value for option 'times'"),
        ("count{times=x}", 13, "option 'times': expected an integer, got 'x'"),
        ("count{loud=1}", 12, "option 'loud': expected true or false, got '1'"),
        ("count{times=1", 14, "expected an option or '}', got the end of the text"),
    ],
)
def test_errors_in_pipelines_have_their_column(text: str, column: int, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_pipeline(text, PASSES)
    assert caught.value.headline() == f"<pipeline>:1:{column}: error: {message}"


def test_an_error_stops_the_pipeline() -> None:
    sink = Sink()
    with pytest.raises(UserError, match="that does not work"):
        Pipeline(Report(), Count()).run(program(), sink)
    assert len(sink.diagnostics) == 1


def test_verify_each_blames_the_pass() -> None:
    Pipeline(Count()).run(program(), instruments=[VerifyEach()])
    with pytest.raises(InternalError, match="invalid program after pass 'break-things'"):
        Pipeline(Break()).run(program(), instruments=[VerifyEach()])


def test_a_stage_keeps_its_contract() -> None:
    good = ConversionTarget(legal=("toy",))
    bad = ConversionTarget(legal=("toy",), illegal=(toy.ReturnOp,))
    assert messages(Pipeline(Stage("one", Count(), leaves=good)), program()) == ["seen toy.module"]
    with pytest.raises(InternalError, match=r"after stage 'two': 'toy.return' op is not legal"):
        Pipeline(Stage("two", Count(), leaves=bad)).run(program())


def test_instruments_nest() -> None:
    events: list[str] = []

    class Watch(Instrument):
        def __init__(self, tag: str) -> None:
            self.tag = tag

        def before(self, step: Pass, op: Operation) -> None:
            events.append(f"{self.tag} before {step.name}")

        def after(self, step: Pass, op: Operation) -> None:
            events.append(f"{self.tag} after {step.name}")

        def failed(self, step: Pass, op: Operation) -> None:
            events.append(f"{self.tag} failed {step.name}")

    with pytest.raises(UserError):
        Pipeline(Count(), Report()).run(program(), instruments=[Watch("x"), Watch("y")])
    assert events == [
        "x before count",
        "y before count",
        "y after count",
        "x after count",
        "x before report",
        "y before report",
        "y failed report",
        "x failed report",
    ]


def test_the_timing_table_lists_every_pass() -> None:
    timing = Timing()
    nested = Pipeline(Count(), on="toy.func")
    Pipeline(nested, parse_pipeline("cse", PASSES)).run(program(), instruments=[timing])
    lines = timing.report().splitlines()
    assert [line.split()[-1] for line in lines] == ["pass", "count", "cse", "total"]
    assert [line.split()[2] for line in lines] == ["runs", "2", "1", "3"]
    assert all(seconds >= 0 for seconds in timing.seconds.values())


def test_printing_before_and_after() -> None:
    texts: list[str] = []
    printer = PrintEach(lambda op: op.name, texts.append, before=("count",), after=EVERY)
    with pytest.raises(UserError):
        Pipeline(Count(), Report()).run(program(), instruments=[printer])
    assert texts == [
        "// -----// before count ('toy.module') //----- //\ntoy.module\n\n",
        "// -----// after count ('toy.module') //----- //\ntoy.module\n\n",
        "// -----// report failed ('toy.module') //----- //\ntoy.module\n\n",
    ]
