"""Parser from PTX text to a `PtxModule`: directives, functions, labels, instructions."""

from __future__ import annotations

import re
from typing import Final

from tilewright.ptxsim.cursor import Cursor
from tilewright.ptxsim.declarations import SPACES, parse_parameters, parse_variables
from tilewright.ptxsim.operands import MalformedOperand, parse_operand, split_operands
from tilewright.ptxsim.scalar_types import SCALAR_TYPES
from tilewright.ptxsim.syntax import (
    Function,
    Instruction,
    Label,
    Name,
    NameTable,
    Operand,
    Prototype,
    PtxModule,
    RegisterDeclaration,
    Scope,
    SourceLine,
    Variable,
)
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import fail

_DIRECTIVE: Final = re.compile(r"\.([a-zA-Z_]\w*)")
_INSTRUCTION: Final = re.compile(
    r"(?:@\s*(!?)\s*([%$\w]+)\s+)?([a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;({\[%!-])(?!\s*:)([^;]*);\s*"
)
_LABEL: Final = re.compile(r"([%$\w]+)\s*:(?!:)")
_BANK: Final = re.compile(r"([%$\w]+?)\s*(?:<\s*(\d+)\s*>)?\s*(?=[,;])")
_FILE: Final = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.MULTILINE)
_LOC: Final = re.compile(r"(\d+)\s+(\d+)\s+(\d+)([^\n]*)")
_INLINED: Final = re.compile(r"\binlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_MOST_CALLS: Final = 64
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
_WORDS: Final = re.compile(r"[\w, \t]+")
_LINKING: Final = frozenset({"visible", "extern", "weak", "common"})
# Performance-tuning directives of a kernel, each followed by its numbers.
_KERNEL_DIRECTIVES: Final = frozenset(
    {
        "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "reqnctapercluster",
        "explicitcluster", "maxclusterrank", "blocksareclusters", "noreturn",
    }
)  # fmt: skip


def parse(text: str, name: str = "<ptx>") -> PtxModule:
    """Parse a PTX text; `name` is its name in diagnostics."""
    with CollectorPause():
        return _Parser(text, name).module()


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.cursor = Cursor(text, name)
        self.scope = Scope(None)
        self.files = {int(number): path for number, path in _FILE.findall(self.cursor.text)}
        self.operands: dict[str, tuple[Operand, ...]] = {}
        self.result = PtxModule((0, 0), (), self.scope, [], {})
        self.function: Function | None = None
        self.source_line: SourceLine | None = None
        self.callers: dict[tuple[str, ...], SourceLine] = {}
        """The lines of `.loc` directives of the function, by their numbers."""

    def module(self) -> PtxModule:
        cursor = self.cursor
        while cursor.peek():
            match = cursor.match(_DIRECTIVE)
            if match is None:
                cursor.fail("expected a directive")
            self.module_directive(match[1], match.start())
        if self.result.version == (0, 0):
            fail("expected the directive '.version'", cursor.location(0))
        return self.result

    def module_directive(self, word: str, at: int, external: bool = False) -> None:
        cursor = self.cursor
        if word in _LINKING:
            match = cursor.match(_DIRECTIVE)
            if match is None:
                cursor.fail("expected a directive")
            self.module_directive(match[1], at, external or word == "extern")
        elif word in ("entry", "func"):
            self.parse_function(word == "entry")
        elif word in SPACES:
            self.declare(parse_variables(cursor, word, external), self.result.variables)
        else:
            self.plain_directive(word, at)

    def plain_directive(self, word: str, at: int) -> None:
        cursor = self.cursor
        if word == "version":
            match = cursor.match(_VERSION)
            if match is None:
                cursor.fail("expected a version")
            self.result.version = int(match[1]), int(match[2])
        elif word == "target":
            match = cursor.match(_WORDS)
            names = match[0].split(",") if match else []
            self.result.target = tuple(name.strip() for name in names)
        elif word == "address_size":
            if cursor.number() != 64:
                cursor.unsupported("addresses of 32 bits", at)
        elif word == "section":
            cursor.until("}")
        elif word in ("file", "loc"):
            cursor.line()
        elif word in ("pragma", "alias"):
            cursor.until(";")
        else:
            cursor.fail("expected a directive", at)

    def declare(self, variables: list[Variable], into: list[Variable]) -> None:
        for variable in variables:
            previous = self.scope.names.get(variable.name)
            if isinstance(previous, Variable) and not (previous.external or variable.external):
                fail(f"'{variable.name}' is declared twice", variable.location)
            self.scope.names[variable.name] = variable
            into.append(variable)

    def parse_function(self, is_entry: bool) -> None:
        cursor = self.cursor
        location = cursor.location()
        returns = parse_parameters(cursor)
        name = cursor.name()
        parameters = parse_parameters(cursor)
        scope = Scope(self.scope)
        for variable in (*returns, *parameters):
            is_register = variable.space == "reg"
            register = RegisterDeclaration(variable.name, variable.type)
            scope.names[variable.name] = register if is_register else variable
        function = Function(name, is_entry, returns, parameters, scope, location)
        self.parse_kernel_directives(function)
        if cursor.accept("{"):
            self.parse_body(function)
        else:
            cursor.expect(";")
        known = self.result.functions.get(name)
        if known is not None and known.body is not None and function.body is not None:
            fail(f"'{name}' is defined twice", location)
        if known is None or function.body is not None:
            self.result.functions[name] = function

    def parse_kernel_directives(self, function: Function) -> None:
        cursor = self.cursor
        while (match := cursor.match(_DIRECTIVE)) is not None:
            if match[1] == "pragma":
                cursor.until(";")
            elif match[1] in ("attribute", "loc"):
                cursor.line()
            elif match[1] in _KERNEL_DIRECTIVES:
                function.directives[match[1]] = cursor.numbers()
            else:
                cursor.fail("expected a directive of a function", match.start())

    def parse_body(self, function: Function) -> None:
        cursor = self.cursor
        outer, self.scope, self.function = self.scope, function.scope, function
        function.body = []
        self.source_line = None
        self.callers = {}
        while self.scope is not outer:
            self.parse_statement(function.body)
        self.end_body(function.body, function.scope)
        self.function = None
        cursor.skip()

    def end_body(self, body: list[Instruction], scope: Scope) -> None:
        """Append `ret` to a body that does not end with one."""
        if body and body[-1].guard is None and body[-1].opcode in ("ret", "exit"):
            return
        positions = self.cursor.positions
        body.append(Instruction("ret", None, False, (), scope, positions, self.cursor.at - 1, None))

    def parse_statement(self, body: list[Instruction]) -> None:
        cursor = self.cursor
        match = _INSTRUCTION.match(cursor.text, cursor.at)
        if match is not None:
            body.append(self.instruction(match))
            cursor.at = match.end()
        elif cursor.accept("{"):
            self.scope = Scope(self.scope)
        elif cursor.accept("}"):
            assert self.scope.parent is not None, "a body ends before the module's scope"
            self.scope = self.scope.parent
        elif (match := cursor.match(_LABEL)) is not None:
            self.parse_label(match[1], len(body))
        elif (match := cursor.match(_DIRECTIVE)) is not None:
            self.body_directive(match[1], match.start())
        else:
            cursor.fail("expected an instruction")

    def instruction(self, match: re.Match[str]) -> Instruction:
        negated, guard, opcode, text = match.groups()
        operands = self.operands.get(text)
        if operands is None:
            operands = self.parse_operands(text, match.start(4))
        return Instruction(
            opcode,
            Name(guard) if guard else None,
            bool(negated),
            operands,
            self.scope,
            self.cursor.positions,
            match.start(3) if guard is None else match.start(),
            self.source_line,
        )

    def parse_operands(self, text: str, at: int) -> tuple[Operand, ...]:
        stripped = text.strip()
        try:
            parts = split_operands(stripped) if stripped else []
            operands = tuple(map(parse_operand, parts))
        except MalformedOperand as problem:
            blanks = len(text) - len(text.lstrip())
            fail(str(problem), self.cursor.location(at + blanks))
        self.operands[text] = operands
        return operands

    def parse_label(self, name: str, index: int) -> None:
        cursor = self.cursor
        names = self.scope.names
        if name in names:
            cursor.fail(f"label '{name}' is defined twice")
        match = _DIRECTIVE.match(cursor.text, cursor.at)
        kind = match[1] if match else ""
        if match is not None and kind in ("branchtargets", "calltargets"):
            cursor.match(_DIRECTIVE)
            targets = cursor.until(";").split(",")
            names[name] = NameTable(tuple(target.strip() for target in targets))
        elif match is not None and kind == "callprototype":
            cursor.match(_DIRECTIVE)
            returns = parse_parameters(cursor)
            cursor.accept("_")
            names[name] = Prototype(returns, parse_parameters(cursor))
            cursor.until(";")
        else:
            names[name] = Label(index)

    def body_directive(self, word: str, at: int) -> None:
        cursor = self.cursor
        if word == "reg":
            self.declare_registers()
        elif word in SPACES:
            assert self.function is not None, "only a body is parsed here"
            self.declare(parse_variables(cursor, word), self.function.variables)
        elif word == "loc":
            self.set_source_line(cursor.line())
        else:
            self.plain_directive(word, at)

    def declare_registers(self) -> None:
        cursor = self.cursor
        match = cursor.match(_DIRECTIVE)
        if match is None or match[1] not in SCALAR_TYPES:
            at = match.start() if match else cursor.at
            cursor.unsupported(f"registers of type {cursor.text[at:].split()[0]}", at)
        while True:
            bank = cursor.match(_BANK)
            if bank is None:
                cursor.fail("expected a register")
            if bank[2]:
                self.scope.declare_bank(bank[1], match[1], int(bank[2]))
            else:
                self.scope.names[bank[1]] = RegisterDeclaration(bank[1], match[1])
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def set_source_line(self, text: str) -> None:
        match = _LOC.match(text)
        if match is None:
            self.cursor.fail("expected a file, a line and a column")
        numbers = match.group(1, 2, 3)
        call = _INLINED.search(match[4])
        caller = None if call is None else self.caller_at(call.group(1, 2, 3))
        self.source_line = self.source_line_at(numbers, caller) if int(match[2]) else None
        # Directives that name one another would make calls without end.
        if self.source_line is not None and self.source_line.call_count < _MOST_CALLS:
            self.callers[numbers] = self.source_line

    def caller_at(self, numbers: tuple[str, ...]) -> SourceLine:
        """The line of a call: that of an earlier `.loc`, which may be inlined itself."""
        return self.callers.get(numbers) or self.source_line_at(numbers, None)

    def source_line_at(self, numbers: tuple[str, ...], caller: SourceLine | None) -> SourceLine:
        file, line, column = map(int, numbers)
        return SourceLine(self.files.get(file, f"<file {file}>"), line, column, caller)
