"""Sphinx configuration of the documentation site: `make docs`."""

from __future__ import annotations

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from sphinx.application import Sphinx

project = "Tilewright"
html_title = "Tilewright"
copyright = "the authors of Tilewright"
extensions = ["myst_parser"]
root_doc = "index"
# Anchors of headings are those of GitHub, so that a link works there and on the site.
myst_heading_anchors = 4
highlight_language = "text"
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path: list[str] = []
pygments_style = "friendly"
pygments_dark_style = "github-dark"


class MlirLexer(RegexLexer):
    """Highlight the text of MLIR, which Pygments does not know."""

    name = "MLIR"
    aliases = ["mlir"]  # noqa: RUF012
    tokens = {  # noqa: RUF012
        "root": [
            (r"//.*?$", Comment.Single),
            (r'"[^"\n]*"', String),
            (r"[%^][\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"[#!][A-Za-z_][\w$.]*", Name.Class),
            (r"(\w+)(\.)(?=\w)", bygroups(Name.Namespace, Operator)),
            (
                r"\b(?:i\d+|[usi]i\d+|b?f\d+\w*|tf32|index|tensor|vector|memref|tile)\b",
                Keyword.Type,
            ),
            (r"-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\b0x[0-9a-fA-F]+\b", Number),
            (r"\b[A-Za-z_]\w*\b", Name),
            (r"->|[=:,<>(){}\[\]?*+-]", Operator),
            (r"\s+", Text),
            (r".", Text),
        ],
    }


def setup(app: Sphinx) -> None:
    """Register the lexer of MLIR."""
    app.add_lexer("mlir", MlirLexer)
