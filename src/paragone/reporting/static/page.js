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

  /* Before its numbers are read there is nothing to draw. */
  let isRead = false;
  page.draw = () => isRead && page.drawers.forEach((draw) => draw());

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
      cell.append(key >= 0 ? make("a", precise(value), { href: `#b=${key}` }) : precise(value));
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

  /* Key, title, headings, rows of label, value and the place of what is behind it, note, dataset and method. */
  let keys = [];

  function evidenceOf(key) {
    const entry = page.data.evidence[keys.indexOf(key)];
    return key === undefined || !entry ? null : entry.slice(1);
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

  /* What is packed as gzip in base64 the browser inflates; a live view sends JSON as it is. */
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  /* Begin, and begin again when a server sent a new report. */
  page.begin = [];
  page.start = async () => {
    const source = document.getElementById("page-data");
    if (!source) return;
    const isPacked = source.type === "application/gzip";
    if (isPacked && typeof DecompressionStream === "undefined") {
      document.getElementById("unread").hidden = false;
      return;
    }
    page.data = isPacked ? await unpacked(source.textContent) : JSON.parse(source.textContent);
    keys = page.data.evidence.map(([key]) => key);
    isRead = true;
    readAddress();
    applyChoices();
    page.begin.forEach((begin) => begin());
    page.draw();
    showBehind();
    if (state.has("at")) document.getElementById(state.get("at"))?.scrollIntoView();
    document.documentElement.dataset.ready = "";
  };
  return page;
})();
