// Connects VS Code to `tilewright lsp`. It needs no packages, so there is nothing to build.
"use strict";

const vscode = require("vscode");
const { Connection } = require("./connection");

const LANGUAGE = "tileir";
const TRIGGERS = ["%", "^", "@", "!", "#", "."];

let connection;

const position = (at) => new vscode.Position(at.line, at.character);
const range = (at) => new vscode.Range(position(at.start), position(at.end));
const location = (at) => new vscode.Location(vscode.Uri.parse(at.uri), range(at.range));

function diagnostic(from) {
  // The protocol counts severities and kinds from 1, the editor from 0.
  const made = new vscode.Diagnostic(range(from.range), from.message, (from.severity || 1) - 1);
  made.source = from.source;
  made.relatedInformation = (from.relatedInformation || []).map(
    (each) => new vscode.DiagnosticRelatedInformation(location(each.location), each.message)
  );
  return made;
}

function symbol(from) {
  const made = new vscode.DocumentSymbol(
    from.name, from.detail || "", from.kind - 1, range(from.range), range(from.selectionRange)
  );
  made.children = (from.children || []).map(symbol);
  return made;
}

function completion(from) {
  const made = new vscode.CompletionItem(from.label, from.kind - 1);
  made.detail = from.detail;
  made.filterText = from.filterText;
  made.insertText = from.textEdit.newText;
  made.range = range(from.textEdit.range);
  return made;
}

const named = (document) => ({ textDocument: { uri: document.uri.toString() } });
const located = (document, at) => ({
  ...named(document), position: { line: at.line, character: at.character },
});

async function activate(context) {
  const command = vscode.workspace.getConfiguration("tilewright").get("command");
  const collection = vscode.languages.createDiagnosticCollection("tilewright");
  let stopping = false;
  const server = new Connection(
    command,
    (method, params) => {
      if (method === "textDocument/publishDiagnostics") {
        collection.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
      }
    },
    (reason) => {
      if (!stopping) vscode.window.showErrorMessage(`${command.join(" ")}: ${reason}`);
    }
  );
  connection = server;
  context.subscriptions.push(collection, { dispose: () => { stopping = true; } });

  await server.request("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: { textDocument: { publishDiagnostics: { relatedInformation: true } } },
  });
  server.notify("initialized", {});

  const isOurs = (document) => document.languageId === LANGUAGE;
  const open = (document) => {
    if (!isOurs(document)) return;
    const { uri, languageId, version } = document;
    server.notify("textDocument/didOpen", {
      textDocument: { uri: uri.toString(), languageId, version, text: document.getText() },
    });
  };
  const change = ({ document, contentChanges }) => {
    if (!isOurs(document) || !contentChanges.length) return;
    server.notify("textDocument/didChange", {
      textDocument: { uri: document.uri.toString(), version: document.version },
      contentChanges: contentChanges.map(({ range, text }) => ({ range, text })),
    });
  };
  const close = (document) => {
    if (isOurs(document)) server.notify("textDocument/didClose", named(document));
  };

  const { languages, workspace } = vscode;
  context.subscriptions.push(
    workspace.onDidOpenTextDocument(open),
    workspace.onDidChangeTextDocument(change),
    workspace.onDidCloseTextDocument(close),
    languages.registerHoverProvider(LANGUAGE, {
      async provideHover(document, at) {
        const answer = await server.request("textDocument/hover", located(document, at));
        if (!answer) return null;
        return new vscode.Hover(new vscode.MarkdownString(answer.contents.value), range(answer.range));
      },
    }),
    languages.registerDefinitionProvider(LANGUAGE, {
      async provideDefinition(document, at) {
        const answer = await server.request("textDocument/definition", located(document, at));
        return answer && location(answer);
      },
    }),
    languages.registerReferenceProvider(LANGUAGE, {
      async provideReferences(document, at, context) {
        const params = { ...located(document, at), context };
        return (await server.request("textDocument/references", params)).map(location);
      },
    }),
    languages.registerDocumentHighlightProvider(LANGUAGE, {
      async provideDocumentHighlights(document, at) {
        const params = located(document, at);
        const answer = await server.request("textDocument/documentHighlight", params);
        return answer.map((each) => new vscode.DocumentHighlight(range(each.range)));
      },
    }),
    languages.registerDocumentSymbolProvider(LANGUAGE, {
      async provideDocumentSymbols(document) {
        return (await server.request("textDocument/documentSymbol", named(document))).map(symbol);
      },
    }),
    languages.registerCompletionItemProvider(LANGUAGE, {
      async provideCompletionItems(document, at) {
        const answer = await server.request("textDocument/completion", located(document, at));
        return answer.items.map(completion);
      },
    }, ...TRIGGERS)
  );
  workspace.textDocuments.forEach(open);
}

async function deactivate() {
  if (!connection) return;
  await connection.request("shutdown").catch(() => {});
  connection.notify("exit");
}

module.exports = { activate, deactivate };
