"""`tilewright lsp`: sessions of a client over the standard streams of the real command."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from command_line import Run
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

GOOD = """\
cuda_tile.module @kernels {
  entry @add(%a: tile<f32>, %b: tile<f32>) {
    %sum = addf %a, %b rounding<nearest_even> : tile<f32>
    %twice = addf %sum, %sum : tile<f32>
    return
  }
}
"""
BROKEN = GOOD.replace("%twice = addf %sum", "%twice = adff %som")
COMMAND = (sys.executable, "-m", "tilewright", "lsp")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class Session:
    """An editor with one document."""

    def __init__(self, client: LanguageClient, uri: str) -> None:
        self.client = client
        self.document = lsp.TextDocumentIdentifier(uri)
        self.diagnostics: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics.put_nowait(params)

        assert published is not None

    def open(self, text: str) -> None:
        item = lsp.TextDocumentItem(self.document.uri, "tileir", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, version: int, *changes: lsp.TextDocumentContentChangeEvent) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version, self.document.uri)
        params = lsp.DidChangeTextDocumentParams(document, changes)
        self.client.text_document_did_change(params)

    async def problems(self) -> list[tuple[str, str]]:
        """The next diagnostics: range and message."""
        published = await self.diagnostics.get()
        return [(str(each.range), each.message) for each in published.diagnostics]


def talk(path: Path, script: Callable[[Session], Awaitable[None]]) -> None:
    """Start the server, run a script, and shut the server down."""

    async def session() -> None:
        client = LanguageClient("test", "1")
        session = Session(client, path.as_uri())
        await client.start_io(*COMMAND, env=ENVIRONMENT)
        capabilities = lsp.ClientCapabilities()
        await client.initialize_async(lsp.InitializeParams(capabilities))
        client.initialized(lsp.InitializedParams())
        await script(session)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(asyncio.wait_for(session(), 100))


def position(text: str, word: str, occurrence: int = 0) -> lsp.Position:
    """The position of an occurrence of a word."""
    offset = -1
    for _ in range(occurrence + 1):
        offset = text.index(word, offset + 1)
    return lsp.Position(text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)


def test_a_session(tmp_path: Path) -> None:
    """A broken file is opened and fixed; then all that editors ask for."""

    async def script(session: Session) -> None:
        client, document = session.client, session.document
        session.open(BROKEN)
        unknown = "unknown operation 'adff'; did you mean 'addf'?"
        assert await session.problems() == [("3:13-3:17", unknown)]

        at = position(BROKEN, "adff")
        end = lsp.Position(at.line, at.character + 4)
        session.change(2, lsp.TextDocumentContentChangePartial(lsp.Range(at, end), "addf"))
        assert await session.problems() == [("3:18-3:22", "use of undefined value '%som'")]
        session.change(3, lsp.TextDocumentContentChangeWholeDocument(GOOD))
        assert await session.problems() == []

        at = position(GOOD, "addf")
        hover = await client.text_document_hover_async(lsp.HoverParams(document, at))
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "Addition: `result[i] = lhs[i] + rhs[i]`." in hover.contents.value
        assert str(hover.range) == "2:11-2:15"

        at = position(GOOD, "%sum", 1)
        definition = await client.text_document_definition_async(lsp.DefinitionParams(document, at))
        assert isinstance(definition, lsp.Location)
        assert (definition.uri, str(definition.range)) == (document.uri, "2:4-2:8")

        for with_definition in (True, False):
            references = await client.text_document_references_async(
                lsp.ReferenceParams(lsp.ReferenceContext(with_definition), document, at)
            )
            assert references is not None
            ranges = ["2:4-2:8", "3:18-3:22", "3:24-3:28"]
            assert [str(each.range) for each in references] == ranges[not with_definition :]

        completion = await client.text_document_completion_async(
            lsp.CompletionParams(document, lsp.Position(at.line, at.character + 1))
        )
        assert isinstance(completion, lsp.CompletionList)
        assert sorted(item.label for item in completion.items) == ["%a", "%b", "%sum"]
        edit = completion.items[0].text_edit
        assert isinstance(edit, lsp.TextEdit)
        assert str(edit.range) == "3:18-3:19"

        symbols = await client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(document)
        )
        assert symbols is not None
        (module,) = symbols
        assert isinstance(module, lsp.DocumentSymbol)
        assert module.name == "kernels"
        assert [child.name for child in module.children or ()] == ["add"]

        client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
        assert await session.problems() == []

    talk(tmp_path / "kernel.mlir", script)


def test_requests_see_the_text_as_it_was_changed_last(tmp_path: Path) -> None:
    """A request right after a change does not wait for the check of the document."""

    async def script(session: Session) -> None:
        session.open(GOOD)
        assert await session.problems() == []
        text = GOOD
        for version in range(2, 8):
            text = "\n" + text
            session.change(version, lsp.TextDocumentContentChangeWholeDocument(text))
        definition = await session.client.text_document_definition_async(
            lsp.DefinitionParams(session.document, position(text, "%sum", 1))
        )
        assert isinstance(definition, lsp.Location)
        assert str(definition.range) == "8:4-8:8"
        published = await session.diagnostics.get()
        assert published.version == 7
        # Columns are UTF-16.
        text = 'entry @"😀é"() { nope\n}\n'
        session.change(8, lsp.TextDocumentContentChangeWholeDocument(text))
        assert await session.problems() == [("0:17-0:21", "unknown operation 'nope'")]

    talk(tmp_path / "kernel.mlir", script)


def test_without_the_extra_the_command_says_which_one(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'pygls'\", name='pygls')\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        COMMAND, env={**ENVIRONMENT, "PYTHONPATH": path}, input="", capture_output=True, text=True
    )
    assert done.returncode == 3
    assert done.stderr == (
        "error: unsupported: the language server without pygls: pip install 'tilewright[lsp]'\n"
    )


def test_the_end_of_the_input_ends_the_server(run: Run) -> None:
    assert run("lsp") == (0, "", "")
    assert run("lsp", "--stdio") == (0, "", "")
    code, _, err = run("lsp", "kernel.mlir")
    assert code == 2
    assert "expected stdio, found 'kernel.mlir'" in err


@pytest.mark.parametrize("messages", [b"garbage\r\n\r\n", b"Content-Length: 3\r\n\r\n{]}"])
def test_messages_that_are_none_do_not_end_in_a_traceback_of_ours(messages: bytes) -> None:
    done = subprocess.run(
        COMMAND, env=ENVIRONMENT, input=messages, capture_output=True, timeout=600
    )
    assert done.returncode == 0
    assert b"This is a bug in Tilewright" not in done.stderr
