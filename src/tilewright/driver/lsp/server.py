"""The language server: documents, their analyses, and the requests of the protocol."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from tilewright import __version__
from tilewright.driver.lsp.analysis import Analysis, analyse
from tilewright.driver.lsp.completion import CompletionKind, completions
from tilewright.driver.lsp.hover import hover
from tilewright.driver.lsp.lines import Lines
from tilewright.driver.lsp.outline import outline
from tilewright.driver.lsp.words import dialects
from tilewright.support.diagnostics import Severity

if TYPE_CHECKING:
    from pygls.workspace import TextDocument

    from tilewright.driver.lsp.analysis import Problem, Range
    from tilewright.driver.lsp.outline import Entry
    from tilewright.ir.declare import Version
    from tilewright.text.index import Index

DELAY: Final = 0.2
"""The seconds without a change after which a document is checked."""

TRIGGERS: Final = ["%", "^", "@", "!", "#", "."]
"""The characters after which editors ask for completions."""

_SEVERITIES: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
    Severity.REMARK: lsp.DiagnosticSeverity.Information,
}
_COMPLETION_KINDS: Final = {
    CompletionKind.OPERATION: lsp.CompletionItemKind.Function,
    CompletionKind.VALUE: lsp.CompletionItemKind.Variable,
    CompletionKind.LABEL: lsp.CompletionItemKind.Reference,
    CompletionKind.SYMBOL: lsp.CompletionItemKind.Module,
    CompletionKind.TYPE: lsp.CompletionItemKind.Struct,
    CompletionKind.ATTRIBUTE: lsp.CompletionItemKind.Constant,
    CompletionKind.KEYWORD: lsp.CompletionItemKind.Keyword,
    CompletionKind.ENUM_MEMBER: lsp.CompletionItemKind.EnumMember,
}
_SYMBOL_KINDS: Final = {
    "module": lsp.SymbolKind.Module,
    "function": lsp.SymbolKind.Function,
    "variable": lsp.SymbolKind.Variable,
}

_OPTIONS: Final = {lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=TRIGGERS)}
"""The options of requests, by method."""

Features = dict[str, Callable[[Any], object]]
"""The functions that answer requests and notifications, by method."""


def serve(version: Version) -> None:
    """Serve one editor over standard input and output until it disconnects."""
    # pygls logs every unreadable message to standard error, which editors show.
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    # Commands run without the collector, but a server lives long.
    was_enabled = gc.isenabled()
    gc.enable()
    documents = Documents(version)
    try:
        # pygls closes the stream that it writes to.
        with open(os.dup(sys.stdout.fileno()), "wb") as output:
            create_server(documents).start_io(sys.stdin.buffer, output)
    finally:
        documents.close()
        if not was_enabled:
            gc.disable()


class Snapshot:
    """One version of an open document, analysed."""

    __slots__ = ("analysis", "lines", "uri", "version")

    def __init__(self, uri: str, version: int | None, analysis: Analysis, lines: Lines) -> None:
        self.uri = uri
        self.version = version
        self.analysis = analysis
        self.lines = lines

    @property
    def index(self) -> Index | None:
        """The index, unless the document is binary."""
        return self.analysis.index

    def range(self, range: Range) -> lsp.Range:
        """Convert offsets to a range of the protocol."""
        start, end = (lsp.Position(*self.lines.position(offset)) for offset in range)
        return lsp.Range(start, end)

    def offset(self, position: lsp.Position) -> int:
        """Convert a position of the protocol to an offset."""
        return self.lines.offset(position.line, position.character)

    def location(self, token: int) -> lsp.Location:
        """Return the location of a token."""
        assert self.index is not None
        return lsp.Location(self.uri, self.range(self.index.range(token)))

    def definition(self, position: lsp.Position) -> int | None:
        """Return the token that defines what is at a position."""
        index = self.index
        token = index.token_at(self.offset(position)) if index is not None else None
        return None if index is None or token is None else index.definition(token)


class Documents:
    """Analyses open documents, one at a time in a thread, so that requests never wait for text."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._worker = ThreadPoolExecutor(1)
        self._snapshots: dict[str, tuple[int | None, asyncio.Task[Snapshot]]] = {}
        self._checks: dict[str, asyncio.Task[None]] = {}

    def close(self) -> None:
        """Wait for the analysis that runs, and drop the others."""
        self._worker.shutdown(cancel_futures=True)

    def warm_up(self) -> None:
        """Load all dialects in the thread: completion needs them."""
        self._worker.submit(dialects)

    async def snapshot(self, server: LanguageServer, uri: str) -> Snapshot:
        """Return the analysis of the current version of a document; requests share it."""
        document = server.workspace.get_text_document(uri)
        version, task = self._snapshots.get(uri, (None, None))
        # Documents that are not open have no version, and may change on the disk.
        if task is None or version is None or version != document.version:
            encoding = lsp.PositionEncodingKind(server.workspace.position_encoding).value
            task = asyncio.get_running_loop().create_task(self._analysed(document, encoding))
            self._snapshots[uri] = document.version, task
        # A request that the editor cancels leaves the analysis to the others.
        return await asyncio.shield(task)

    async def _analysed(self, document: TextDocument, encoding: str) -> Snapshot:
        text, version = document.source, document.version
        analysis = await asyncio.get_running_loop().run_in_executor(
            self._worker, analyse, text, document.path, self._version
        )
        return Snapshot(document.uri, version, analysis, Lines(text, encoding))

    def schedule(self, server: LanguageServer, uri: str, delay: float) -> None:
        """Check a document after a delay, unless it changes before."""
        self._cancel(uri)
        check = self._check(server, uri, delay)
        self._checks[uri] = asyncio.get_running_loop().create_task(check)

    async def _check(self, server: LanguageServer, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            snapshot = await self.snapshot(server, uri)
        except Exception as error:
            message = f"Bug in Tilewright, please report it with this file: {error!r}"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))
            raise
        diagnostics = [_diagnostic(each, snapshot) for each in snapshot.analysis.problems]
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, diagnostics, snapshot.version)
        )

    def forget(self, server: LanguageServer, uri: str) -> None:
        """Drop a document that is closed, and its diagnostics."""
        self._cancel(uri)
        self._snapshots.pop(uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _cancel(self, uri: str) -> None:
        check = self._checks.pop(uri, None)
        if check is not None:
            check.cancel()


def _diagnostic(problem: Problem, snapshot: Snapshot) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(snapshot.uri, snapshot.range(range)), message)
        for range, message in problem.notes
    ]
    return lsp.Diagnostic(
        snapshot.range(problem.range),
        problem.message,
        severity=_SEVERITIES[problem.severity],
        source="tilewright",
        related_information=related or None,
    )


def create_server(documents: Documents) -> LanguageServer:
    """Create a server with all features, not yet connected."""
    server = LanguageServer("tilewright", __version__)
    _add_synchronization(server, documents)
    _add_navigation(server, documents)
    _add_texts(server, documents)
    return server


def _add_synchronization(server: LanguageServer, documents: Documents) -> None:
    def initialized(params: lsp.InitializedParams) -> None:
        documents.warm_up()

    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        documents.schedule(server, params.text_document.uri, 0)

    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        documents.schedule(server, params.text_document.uri, DELAY)

    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        documents.forget(server, params.text_document.uri)

    features: Features = {
        lsp.INITIALIZED: initialized,
        lsp.TEXT_DOCUMENT_DID_OPEN: opened,
        lsp.TEXT_DOCUMENT_DID_CHANGE: changed,
        lsp.TEXT_DOCUMENT_DID_CLOSE: closed,
    }
    _register(server, features)


def _add_navigation(server: LanguageServer, documents: Documents) -> None:
    async def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        token = snapshot.definition(params.position)
        return None if token is None else snapshot.location(token)

    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        token = snapshot.definition(params.position)
        if token is None or snapshot.index is None:
            return []
        wanted = snapshot.index.references(token)
        with_definition = params.context.include_declaration
        return [snapshot.location(at) for at in wanted if with_definition or at != token]

    async def highlights(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        token = snapshot.definition(params.position)
        if token is None or snapshot.index is None:
            return []
        locations = [snapshot.location(at) for at in snapshot.index.references(token)]
        return [lsp.DocumentHighlight(location.range) for location in locations]

    async def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        if snapshot.index is None:
            return []
        return [_symbol(entry, snapshot) for entry in outline(snapshot.index)]

    features: Features = {
        lsp.TEXT_DOCUMENT_DEFINITION: definition,
        lsp.TEXT_DOCUMENT_REFERENCES: references,
        lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: highlights,
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: symbols,
    }
    _register(server, features)


def _symbol(entry: Entry, snapshot: Snapshot) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        entry.name,
        _SYMBOL_KINDS[entry.kind],
        snapshot.range(entry.range),
        snapshot.range(entry.name_range),
        detail=entry.operation,
        children=[_symbol(child, snapshot) for child in entry.children],
    )


def _add_texts(server: LanguageServer, documents: Documents) -> None:
    async def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        if snapshot.index is None:
            return None
        page = hover(snapshot.index, snapshot.analysis.text, snapshot.offset(params.position))
        if page is None:
            return None
        text, range = page
        contents = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(contents, snapshot.range(range))

    async def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        snapshot = await documents.snapshot(server, params.text_document.uri)
        if snapshot.index is None:
            return lsp.CompletionList(is_incomplete=False, items=[])
        offset = snapshot.offset(params.position)
        start, candidates = completions(snapshot.index, snapshot.analysis.text, offset)
        range = snapshot.range((start, offset))
        items = [
            lsp.CompletionItem(
                each.text,
                kind=_COMPLETION_KINDS[each.kind],
                detail=each.detail or None,
                filter_text=each.text,
                text_edit=lsp.TextEdit(range, each.text),
            )
            for each in candidates
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    features: Features = {
        lsp.TEXT_DOCUMENT_HOVER: hovered,
        lsp.TEXT_DOCUMENT_COMPLETION: completed,
    }
    _register(server, features)


def _register(server: LanguageServer, features: Features) -> None:
    for method, handle in features.items():
        server.feature(method, _OPTIONS.get(method))(handle)
