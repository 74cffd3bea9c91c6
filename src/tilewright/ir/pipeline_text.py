"""Pipelines as text: `canonicalize,cuda_tile.entry(cse,loop-split{split-threshold=2})`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Final, NoReturn

from tilewright.ir.passes import Option, Pass, Pipeline
from tilewright.support.diagnostics import Sink, fail
from tilewright.support.location import Positions, Source, TextLoc

PassRegistry = Mapping[str, str | type[Pass]]
"""Passes by name: the class, or "module:Class", which is imported when it is asked for."""

_NAME: Final = re.compile(r"[\w.$-]+")
_VALUE: Final = re.compile(r'"[^"]*"|[^\s,{}"]+')
_SPACE: Final = re.compile(r"\s*")


def parse_pipeline(
    text: str,
    passes: PassRegistry,
    deprecated: Mapping[str, str] | None = None,
    sink: Sink | None = None,
) -> Pipeline:
    """Parse a textual pipeline; raises a `UserError` that points into the text.

    `deprecated` maps former pass names to current ones, or to pipelines; each use adds a warning
    to `sink`.
    """
    parser = _Parser(text, passes, deprecated or {}, Sink() if sink is None else sink)
    pipeline = parser.pipeline(None)
    if parser.at < len(text):
        parser.fail(f"expected ',' or the end of the pipeline, got '{text[parser.at]}'")
    return pipeline


def find_pass(name: str, passes: PassRegistry) -> type[Pass] | None:
    """The pass class of a name, or nothing."""
    entry = passes.get(name)
    return None if entry is None else load_pass(entry)


def load_pass(entry: str | type[Pass]) -> type[Pass]:
    """The pass class of an entry of a registry, imported if need be."""
    if not isinstance(entry, str):
        return entry
    module, _, attribute = entry.partition(":")
    kind: type[Pass] = getattr(import_module(module), attribute)
    return kind


class _Parser:
    __slots__ = ("_deprecated", "_passes", "_positions", "_sink", "_text", "at")

    def __init__(
        self, text: str, passes: PassRegistry, deprecated: Mapping[str, str], sink: Sink
    ) -> None:
        self._text = text
        self._passes = passes
        self._deprecated = deprecated
        self._sink = sink
        self._positions = Positions(Source("<pipeline>", text))
        self.at = 0
        self.skip_space()

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Stop with an error at an offset of the text."""
        fail(message, TextLoc(self._positions, self.at if at is None else at))

    def skip_space(self) -> None:
        """Skip white space."""
        space = _SPACE.match(self._text, self.at)
        assert space is not None
        self.at = space.end()

    def accept(self, character: str) -> bool:
        """Consume a punctuation mark if it is next."""
        if not self._text.startswith(character, self.at):
            return False
        self.at += 1
        self.skip_space()
        return True

    def word(self, pattern: re.Pattern[str], what: str) -> str:
        """Consume a name or a value."""
        token = pattern.match(self._text, self.at)
        if token is None:
            rest = self._text[self.at : self.at + 1]
            self.fail(f"expected {what}, got " + (f"'{rest}'" if rest else "the end of the text"))
        self.at = token.end()
        self.skip_space()
        return token[0]

    def pipeline(self, on: str | None) -> Pipeline:
        """`step,step,...`"""
        steps = [self.step()]
        while self.accept(","):
            steps.append(self.step())
        return Pipeline(*steps, on=on)

    def step(self) -> Pass | Pipeline:
        """`name`, `name{options}` or `operation(pipeline)`."""
        start = self.at
        name = self.word(_NAME, "a pass or an operation")
        if self.accept("("):
            nested = self.pipeline(name)
            if not self.accept(")"):
                self.fail(f"expected ',' or ')' to end the pipeline of '{name}'")
            return nested
        name = self.current_name(name, start)
        if "," in name:
            return parse_pipeline(name, self._passes)
        kind = find_pass(name, self._passes)
        if kind is None:
            known = ", ".join(sorted(self._passes))
            self.fail(f"unknown pass '{name}': expected one of {known}", start)
        return kind(**self.options(kind))

    def current_name(self, name: str, start: int) -> str:
        """Resolve a deprecated pass name, with a warning that names its replacement."""
        current = self._deprecated.get(name)
        if current is None:
            return name
        location = TextLoc(self._positions, start)
        self._sink.warning(f"pass '{name}' is deprecated: use '{current}'", location)
        return current

    def options(self, kind: type[Pass]) -> dict[str, object]:
        """`{name=value flag ...}` or nothing; a flag alone means true."""
        known = {option.spelling: option for option in kind.options().values()}
        given: dict[str, object] = {}
        if not self.accept("{"):
            return given
        while not self.accept("}"):
            start = self.at
            name = self.word(_NAME, "an option or '}'")
            if name not in known:
                listed = f"expected one of {', '.join(known)}" if known else "it has none"
                self.fail(f"unknown option '{name}' of pass '{kind.name}': {listed}", start)
            given[known[name].name] = self.value(known[name])
            self.accept(",")
        return given

    def value(self, option: Option[object]) -> object:
        """`=value`, or nothing for a flag."""
        if not self.accept("="):
            if isinstance(option.default, bool):
                return True
            self.fail(f"expected '=' and a value for option '{option.spelling}'")
        start = self.at
        text = self.word(_VALUE, f"a value for option '{option.spelling}'")
        try:
            return option.parse(text.strip('"'))
        except ValueError as error:
            self.fail(f"option '{option.spelling}': {error}, got '{text}'", start)
