"""Analyses of open documents: requests share one, and a bug of ours is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.workspace import Workspace

from tilewright.driver.lsp import server as server_module
from tilewright.driver.lsp.analysis import Analysis, analyse
from tilewright.driver.lsp.server import Documents

URI = "file:///kernel.mlir"


class Editor:
    """The server as `Documents` uses it, with one open document."""

    def __init__(self) -> None:
        self.workspace = Workspace(None, position_encoding=lsp.PositionEncodingKind.Utf16)
        self.published: list[lsp.PublishDiagnosticsParams] = []
        self.messages: list[lsp.ShowMessageParams] = []
        self.text_document_publish_diagnostics = self.published.append
        self.window_show_message = self.messages.append

    def open(self, version: int, text: str) -> None:
        self.workspace.put_text_document(lsp.TextDocumentItem(URI, "tileir", version, text))


@pytest.fixture
def documents() -> Iterator[Documents]:
    made = Documents((13, 4))
    yield made
    made.close()


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are analysed."""
    texts: list[str] = []

    def record(text: str, name: str, version: tuple[int, int]) -> Analysis:
        texts.append(text)
        return analyse(text, name, version)

    monkeypatch.setattr(server_module, "analyse", record)
    return texts


def test_requests_for_one_version_share_an_analysis(
    documents: Documents, analysed: list[str]
) -> None:
    async def session() -> None:
        editor: Any = Editor()
        editor.open(1, "entry @a() {\n  return\n}\n")
        first, second = await asyncio.gather(
            documents.snapshot(editor, URI), documents.snapshot(editor, URI)
        )
        assert first is second is await documents.snapshot(editor, URI)
        editor.open(2, "entry @b() {\n  return\n}\n")
        assert await documents.snapshot(editor, URI) is not first

    asyncio.run(session())
    assert [text[6:8] for text in analysed] == ["@a", "@b"]


def test_changes_that_follow_each_other_are_checked_once(
    documents: Documents, analysed: list[str]
) -> None:
    async def session() -> None:
        editor: Any = Editor()
        for version in range(1, 6):
            editor.open(version, f"nope{version}")
            documents.schedule(editor, URI, 0.05)
            await asyncio.sleep(0)
        while not editor.published:
            await asyncio.sleep(0.01)
        assert [each.version for each in editor.published] == [5]
        documents.forget(editor, URI)
        assert not editor.published[1].diagnostics

    asyncio.run(asyncio.wait_for(session(), 60))
    assert analysed == ["nope5"]


def test_a_bug_of_ours_is_shown(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(server_module, "analyse", fail)

    async def session() -> None:
        editor: Any = Editor()
        editor.open(1, "")
        documents.schedule(editor, URI, 0)
        while not editor.messages:
            await asyncio.sleep(0.01)
        assert "KeyError('planted')" in editor.messages[0].message
        assert not editor.published

    asyncio.run(asyncio.wait_for(session(), 60))
