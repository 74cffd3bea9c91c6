"use strict";
// The interactive parts of a page of `tilewright explain`: linked panes of code, and pictures of layouts.
(() => {
  const element = document.getElementById("report");
  if (!element) return;
  const data = JSON.parse(element.textContent);
  const LINE = 18;
  const MARGIN = 30;
  const SHOWN = ["nv_tileas", "ptx"];

  // ---- linked panes -------------------------------------------------------------------------
  // Each line has the number of a set of positions; lines whose sets intersect are linked.
  const panes = [];
  let pinned = null;
  let hovered = null;
  let lit = new Uint8Array(data.sets.length);

  function currentPositions() {
    return new Set([...(pinned || []), ...(hovered || [])]);
  }

  function relight() {
    const wanted = currentPositions();
    lit = new Uint8Array(data.sets.length);
    const pins = new Set(pinned || []);
    data.sets.forEach((positions, number) => {
      if (positions.some((each) => wanted.has(each))) lit[number] = 1;
      if (positions.some((each) => pins.has(each))) lit[number] = 2;
    });
    for (const pane of panes) paintLines(pane);
    for (const mark of document.querySelectorAll("[data-pos]")) {
      const position = Number(mark.dataset.pos);
      const on = wanted.has(position);
      mark.classList.toggle(mark.tagName === "rect" ? "lit" : "lit-mark", on);
    }
  }

  function positionsOf(pane, line) {
    const number = pane.text.links[line];
    return number === undefined || number < 0 ? [] : data.sets[number];
  }

  function lineClass(pane, line) {
    const set = pane.text.links[line];
    if (!(set >= 0)) return "ln";
    return "ln linked" + (lit[set] === 2 ? " pin" : lit[set] ? " lit" : "");
  }

  // Rows stay as they are: replacing the one under the pointer would end the hover.
  function paintLines(pane) {
    if (pane.root.hidden) return;
    for (const row of pane.rows.children) row.className = lineClass(pane, Number(row.dataset.line));
    strip(pane);
  }

  function render(pane, force) {
    if (pane.root.hidden) return;
    const count = pane.text.lines.length;
    const first = Math.max(0, Math.floor(pane.box.scrollTop / LINE) - MARGIN);
    const last = Math.min(count, Math.ceil((pane.box.scrollTop + pane.box.clientHeight) / LINE) + MARGIN);
    if (!force && first === pane.first && last === pane.last) return;
    pane.first = first;
    pane.last = last;
    const rows = document.createDocumentFragment();
    for (let line = first; line < last; line++) {
      const row = document.createElement("div");
      row.className = lineClass(pane, line);
      row.dataset.line = String(line);
      row.style.top = line * LINE + "px";
      const number = document.createElement("span");
      number.className = "no";
      number.textContent = String(line + 1);
      row.append(number, ...coloredLine(pane.text.lines[line], pane.language));
      rows.append(row);
    }
    pane.rows.replaceChildren(rows);
    if (force) strip(pane);
  }

  // A strip beside the scroll bar shows where the lines of the current positions are.
  function strip(pane) {
    const canvas = pane.strip;
    const height = pane.box.clientHeight;
    canvas.width = 6;
    canvas.height = Math.max(1, height);
    const draw = canvas.getContext("2d");
    draw.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    const count = pane.text.lines.length;
    for (let line = 0; line < count; line++) {
      const set = pane.text.links[line];
      if (set >= 0 && lit[set]) draw.fillRect(0, Math.floor((line / count) * height), 6, Math.max(2, height / count));
    }
  }

  function hover(positions) {
    const next = positions.length ? positions : null;
    if (String(next) === String(hovered)) return;
    hovered = next;
    relight();
  }

  function pin(positions, origin) {
    pinned = positions.length && String(positions) !== String(pinned) ? positions : null;
    relight();
    reportLine(origin);
    if (!pinned) return;
    for (const pane of panes) {
      if (pane === origin || pane.root.hidden) continue;
      const line = pane.text.links.findIndex((set) => set >= 0 && lit[set]);
      if (line < 0) continue;
      const top = line * LINE;
      const isVisible = top >= pane.box.scrollTop && top < pane.box.scrollTop + pane.box.clientHeight - LINE;
      if (!isVisible) pane.box.scrollTop = Math.max(0, top - pane.box.clientHeight / 3);
      render(pane, true);
    }
  }

  function lineOf(event) {
    const row = event.target.closest(".ln");
    return row ? Number(row.dataset.line) : -1;
  }

  function addPane(text, number, chips, container) {
    const root = document.createElement("section");
    root.className = "pane";
    root.dataset.text = text.name;
    const title = document.createElement("h3");
    title.textContent = `${text.name} (${text.lines.length} lines)`;
    const box = document.createElement("div");
    box.className = "box";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", text.name);
    const rows = document.createElement("div");
    rows.className = "rows";
    rows.style.height = text.lines.length * LINE + "px";
    rows.style.width = text.lines.reduce((most, line) => Math.max(most, line.length), 0) + 8 + "ch";
    const marks = document.createElement("canvas");
    marks.className = "strip";
    box.append(rows);
    root.append(title, box, marks);
    container.append(root);
    const pane = { text, root, box, rows, strip: marks, first: -1, last: -1, language: languageOf(text.name) };
    panes.push(pane);
    box.addEventListener("scroll", () => {
      render(pane, false);
      reportView();
    }, { passive: true });
    box.addEventListener("mouseover", (event) => hover(lineOf(event) < 0 ? [] : positionsOf(pane, lineOf(event))));
    box.addEventListener("mouseleave", () => hover([]));
    box.addEventListener("click", (event) => pin(lineOf(event) < 0 ? [] : positionsOf(pane, lineOf(event)), pane));
    const chip = document.createElement("button");
    chip.type = "button";
    chip.textContent = text.name;
    chip.dataset.text = text.name;
    pane.show = (on) => {
      root.hidden = !on;
      chip.setAttribute("aria-pressed", String(on));
      if (on) render(pane, true);
    };
    chip.addEventListener("click", () => {
      pane.show(root.hidden);
      reportView();
    });
    chips.append(chip);
    const narrow = window.innerWidth <= 760;
    pane.show((number === 0 && !isEmbedded) || text.name === "nv_tileas" || (!narrow && SHOWN.includes(text.name)));
  }

  // ---- inside of another page ---------------------------------------------------------------
  // The playground replaces a page by the next one, and keeps what is shown where. Its editor has the source.
  const isEmbedded = window.parent !== window;
  let isReported = true;
  function reportView() {
    if (!isEmbedded || isReported) return;
    isReported = true;
    requestAnimationFrame(() => {
      isReported = false;
      const view = { top: window.scrollY, panes: {} };
      for (const pane of panes) view.panes[pane.text.name] = { shown: !pane.root.hidden, top: pane.box.scrollTop };
      window.parent.postMessage({ view }, "*");
    });
  }

  // A line of the source that is pinned here lights in the editor, unless it was pinned there.
  function reportLine(origin) {
    if (!isEmbedded || origin === "editor") return;
    const line = pinned ? panes[0].text.links.findIndex((set) => set >= 0 && lit[set]) : -1;
    window.parent.postMessage({ line: line + 1 }, "*");
  }

  function restoreView(view) {
    for (const pane of panes) {
      const { shown, top } = view.panes[pane.text.name] || { shown: !pane.root.hidden, top: 0 };
      pane.show(shown);
      pane.box.scrollTop = top;
    }
    window.scrollTo({ top: view.top, behavior: "instant" });
  }

  if (isEmbedded) {
    window.addEventListener("message", (event) => {
      if (event.source !== window.parent || !event.data) return;
      if (event.data.view) restoreView(event.data.view);
      if (event.data.line) {
        pinned = null;
        pin(positionsOf(panes[0], event.data.line - 1), "editor");
      }
      isReported = false;
    });
    window.addEventListener("scroll", reportView, { passive: true });
  }

  const container = document.getElementById("panes");
  const chips = document.getElementById("chips");
  if (container && chips) {
    data.texts.forEach((text, number) => addPane(text, number, chips, container));
    // A source may begin with long comments.
    const start = panes[0].text.links.findIndex((set) => set >= 0);
    if (start * LINE > panes[0].box.clientHeight / 2) panes[0].box.scrollTop = (start - 2) * LINE;
    window.addEventListener("resize", () => panes.forEach((pane) => render(pane, true)));
    window.addEventListener("keydown", (event) => {
      if (event.key === "Escape") pin([], null);
    });
    document.addEventListener("mouseover", (event) => {
      const mark = event.target.closest && event.target.closest("[data-pos]");
      if (mark) hover([Number(mark.dataset.pos)]);
      else if (!event.target.closest(".pane")) hover([]);
    });
    document.addEventListener("click", (event) => {
      const mark = event.target.closest && event.target.closest("[data-pos]");
      if (!mark) return;
      pinned = null;
      pin([Number(mark.dataset.pos)], null);
    });
  }

  // ---- layouts ------------------------------------------------------------------------------
  const MAX_ROWS = 256;
  const FOLD = 64;
  const BANKS = 32;
  const BANK_BYTES = 4;

  // The row-major number of the element that an index contributes, bit by bit.
  function combine(vectors, index) {
    let value = 0;
    for (let bit = 0; bit < vectors.length; bit++) if ((index >> bit) & 1) value ^= vectors[bit];
    return value;
  }

  function owners(layout) {
    const size = layout.shape.reduce((all, extent) => all * extent, 1);
    const first = new Int32Array(size).fill(-1);
    const copies = new Int32Array(size);
    const widths = layout.inputs.map(([, vectors]) => vectors.length);
    const bits = widths.reduce((all, width) => all + width, 0);
    const columns = layout.inputs.flatMap(([, vectors]) => vectors);
    for (let packed = 0; packed < 1 << bits; packed++) {
      const at = combine(columns, packed);
      copies[at] += 1;
      if (first[at] < 0) first[at] = packed;
    }
    return { first, copies, widths };
  }

  function split(layout, widths, packed) {
    const parts = {};
    layout.inputs.forEach(([name], number) => {
      parts[name] = packed & ((1 << widths[number]) - 1);
      packed >>= widths[number];
    });
    return parts;
  }

  function hue(number, count) {
    return count <= 1 ? 210 : Math.round((number * 360) / count);
  }

  function color(layout, parts, by) {
    if (layout.memory === "shared") {
      const bytes = parts.offset * layout.element_bytes;
      const bank = Math.floor(bytes / BANK_BYTES) % BANKS;
      if (by === "line") return `hsl(${hue(Math.floor(bytes / (BANKS * BANK_BYTES)) % 8, 8)} 60% 58%)`;
      return `hsl(${hue(bank, BANKS)} 65% ${50 + 8 * (bank % 2)}%)`;
    }
    const extent = (name) => 1 << (layout.inputs.find(([other]) => other === name) || ["", []])[1].length;
    if (by === "lane") return `hsl(${hue(parts.lane, extent("lane"))} 60% 58%)`;
    if (by === "register") return `hsl(${hue(parts.register, extent("register"))} 60% 58%)`;
    return `hsl(${hue(parts.warp, Math.max(extent("warp"), 3))} 55% ${42 + (parts.lane || 0)}%)`;
  }

  function describe(layout, parts, coordinates, copies) {
    const where = `element (${coordinates.join(", ")})`;
    if (layout.memory === "shared") {
      const bytes = parts.offset * layout.element_bytes;
      return `${where}: byte ${bytes}, bank ${Math.floor(bytes / BANK_BYTES) % BANKS}, line ${Math.floor(bytes / (BANKS * BANK_BYTES))}`;
    }
    const thread = (parts.warp || 0) * 32 + (parts.lane || 0);
    const again = copies > 1 ? `, held ${copies} times` : "";
    return `${where}: thread ${thread} (warp ${parts.warp || 0}, lane ${parts.lane || 0}), register ${parts.register || 0}${again}`;
  }

  function picture(figure, layouts) {
    const choice = figure.querySelector("select.which");
    const by = figure.querySelector("select.by");
    const canvas = figure.querySelector("canvas");
    const readout = figure.querySelector(".readout");
    const summary = figure.querySelector(".summary");
    let state = null;

    function modes(layout) {
      const names = layout.memory === "shared" ? ["bank", "line"] : ["thread", "lane", "register"];
      by.replaceChildren(...names.map((name) => new Option(`colour by ${name}`, name)));
    }

    function load() {
      const layout = layouts[Number(choice.value)];
      const size = layout.shape.reduce((all, extent) => all * extent, 1);
      const last = layout.shape.length ? layout.shape[layout.shape.length - 1] : 1;
      const columns = last === size && size > FOLD ? FOLD : last;
      const rows = Math.min(MAX_ROWS, Math.ceil(size / columns));
      state = { layout, size, columns, rows, cell: Math.max(4, Math.min(18, Math.floor(720 / columns), Math.floor(760 / rows))), ...owners(layout) };
      canvas.width = columns * state.cell;
      canvas.height = rows * state.cell;
      summary.textContent = layout.summary;
      canvas.setAttribute("aria-label", `${layout.name}: ${layout.summary}`);
      paint(-1);
    }

    function coordinates(at) {
      const result = [];
      for (let dimension = state.layout.shape.length - 1; dimension >= 0; dimension--) {
        const extent = state.layout.shape[dimension];
        result.unshift(at % extent);
        at = Math.floor(at / extent);
      }
      return result;
    }

    function paint(chosen) {
      const draw = canvas.getContext("2d");
      const { layout, first, widths, columns, rows, cell, size } = state;
      const group = (at) => {
        const parts = split(layout, widths, first[at]);
        return layout.memory === "shared"
          ? Math.floor((parts.offset * layout.element_bytes) / BANK_BYTES) % BANKS
          : (parts.warp || 0) * 32 + (parts.lane || 0);
      };
      const wanted = chosen >= 0 ? group(chosen) : -1;
      draw.clearRect(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < Math.min(size, rows * columns); at++) {
        const x = (at % columns) * cell;
        const y = Math.floor(at / columns) * cell;
        draw.globalAlpha = wanted < 0 || group(at) === wanted ? 1 : 0.25;
        draw.fillStyle = color(layout, split(layout, widths, first[at]), by.value);
        draw.fillRect(x, y, cell - (cell > 5 ? 1 : 0.5), cell - (cell > 5 ? 1 : 0.5));
      }
      draw.globalAlpha = 1;
    }

    function at(event) {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left) / state.cell);
      const row = Math.floor((event.clientY - box.top) / state.cell);
      const number = row * state.columns + column;
      return column >= 0 && column < state.columns && row >= 0 && row < state.rows && number < state.size ? number : -1;
    }

    choice.addEventListener("change", () => {
      modes(layouts[Number(choice.value)]);
      load();
    });
    by.addEventListener("change", () => paint(-1));
    let over = -1;
    canvas.addEventListener("mousemove", (event) => {
      const number = at(event);
      if (number === over || number < 0) return;
      over = number;
      readout.textContent = describe(state.layout, split(state.layout, state.widths, state.first[number]), coordinates(number), state.copies[number]);
      paint(number);
    });
    canvas.addEventListener("mouseleave", () => {
      over = -1;
      paint(-1);
    });
    modes(layouts[Number(choice.value)]);
    load();
  }

  for (const figure of document.querySelectorAll(".layout[data-kernel]")) {
    picture(figure, data.layouts[Number(figure.dataset.kernel)]);
  }
})();
