"use strict";
/* What every part of the page shares: elements, numbers as people read them, and the state that its address names.
   Names of methods and datasets reach the document as text only, never as markup; the page's policy allows no style
   attributes, so sizes go through SVG attributes and the CSSOM. */
window.paragone = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const DRAWN = new Set(["svg", "g", "line", "circle", "rect", "path", "text"]);

  function make(tag, text, properties = {}) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    return Object.assign(element, properties);
  }

  /* An element with attributes and children; names that begin with "--" become CSS variables. */
  function el(tag, attributes = {}, ...children) {
    const element = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("--")) element.style.setProperty(name, value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  }

  /* The same three digits as in the terminal and in the tables of the ranking. */
  function number(value) {
    if (value === null || !Number.isFinite(value)) return "-";
    const size = Math.abs(value);
    if (size >= 1000) return minus(value.toFixed(0));
    if (size >= 1 || (size > 0 && size < 0.001)) return minus(String(Number(value.toPrecision(3))).replace(/e([+-])(\d)$/, "e$10$2"));
    return minus((value + 0).toFixed(3));
  }
  const minus = (text) => text.replace(/^-/, /^-[0.]+$/.test(text) ? "" : "\u2212");
  const signed = (value) => (value === null ? "-" : value === 0 ? "0" : value > 0 ? `+${number(value)}` : number(value));

  const page = { data: { boards: {}, plots: {}, evidence: [] }, make, el, number, minus, signed, drawers: [] };

  /* The state: every choice of the reader, in the address as #metric=accuracy&ref=SVM&method=SVM&method=Tree. An address
     without "=" is the anchor of a part of the page. */
  const MANY = ["dataset", "method"];
  const state = new Map();
  page.state = state;

  function readAddress() {
    const hash = location.hash.slice(1);
    state.clear();
    if (hash.includes("=")) {
      for (const [name, value] of new URLSearchParams(hash)) state.set(name, MANY.includes(name) ? [...(state.get(name) ?? []), value] : value);
    }
    if (state.has("b")) {
      state.set("behind", keyAt(state.get("b")));
      state.delete("b");
    }
  }

  /* A cell names what is behind it by its place, which is short; the address names it in words. */
  const keyAt = (place) => keys[Number(place)] ?? "";

  function address() {
    return [...state].flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`)).join("&");
  }

  page.choose = (name, value) => {
    if (value.length) state.set(name, value);
    else state.delete(name);
    const hash = address();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };

  page.say = (text) => {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  };

  /* Choices */

  const selects = () => [...document.querySelectorAll("select[data-choice]")];

  function applyChoices() {
    for (const select of selects()) {
      const wanted = state.get(select.dataset.choice);
      if (wanted !== undefined && [...select.options].some((option) => option.value === wanted)) select.value = wanted;
    }
    const chosen = Object.fromEntries(selects().map((select) => [select.dataset.choice, select.value]));
    const tagged = Object.keys(chosen).map((name) => `[data-tag-${name}]`).join(",");
    for (const block of tagged ? document.querySelectorAll(tagged) : []) {
      block.hidden = Object.entries(chosen).some(([name, value]) => block.hasAttribute(`data-tag-${name}`) && block.getAttribute(`data-tag-${name}`) !== value);
    }
  }

  page.draw = () => page.drawers.forEach((draw) => draw());

  document.addEventListener("change", (event) => {
    const select = event.target.closest("select[data-choice]");
    if (select) {
      page.choose(select.dataset.choice, select.selectedIndex ? select.value : "");
      applyChoices();
      page.draw();
      const finding = [...document.querySelectorAll(".finding h2")].find((heading) => heading.checkVisibility());
      if (finding) page.say(finding.textContent);
    }
    if (event.target.id === "show-spread") document.body.classList.toggle("no-spread", !event.target.checked);
  });

  /* A link to a part of the page keeps the state in the address. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    const target = decodeURIComponent(link.hash.slice(1));
    if (target.startsWith("b=")) {
      event.preventDefault();
      state.set("behind", keyAt(target.slice(2)));
      location.hash = address();
    } else if (state.size) {
      state.set("at", target);
      setTimeout(() => history.replaceState(null, "", `#${address()}`));
    }
  });

  /* What is behind a number */

  const precise = (value) => (value === null ? "-" : Number(value.toPrecision(7)).toString());
  const dialog = document.getElementById("behind");

  function evidenceTable([, headings, rows]) {
    const table = make("table");
    const heading = table.createTHead().insertRow();
    headings.forEach((text, place) => heading.append(make("th", text, { scope: "col", className: place ? "right" : "left" })));
    const body = table.createTBody();
    for (const [label, value, key] of rows) {
      const row = body.insertRow();
      row.append(make("td", label, { className: "left" }));
      const cell = make("td", undefined, { className: "right" });
      cell.append(key !== undefined ? make("a", precise(value), { href: `#b=${key}` }) : precise(value));
      row.append(cell);
    }
    return table;
  }

  function spreadLine([, , rows]) {
    const values = rows.map((row) => row[1]).filter((value) => value !== null);
    if (!values.length) return "no value";
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const deviation = values.length > 1 ? `, standard deviation ${precise(Math.sqrt(squares / (values.length - 1)))}` : "";
    return `${values.length} values, mean ${precise(mean)}${deviation}`;
  }

  /* Title, headings, rows of label, value and what is behind it, note, dataset and method: what many share the page
     holds once. An entry is shape, values, places of dataset and method, note, links, key, title. */
  let keys = [];
  /* Whole numbers in digits of base 90, the first character being the number of digits of each. */
  const DIGITS = new Map([...Array(95).keys()].map((at) => String.fromCharCode(32 + at)).filter((one) => !'"\\<>&'.includes(one)).map((one, at) => [one, at]));
  function unpacked(column) {
    if (typeof column !== "string") return column;
    const width = DIGITS.get(column[0]);
    return [...Array((column.length - 1) / width).keys()].map((at) => [...column.slice(1 + at * width, 1 + (at + 1) * width)].reduce((sum, one) => DIGITS.size * sum + DIGITS.get(one), 0));
  }
  const doubled = (name) => name.replaceAll("/", "//");

  function readKeys() {
    const { evidence, shapes, names } = page.data;
    keys = evidence.map(([shape, , place, , , key]) => key || [shapes[shape][2], ...place.map((at) => doubled(names[at]))].join("/"));
  }

  function evidenceOf(key) {
    const entry = page.data.evidence[keys.indexOf(key)];
    if (key === undefined || !entry) return null;
    const [shape, written, place, note, links, , title] = entry;
    const values = typeof written[1] === "string" ? unpacked(written[1]).map((value) => value / 10 ** written[0]) : written;
    const [headings, labels, , ending] = page.data.shapes[shape];
    const { texts } = page.data;
    const behind = links && values.length > 2 && links.length === 2 ? values.map((_, at) => links[0] + at * links[1]) : links;
    const rows = values.map((value, at) => [labels[at], value, behind && behind[at] >= 0 ? behind[at] : undefined]);
    const names = place ? place.map((at) => page.data.names[at]) : undefined;
    const words = Array.isArray(note) ? note[0] + texts[note[1]] : typeof note === "number" ? texts[note] : note;
    return [title || `${names[1]} on ${names[0]}: ${ending}`, headings, rows, words, names];
  }

  function showBehind() {
    const found = evidenceOf(state.get("behind"));
    if (!found) {
      if (dialog.open) dialog.close();
      return;
    }
    document.getElementById("behind-title").textContent = found[0];
    const content = document.getElementById("behind-content");
    const values = found[2].map(([label, value]) => [label, value]).filter(([, value]) => value !== null);
    const strip = values.length > 1 && values.length <= 200 ? [page.strip(values)] : [];
    content.replaceChildren(...strip, evidenceTable(found), make("p", spreadLine(found), { className: "note" }));
    if (found[3]) content.append(make("p", found[3], { className: "note" }));
    if (!dialog.open) dialog.showModal();
    document.dispatchEvent(new CustomEvent("paragone:behind", { detail: found[4] }));
  }

  dialog.addEventListener("close", () => page.choose("behind", ""));
  window.addEventListener("hashchange", () => {
    if (location.hash.includes("=") || !location.hash) {
      readAddress();
      applyChoices();
      page.draw();
    }
    showBehind();
  });

  /* Print: laid out at the width of paper before it is drawn, everything open. */
  let closed = [];
  function printing(on) {
    document.documentElement.classList.toggle("printing", on);
    if (on) closed = [...document.querySelectorAll("details:not([open], .many-of)")];
    for (const part of closed) part.open = on;
    page.draw();
  }
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));

  let width = window.innerWidth;
  new ResizeObserver(() => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    page.draw();
  }).observe(document.documentElement);
  document.addEventListener("toggle", (event) => event.target.open && page.draw(), true);

  /* What is as usual is not written. */
  const WORDS = ["", "better", "worse", "equivalent", "undecided"];
  const USUAL = { pairs: [], reference: null, higher: true, margin: 0, unit: "", units: [], best: [], is_log: false, is_crowded: false, is_summed: false };

  function readBoards() {
    const { boards, methods, places } = page.data;
    for (const [name, board] of Object.entries(boards)) {
      const named = board.methods.map(([at, mean, seconds, failed = ""]) => ({ name: methods[at][0], short: methods[at][1] ?? methods[at][0], place: places[methods[at][0]], mean, seconds, failed }));
      const pairs = (board.pairs ?? []).map(([a, b, d, low, high, word]) => [a, b, d, low, high, WORDS[word]]);
      boards[name] = { ...USUAL, behind: named.map(() => []), ...board, methods: named, pairs };
    }
  }

  /* Lines are written column by column, as whole numbers: a quotient of two is the very number that was rounded. */
  function readPlots() {
    const { plots, names } = page.data;
    for (const plot of Object.values(plots)) {
      const { at, decimals, unit } = plot;
      Object.assign(plot, { guide: plot.guide ?? "", steps: plot.steps ?? false, columns: plot.columns ?? [] });
      plot.series = plot.series.map(([name, ...columns]) => {
        if (!at) return [names[name], columns[0]];
        const [x, heights, low, high] = columns.map(unpacked);
        const points = heights.map((height, place) => {
          const y = height === null ? null : height / 10 ** decimals;
          const end = (steps, sign) => (y === null || steps[place] === null ? null : y + sign * unit * steps[place]);
          return [(x || at)[place], y, ...(low ? [end(low, -1), end(high || low, 1)] : [])];
        });
        return [names[name], points];
      });
    }
  }

  /* Begin, and begin again when a server sent a new report. */
  page.begin = [];
  page.start = () => {
    const source = document.getElementById("page-data");
    if (!source) return;
    page.data = JSON.parse(source.textContent);
    readBoards();
    readPlots();
    readKeys();
    readAddress();
    applyChoices();
    page.begin.forEach((begin) => begin());
    page.draw();
    showBehind();
    if (state.has("at")) document.getElementById(state.get("at"))?.scrollIntoView();
  };
  return page;
})();
