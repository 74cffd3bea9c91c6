// Run the VS Code extension against a server, with a stand-in for the API of the editor.
// node vscode_session.js EXTENSION_FOLDER TEXT COMMAND...: prints what the editor would show.
"use strict";

const Module = require("module");
const [folder, text, ...command] = process.argv.slice(2);

class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
}
class Range {
  constructor(start, end) { Object.assign(this, { start, end }); }
}
class Item {
  constructor(...values) { this.values = values; }
}

const uri = { toString: () => "file:///kernel.mlir" };
const document = { uri, languageId: "tileir", version: 1, getText: () => text };
const providers = {};
const listeners = {};
let published;
const diagnostics = new Promise((resolve) => { published = resolve; });
const listen = (name) => (listener) => { listeners[name] = listener; return {}; };
const register = (name) => (language, provider) => { providers[name] = provider; return {}; };

const vscode = {
  Position, Range,
  Location: Item, Diagnostic: Item, DiagnosticRelatedInformation: Item, DocumentSymbol: Item,
  DocumentHighlight: Item, CompletionItem: Item, Hover: Item, MarkdownString: Item,
  Uri: { parse: (value) => value },
  window: { showErrorMessage: (message) => { console.error(message); process.exit(1); } },
  workspace: {
    getConfiguration: () => ({ get: () => command }),
    onDidOpenTextDocument: listen("open"),
    onDidChangeTextDocument: listen("change"),
    onDidCloseTextDocument: listen("close"),
    textDocuments: [document],
  },
  languages: {
    createDiagnosticCollection: () => ({ set: (at, list) => published({ at, list }) }),
    registerHoverProvider: register("hover"),
    registerDefinitionProvider: register("definition"),
    registerReferenceProvider: register("references"),
    registerDocumentHighlightProvider: register("highlights"),
    registerDocumentSymbolProvider: register("symbols"),
    registerCompletionItemProvider: register("completion"),
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

async function session() {
  const extension = require(folder);
  const context = { subscriptions: [] };
  await extension.activate(context);
  const { at, list } = await diagnostics;
  const line = text.split("\n").findIndex((each) => each.includes("addf"));
  const character = text.split("\n")[line].indexOf("%a");
  const cursor = new Position(line, character + 1);
  const hover = await providers.hover.provideHover(document, cursor);
  const definition = await providers.definition.provideDefinition(document, cursor);
  const references = await providers.references.provideReferences(
    document, cursor, { includeDeclaration: true }
  );
  const highlights = await providers.highlights.provideDocumentHighlights(document, cursor);
  const symbols = await providers.symbols.provideDocumentSymbols(document);
  const completion = await providers.completion.provideCompletionItems(document, cursor);
  console.log(JSON.stringify({
    at,
    problems: list.map((each) => each.values[1]),
    severities: list.map((each) => each.values[2]),
    hover: hover.values[0].values[0],
    definition: definition.values[1].start,
    references: references.length,
    highlights: highlights.length,
    symbols: symbols.map((each) => each.values[0]),
    completion: completion.map((each) => each.insertText).sort(),
  }));
  context.subscriptions[1].dispose();
  await extension.deactivate();
}

session().catch((error) => { console.error(error); process.exit(1); });
