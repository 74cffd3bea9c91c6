"use strict";
// Colours of tokens, line by line: of Tile IR and the levels below it, Python and C++. What spans several lines is
// coloured as if each line stood alone.

function languageOf(name) {
  if (name.endsWith(".py")) return "python";
  return name.endsWith(".cu") ? "cpp" : "ir";
}

const coloredLine = (() => {
  const string = String.raw`"(?:[^"\\]|\\.)*"?`;
  const number = String.raw`(?<![\w.%@#!$])-?(?:0x[0-9a-fA-F]+|0[fd][0-9a-fA-F]{8,16}|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])`;
  const words = (text) => String.raw`(?<![\w.%@!$])(?:${text})(?![\w.])`;
  const grammar = {
    python: [
      ["comment", "#.*"],
      ["string", String.raw`"""(?:.*?""")?|${string}|'(?:[^'\\]|\\.)*'?`],
      ["name", String.raw`@[\w.]+`],
      ["word", words("and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield")],
      ["number", number],
    ],
    cpp: [
      ["comment", String.raw`//.*|/\*.*?(?:\*/|$)`],
      ["string", String.raw`${string}|'(?:[^'\\]|\\.)'|<[\w./]+\.h>`],
      ["name", String.raw`#\s*\w+`],
      ["type", words("auto|bool|char|double|float|half|int|long|short|signed|size_t|unsigned|void|u?int(?:8|16|32|64)_t|__half|__nv_bfloat16")],
      ["word", words("break|case|class|const|constexpr|continue|do|else|enum|for|if|inline|namespace|nullptr|operator|return|sizeof|static|struct|switch|template|this|true|false|typename|using|while|__tile_global__|__tile__|__global__|__device__|__host__")],
      ["number", number],
    ],
    // Operations are what follows the results, or begins the line; directives of PTX begin with a dot.
    ir: [
      ["comment", String.raw`//.*|;.*$(?<=^\s*;.*)`],
      ["string", string],
      ["name", String.raw`%[\w.$-]+(?:[:#]\d+)?|@[\w.$-]+|\^\w+`],
      ["type", String.raw`[!#][\w.]+|${words("(?:tile|tensor|vector|memref|ptr|tensor_view|partition_view|token|index|none)(?=[<,\\s)]|$)|[fi]\\d+|bf16|tf32|f8E\\w+|f4E\\w+|half|float|double|bfloat|void|label")}|x(?:[fi]\d+|bf16|tf32|f8E\w+|f4E\w+)\b|(?<=\d|\?)x(?=\d|\?)`],
      ["word", String.raw`(?<=^\s*(?:[%\w.#:, ]+ = )?"?)[a-zA-Z_][\w.]*(?![\w.]*[:=(]\s*$)|(?<=^\s*@!?%\w+\s+)[\w.]+|^\s*\.[\w.]+`],
      ["number", number],
    ],
  };
  const patterns = {};
  for (const [language, rules] of Object.entries(grammar)) {
    patterns[language] = new RegExp(rules.map(([kind, text]) => `(?<${kind}>${text})`).join("|"), "g");
  }
  const LONGEST = 2000;

  // The text nodes and elements of a line.
  return (line, language) => {
    if (line.length > LONGEST) return [line];
    const parts = [];
    let end = 0;
    for (const match of line.matchAll(patterns[language])) {
      if (!match[0]) continue;
      const kind = Object.keys(match.groups).find((each) => match.groups[each] !== undefined);
      const element = document.createElement("span");
      element.className = `t-${kind}`;
      element.textContent = match[0];
      parts.push(line.slice(end, match.index), element);
      end = match.index + match[0].length;
    }
    parts.push(line.slice(end));
    return parts.filter((part) => part !== "");
  };
})();
