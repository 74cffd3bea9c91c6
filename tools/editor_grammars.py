"""Write the grammars that colour Tile IR text in editors, from the declarations of the dialects.

python tools/editor_grammars.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tilewright.driver.lsp.words import (
    BUILTIN_TYPES,
    CUSTOM_WORDS,
    OTHER_WORDS,
    dialects,
    enums,
    keywords,
)
from tilewright.ir.attributes import EnumAttr
from tilewright.ir.operation import Operation

ROOT: Final = Path(__file__).parent.parent
COMMENT: Final = "written by tools/editor_grammars.py from the declarations of the dialects"
DEFAULT_DIALECT: Final = "cuda_tile"
_IDENTIFIER: Final = r"[A-Za-z0-9_$.-]+"


def operations() -> list[type[Operation]]:
    """Every operation of every dialect."""
    return [kind for dialect in dialects() for kind in dialect.ops.values()]


def operation_names() -> list[str]:
    """The full names of operations, other spellings included."""
    return sorted({name for dialect in dialects() for name in dialect.ops})


def short_names() -> list[str]:
    """The names that may lack the prefix of their dialect."""
    prefix = f"{DEFAULT_DIALECT}."
    names = [name.removeprefix(prefix) for name in operation_names() if name.startswith(prefix)]
    return sorted({*names, "module"})


def type_names() -> list[str]:
    """The names of types without the prefix of their dialect."""
    names = {name.partition(".")[2] for dialect in dialects() for name in dialect.types}
    return sorted(name for name in names if "." not in name)


def attribute_names() -> list[str]:
    """The names of attributes without the prefix of their dialect, such as `div_by`."""
    kinds = [item for dialect in dialects() for item in dialect.attributes.items()]
    names = {name.partition(".")[2] for name, kind in kinds if not issubclass(kind, EnumAttr)}
    return sorted(name for name in names if name.isidentifier())


def enum_words() -> list[str]:
    """The words of all enumerations."""
    known: set[type[EnumAttr]] = {enum for kind in operations() for enum in enums(kind)}
    for dialect in dialects():
        known.update(kind for kind in dialect.attributes.values() if issubclass(kind, EnumAttr))
    words = {member.keyword for enum in known for member in enum}
    return sorted(word for word in words if word.isidentifier())


def keyword_list() -> list[str]:
    """The words in the text of operations, types, attributes and locations."""
    words = {word for kind in operations() for word in keywords(kind)}
    words.update(OTHER_WORDS, attribute_names(), *CUSTOM_WORDS.values())
    return sorted(words - {*type_names(), *BUILTIN_TYPES})


def builtin_names() -> list[str]:
    """The builtin types, without the integers, which have any width."""
    return sorted(name for name in BUILTIN_TYPES if not re.fullmatch(r"i[0-9]+", name))


def _any(words: Iterable[str]) -> str:
    # The longest first: the first alternative that matches is taken.
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word) for word in ordered) + ")"


def _rule(name: str, match: str, **more: Any) -> dict[str, Any]:
    return {"name": f"{name}.tileir", "match": match, **more}


def textmate() -> str:
    """The grammar for TextMate, VS Code and others."""
    end = r"(?![\w$.])"
    name = {"1": {"name": "support.function.operation.tileir"}}
    prefixed = {"name": "support.function.operation.tileir"}
    integers = "[su]?i[1-9][0-9]*"
    builtin = rf"(?:{integers}|{_any(builtin_names())})"
    rules = [
        _rule("comment.line.double-slash", "//.*$"),
        {
            "name": "string.quoted.double.tileir",
            "begin": '"',
            "end": '"|$',
            "patterns": [_rule("constant.character.escape", r"\\.")],
        },
        _rule("variable.other", rf"%{_IDENTIFIER}(?:#[0-9]+)?"),
        _rule("entity.name.label", rf"\^{_IDENTIFIER}"),
        _rule("entity.name.function", r'@(?:[A-Za-z_][\w$.]*|"[^"]*")'),
        _rule("storage.type", rf"!{_IDENTIFIER}"),
        _rule("constant.other.attribute", rf"#{_IDENTIFIER}"),
        {**prefixed, "match": rf"\b{_any(operation_names())}{end}"},
        {"match": rf"(?:^|=|\{{)\s*({_any(short_names())}){end}", "captures": name},
        _rule("constant.numeric.shape", r"(?<![\w.])(?:(?:[0-9]+|\?)x)+"),
        _rule("storage.type.builtin", rf"(?:(?<=[0-9?]x)|\b){builtin}{end}"),
        _rule("storage.type", rf"(?:(?<=[0-9?]x)|\b){_any(type_names())}{end}"),
        _rule("constant.language", rf"\b{_any(enum_words())}{end}"),
        _rule("keyword.other", rf"\b{_any(keyword_list())}{end}"),
        _rule(
            "constant.numeric",
            r"\b0x[0-9A-Fa-f]+\b|-?\b[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?",
        ),
    ]
    grammar = {
        "comment": COMMENT,
        "name": "Tile IR",
        "scopeName": "source.tileir",
        "fileTypes": ["mlir", "tileir"],
        "patterns": rules,
    }
    return json.dumps(grammar, indent=2) + "\n"


def vim() -> str:
    """The syntax file for Vim and Neovim."""
    lines = [
        f'" {COMMENT}',
        "if exists('b:current_syntax')",
        "  finish",
        "endif",
        "syntax iskeyword @,48-57,_,.,$",
        *_vim_keywords("tileirEnum", enum_words()),
        *_vim_keywords("tileirKeyword", keyword_list()),
        *_vim_keywords("tileirType", [*type_names(), *builtin_names()]),
        # Of two groups with the same word, such as addf of atomics, the last one counts.
        *_vim_keywords("tileirOperation", [*operation_names(), *short_names()]),
        r"syntax match tileirType /\<[su]\?i[1-9][0-9]*\>/",
        r"syntax match tileirNumber /\<[0-9][0-9.]*\([eE][-+]\?[0-9]\+\)\?\>/",
        r"syntax match tileirNumber /\<0x[0-9A-Fa-f]\+\>/",
        r"syntax match tileirShape /\(\<[0-9]\+x\|?x\)\([0-9]\+x\|?x\)*/ nextgroup=tileirElement",
        rf"syntax match tileirElement /\%([su]\?i[1-9][0-9]*\|{_vim_any()}\)/ contained",
        r"syntax match tileirValue /%[A-Za-z0-9_$.-]\+\(#[0-9]\+\)\?/",
        r"syntax match tileirLabel /\^[A-Za-z0-9_$.-]\+/",
        r"syntax match tileirSymbol /@[A-Za-z_][A-Za-z0-9_$.]*/",
        r"syntax match tileirType /![A-Za-z0-9_$.-]\+/",
        r"syntax match tileirAttribute /#[A-Za-z0-9_$.-]\+/",
        r'syntax region tileirString start=/"/ skip=/\\./ end=/"/ oneline',
        r"syntax match tileirComment +//.*$+",
        *(f"highlight default link tileir{name} {group}" for name, group in _VIM_GROUPS.items()),
        "let b:current_syntax = 'tileir'",
    ]
    return "\n".join(lines) + "\n"


_VIM_GROUPS: Final = {
    "Attribute": "PreProc",
    "Comment": "Comment",
    "Element": "Type",
    "Enum": "Constant",
    "Keyword": "Keyword",
    "Label": "Label",
    "Number": "Number",
    "Operation": "Statement",
    "Shape": "Number",
    "String": "String",
    "Symbol": "Function",
    "Type": "Type",
    "Value": "Identifier",
}


def _vim_keywords(group: str, words: list[str]) -> list[str]:
    # Vim reads these words in such a list as options of it.
    options = {"contained", "conceal", "cchar", "contains", "nextgroup", "transparent"}
    listed = [word for word in words if word not in options]
    rows = [listed[start : start + 12] for start in range(0, len(listed), 12)]
    return [f"syntax keyword {group} {' '.join(row)}" for row in rows]


def _vim_any() -> str:
    return r"\|".join([*type_names(), *builtin_names()])


FILES: Final = {
    ROOT / "editors" / "tilewright.tmLanguage.json": textmate,
    # Extensions of VS Code contain the files that they use.
    ROOT / "editors" / "vscode" / "syntaxes" / "tilewright.tmLanguage.json": textmate,
    ROOT / "editors" / "nvim" / "syntax" / "tileir.vim": vim,
}
"""The files and the functions that write them."""


if __name__ == "__main__":
    for file, write in FILES.items():
        file.write_text(write(), "utf-8")
