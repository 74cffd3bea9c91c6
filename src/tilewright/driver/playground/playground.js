// The playground of `tilewright serve`: an editor whose program is compiled as it is edited.
(() => {
  const data = JSON.parse(document.getElementById("playground").textContent);
  const token = new URLSearchParams(location.search).get("token");
  const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(36)).join("");
  const $ = (name) => document.getElementById(name);
  const LINE = 18;
  const PAUSE = 350;
  const MOST_COLORED = 4000;

  const source = $("source");
  let name = "";
  let kernels = [];
  let html = "";
  let view = null;
  let marks = new Map();
  let linked = 0;

  function element(kind, properties, ...children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...children);
    return made;
  }

  // ---- the editor ---------------------------------------------------------------------------
  function paint() {
    const lines = source.value.split("\n");
    const language = languageOf(name);
    const isColored = lines.length <= MOST_COLORED;
    $("paint").replaceChildren(...lines.map((line, number) => {
      const mark = marks.get(number + 1);
      const kind = mark && mark.kind === "error" ? "error" : number + 1 === linked ? "linked" : "";
      const row = element("div", { className: kind });
      row.append(...(isColored ? coloredLine(line, language) : [line]));
      return row;
    }));
    $("gutter").replaceChildren(...lines.map((_, number) => {
      const mark = marks.get(number + 1) || { kind: "", text: "" };
      return element("div", { className: mark.kind, title: mark.text }, String(number + 1));
    }));
    follow();
  }

  function follow() {
    $("paint").style.transform = `translate(${-source.scrollLeft}px, ${-source.scrollTop}px)`;
    $("gutter").scrollTop = source.scrollTop;
  }

  function goTo(line) {
    const lines = source.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((all, each) => all + each.length + 1, 0);
    source.focus();
    source.setSelectionRange(start, start + (lines[line - 1] || "").length);
    source.scrollTop = Math.max(0, (line - 1) * LINE - source.clientHeight / 3);
    follow();
  }

  function setMarks(errors, remarks) {
    marks = new Map();
    const add = (line, kind, text) => {
      const older = marks.get(line);
      marks.set(line, older ? { kind: older.kind, text: `${older.text}\n${text}` } : { kind, text });
    };
    for (const each of errors) if (each.line) add(each.line, "error", each.text);
    for (const kind of ["missed", "passed"]) {
      for (const each of remarks) if (each.kind === kind) add(each.line, kind, `${kind}: ${each.text}`);
    }
    paint();
  }

  let leavesByTab = false;
  source.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      leavesByTab = true; // so that the keyboard is not trapped
    } else if (event.key === "Tab" && !event.shiftKey && !leavesByTab) {
      event.preventDefault();
      document.execCommand("insertText", false, languageOf(name) === "python" ? "    " : "  ");
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const before = source.value.slice(0, source.selectionStart);
      const indent = before.slice(before.lastIndexOf("\n") + 1).match(/^\s*/)[0];
      document.execCommand("insertText", false, "\n" + indent);
    } else if (event.key === "Enter") {
      event.preventDefault();
      $("run").requestSubmit();
    } else {
      leavesByTab = false;
    }
  });
  source.addEventListener("scroll", follow, { passive: true });
  source.addEventListener("input", () => {
    linked = 0;
    paint();
    explainSoon();
  });

  // A line that is clicked lights in all levels, and one that is clicked there lights here.
  source.addEventListener("click", () => {
    if (document.body.dataset.state !== "compiled") return;
    linked = source.value.slice(0, source.selectionStart).split("\n").length;
    paint();
    $("report").contentWindow.postMessage({ line: linked }, "*");
  });

  function showLinked(line) {
    linked = line;
    const top = (line - 1) * LINE;
    const isVisible = top >= source.scrollTop && top < source.scrollTop + source.clientHeight - LINE;
    if (line && !isVisible) source.scrollTop = Math.max(0, top - source.clientHeight / 3);
    paint();
  }

  // ---- requests -----------------------------------------------------------------------------
  function options() {
    return {
      page, name, source: source.value, arch: $("arch").value, level: $("level").value,
      schedule: $("schedule").value, kernel: $("kernel").value,
    };
  }

  async function ask(action, request) {
    const response = await fetch("/" + action, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Tilewright-Token": token },
      body: JSON.stringify(request),
    });
    if (!response.ok) throw new Error(`the server answers: ${await response.text()}`);
    return response.json();
  }

  function showStatus(target, text, isFailed) {
    target.textContent = text;
    target.className = isFailed ? "failed" : "";
  }

  function gist(errors) {
    const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    return errors[0].text + rest;
  }

  // ---- explain ------------------------------------------------------------------------------
  let timer = 0;
  let edition = 0;

  function explainSoon() {
    clearTimeout(timer);
    timer = setTimeout(explain, PAUSE);
    document.body.dataset.state = "edited";
    $("results").classList.add("stale");
  }

  async function explain() {
    clearTimeout(timer);
    const current = ++edition;
    document.body.dataset.state = "compiling";
    showStatus($("status"), "compiling …", false);
    $("report").classList.add("stale");
    let answer;
    try {
      answer = await ask("explain", options());
    } catch (error) {
      if (current === edition) failed(String(error.message || error));
      return;
    }
    if (current !== edition || answer.superseded) return;
    showErrors(answer.errors);
    setMarks(answer.errors, answer.remarks || []);
    showLog(answer.log || "");
    if (answer.errors.length) {
      showStatus($("status"), `${answer.errors.length} error${answer.errors.length > 1 ? "s" : ""}`, true);
      document.body.dataset.state = "wrong";
      return;
    }
    showStatus($("status"), `compiled in ${answer.seconds} s`, false);
    html = answer.page;
    $("save-page").disabled = false;
    $("report").srcdoc = html;
    $("report").classList.remove("stale");
    showKernels(answer.kernels, answer.chosen);
    document.body.dataset.state = "compiled";
    if ($("live").checked && kernels.length) run();
  }

  function failed(text) {
    showStatus($("status"), text, true);
    document.body.dataset.state = "wrong";
  }

  function showErrors(errors) {
    $("errors").replaceChildren(...errors.map((each) => {
      const where = each.line ? `line ${each.line}: ` : "";
      const button = element("button", { type: "button" }, where + each.text);
      if (each.line) button.addEventListener("click", () => goTo(each.line));
      return element("li", {}, button);
    }));
  }

  function showLog(text) {
    $("log-box").hidden = !text.trim();
    $("log").textContent = text;
  }

  // The page tells what it shows, and the next one shows the same.
  window.addEventListener("message", (event) => {
    if (event.source !== $("report").contentWindow || !event.data) return;
    if (event.data.view) view = event.data.view;
    if (Number.isInteger(event.data.line) && document.body.dataset.state === "compiled") showLinked(event.data.line);
  });
  $("report").addEventListener("load", () => $("report").contentWindow.postMessage({ view }, "*"));

  // ---- run ----------------------------------------------------------------------------------
  function shape(kernel) {
    return JSON.stringify([kernel.name, ...kernel.arguments.map((each) => [each.label, each.type, each.text])]);
  }

  function showKernels(next, chosen) {
    const selected = chosen || $("kernel").value;
    const older = kernels.find((each) => each.name === selected);
    kernels = next;
    $("kernel").replaceChildren(...kernels.map((each) => new Option(each.name, each.name)));
    const kernel = kernels.find((each) => each.name === selected) || kernels[0];
    $("start").disabled = !kernel;
    if (!kernel) {
      clearForm();
      showStatus($("run-status"), "no executor runs this program", false);
      return;
    }
    $("kernel").value = kernel.name;
    // What the user has changed stays as long as the kernel takes the same arguments.
    if (!older || shape(older) !== shape(kernel)) showForm(kernel);
  }

  function clearForm() {
    for (const name of ["arguments", "extents", "results"]) $(name).replaceChildren();
    $("extent-box").hidden = true;
  }

  function showForm(kernel) {
    $("grid").value = kernel.grid;
    const fields = kernel.arguments.map((each, number) => {
      const id = `argument-${number}`;
      const label = element("label", { htmlFor: id }, each.label.replace(/argument '([^']*)'/, "$1"));
      const type = element("code", {}, each.type.replace("!cuda_tile.", "").replace(/^tile<(.*)>$/, "$1"));
      const title = "a number, zeros:4x8xf32, ones:…, iota:…, small:…:SEED, random:…:SEED, or launched: what the program passes";
      const input = element("input", { id, value: each.text, title, spellcheck: false });
      input.dataset.label = each.label;
      return [label, type, input];
    });
    // Those of arrays of cuTile Python follow from the arrays.
    const isExtent = (_, number) => /^(extent|stride) /.test(kernel.arguments[number].label);
    const extents = fields.filter(isExtent).flat();
    $("arguments").replaceChildren(...fields.filter((...each) => !isExtent(...each)).flat());
    $("extents").replaceChildren(...extents);
    $("extent-box").hidden = !extents.length;
    $("results").replaceChildren();
    showStatus($("run-status"), "", false);
  }

  let attempt = 0;
  async function run() {
    const current = ++attempt;
    // In the order of the arguments.
    const kernel = kernels.find((each) => each.name === $("kernel").value);
    const inputs = kernel ? kernel.arguments.map((_, number) => $(`argument-${number}`)) : [];
    showStatus($("run-status"), "running …", false);
    document.body.dataset.run = "running";
    $("results").classList.add("stale");
    let answer;
    try {
      answer = await ask("run", {
        ...options(), grid: $("grid").value, on: $("device").value, check: $("check").checked,
        arguments: inputs.map((each) => each.value), labels: inputs.map((each) => each.dataset.label),
      });
    } catch (error) {
      if (current === attempt) showStatus($("run-status"), String(error.message || error), true);
      return;
    }
    if (current !== attempt) return;
    if (answer.superseded) {
      showStatus($("run-status"), "ended by an edit", false);
      return;
    }
    document.body.dataset.run = "ended";
    $("results").classList.remove("stale");
    if (answer.errors.length) {
      $("results").replaceChildren();
      setMarks(answer.errors, []);
      const at = answer.errors[0].line ? `line ${answer.errors[0].line}: ` : "";
      showStatus($("run-status"), at + gist(answer.errors), true);
      return;
    }
    showStatus($("run-status"), `ran in ${answer.seconds} s`, false);
    const parts = answer.arrays.flatMap(arrayTable);
    if (answer.printed) parts.push(element("h3", {}, "Printed"), element("pre", {}, answer.printed));
    if (answer.counters) parts.push(element("h3", {}, "Counters"), element("pre", {}, answer.counters));
    if (answer.lines) parts.push(element("h3", {}, "Counters of lines"), element("pre", {}, answer.lines));
    if (!parts.length) parts.push(element("p", { className: "soft" }, "The kernel writes no array."));
    $("results").replaceChildren(...parts);
  }

  function arrayTable(array) {
    const note = array.is_whole ? "" : ", the first elements";
    const range = array.range ? `: ${array.range}` : "";
    const rows = array.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
    const title = `${array.label.replace(/argument '([^']*)'/, "$1")}, ${array.shape}${range}${note}`;
    return [element("h3", {}, title), element("div", { className: "scroll" }, element("table", {}, ...rows))];
  }

  // ---- the bar ------------------------------------------------------------------------------
  function load(program) {
    name = program.name;
    source.value = program.source;
    source.scrollTop = 0;
    linked = 0;
    kernels = [];
    view = null;
    $("kernel").replaceChildren();
    clearForm();
    showErrors([]);
    setMarks([], []);
    const language = data.languages.find((each) => name.endsWith(each.suffix)) || data.languages[0];
    $("language").value = language.suffix;
    explain();
  }

  function save(text, file, kind) {
    const url = URL.createObjectURL(new Blob([text], { type: kind }));
    element("a", { href: url, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  const opened = data.examples.some((each) => each.source === data.program.source && each.name === data.program.name);
  const programs = opened ? data.examples : [data.program, ...data.examples];
  $("examples").replaceChildren(...programs.map((each, number) => new Option(each.title, String(number))));
  $("examples").value = String(programs.findIndex((each) => each.name === data.program.name));
  $("examples").addEventListener("change", () => load(programs[Number($("examples").value)]));
  $("language").replaceChildren(...data.languages.map((each) => {
    const option = new Option(each.title + (each.missing ? ` (not offered: ${each.missing})` : ""), each.suffix);
    option.disabled = Boolean(each.missing);
    option.title = each.missing;
    return option;
  }));
  // The language is that of the suffix; text stays as it is.
  $("language").addEventListener("change", () => {
    const suffix = data.languages.map((each) => each.suffix).find((each) => name.endsWith(each)) || "";
    name = name.slice(0, name.length - suffix.length) + $("language").value;
    const stem = name.slice(0, name.length - $("language").value.length);
    const same = programs.findIndex((each) => each.name === name);
    const wasExample = programs.some((each) => each.source === source.value && each.name === stem + suffix);
    if (wasExample && same >= 0) {
      $("examples").value = String(same);
      load(programs[same]);
      return;
    }
    paint();
    explain();
  });
  $("arch").replaceChildren(...data.arches.map((each) => new Option(each, each)));
  $("level").replaceChildren(...data.levels.map((each) => new Option(`-O${each}`, each)));
  $("arch").value = data.arch;
  $("level").value = data.level;
  $("schedule").value = data.schedule;
  $("live").addEventListener("change", () => {
    if ($("live").checked) run();
  });
  for (const each of [$("arch"), $("level"), $("schedule")]) each.addEventListener("change", explain);
  $("kernel").addEventListener("change", () => {
    const kernel = kernels.find((each) => each.name === $("kernel").value);
    if (kernel) showForm(kernel);
    if (languageOf(name) === "python") explain();
  });
  $("run").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  $("save-page").addEventListener("click", () => save(html, name.replace(/\.\w+$/, "") + ".html", "text/html"));
  $("save-source").addEventListener("click", () => save(source.value, name, "text/plain"));
  load(data.program);
})();
