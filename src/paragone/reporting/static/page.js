"use strict";
/* The page's behaviour: choices, sorting, filters, charts, and what is behind a number.
   Names of methods and datasets reach the document as text only, never as markup. */
(() => {
  let data = { figures: {}, shared: [], evidence: {} };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const number = (value) => (value === null ? "-" : Number(value.toPrecision(7)).toString());

  const make = (tag, text, properties = {}) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    return Object.assign(element, properties);
  };

  /* Choices */

  function applyChoices() {
    const selects = [...document.querySelectorAll("select[data-choice]")];
    const chosen = Object.fromEntries(selects.map((select) => [select.dataset.choice, select.value]));
    for (const [name, value] of Object.entries(chosen)) {
      const attribute = `data-tag-${name}`;
      for (const block of document.querySelectorAll(`[${attribute}]`)) {
        block.dataset[`off${name}`] = block.getAttribute(attribute) === value ? "" : "1";
        block.hidden = Object.keys(chosen).some((other) => block.dataset[`off${other}`] === "1");
      }
    }
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches("select[data-choice]")) applyChoices();
    if (event.target.id === "show-spread") document.body.classList.toggle("no-spread", !event.target.checked);
  });

  /* Sorting and filters */

  function sortKey(row, column) {
    const cell = row.cells[column];
    return "number" in cell.dataset ? Number(cell.dataset.number) : cell.textContent.trim();
  }

  function compareKeys(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, undefined, { numeric: true });
  }

  function sortBy(table, heading) {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", direction);
    const body = table.tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = [...body.rows].map((row) => [sortKey(row, heading.cellIndex), row]);
    keyed.sort((a, b) => sign * compareKeys(a[0], b[0]));
    body.append(...keyed.map(([, row]) => row));
  }

  function addFilters(sheet, table) {
    const box = make("div", undefined, { className: "filters" });
    const fields = [];
    if (table.tBodies[0].rows.length > 3) fields.push(["rows", filterRows]);
    if (table.tHead.rows[0].cells.length > 5 && sheet.hasAttribute("data-columns")) fields.push(["columns", filterColumns]);
    for (const [what, act] of fields) {
      const label = make("label", `Filter ${what} `);
      const input = make("input", undefined, { type: "search", placeholder: "name | other name" });
      input.dataset.filter = what;
      input.addEventListener("input", () => act(table, input.value));
      label.append(input);
      box.append(label);
    }
    if (fields.length) sheet.querySelector(".scroll").before(box);
  }

  const matcher = (text) => {
    const parts = text.toLowerCase().split("|").map((part) => part.trim()).filter(Boolean);
    return (name) => !parts.length || parts.some((part) => name.toLowerCase().includes(part));
  };

  function filterRows(table, text) {
    const matches = matcher(text);
    for (const row of table.tBodies[0].rows) {
      const words = [...row.cells].filter((cell) => !("number" in cell.dataset)).map((cell) => cell.textContent);
      row.hidden = !matches(words.join("\n"));
    }
  }

  function filterColumns(table, text) {
    const matches = matcher(text);
    const shown = [...table.tHead.rows[0].cells].map((cell, place) => place === 0 || matches(cell.textContent));
    for (const row of table.rows) [...row.cells].forEach((cell, place) => { cell.hidden = !shown[place]; });
  }

  function addTableBehaviour(sheet) {
    const table = sheet.querySelector("table");
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("th");
      if (event.target.closest("button")) sortBy(table, heading);
    });
    addFilters(sheet, table);
  }


  /* What is behind a number */

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
      cell.append(key ? make("a", number(value), { href: `#behind=${encodeURIComponent(key)}` }) : number(value));
      row.append(cell);
    }
    return table;
  }

  function spreadLine([, , rows]) {
    const values = rows.map((row) => row[1]).filter((value) => value !== null);
    if (!values.length) return "no value";
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const deviation = values.length > 1 ? `, standard deviation ${number(Math.sqrt(squares / (values.length - 1)))}` : "";
    return `${values.length} values, mean ${number(mean)}${deviation}`;
  }

  function showBehind() {
    const key = decodeURIComponent((location.hash.match(/^#behind=(.*)$/) ?? [])[1] ?? "");
    const found = Object.hasOwn(data.evidence, key) ? data.evidence[key] : null;
    if (!found) {
      if (dialog.open) dialog.close();
      return;
    }
    document.getElementById("behind-title").textContent = found[0];
    const content = document.getElementById("behind-content");
    content.replaceChildren(evidenceTable(found), make("p", spreadLine(found), { className: "note" }));
    if (found[3]) content.append(make("p", found[3], { className: "note" }));
    if (!dialog.open) dialog.showModal();
    document.dispatchEvent(new CustomEvent("paragone:behind", { detail: found[4] }));
  }

  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#behind=")) history.replaceState(null, "", location.pathname + location.search);
  });
  window.addEventListener("hashchange", showBehind);

  /* Charts */

  function expanded(value, name) {
    if (Array.isArray(value)) return value.map((part) => expanded(part));
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value.columns) && Array.isArray(value.rows)) {
      return value.rows.map((row) => Object.fromEntries(row.map((part, place) => [value.columns[place], part])));
    }
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, expanded(part, key)]));
  }

  const NIGHT = {
    "#000000": "#f2f4f6", "#333333": "#c9ced6", "#555555": "#aab1ba", "#eeeeee": "#2f353c", "#f2f2f2": "#262b31",
    "#ffffff": "#15181c", "#d9d9d9": "#596069", "#332288": "#9a8cff", "#882255": "#f06a9b", "#0072b2": "#3a9fe0",
  };

  function atNight(value, name) {
    if (name === "values" || name === "datasets") return value;
    if (typeof value === "string") return NIGHT[value.toLowerCase()] ?? value;
    if (Array.isArray(value)) return value.map((part) => atNight(part));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, atNight(part, key)]));
  }

  /* On the page a label longer than this ends in dots, its whole in the hover; saved files keep it whole. */
  const LABEL = 340;

  function fitted(value, name) {
    if (name === "values" || name === "datasets" || value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((part) => fitted(part));
    const parts = Object.entries(value).map(([key, part]) => [key, key === "limit" && value.type === "text" ? LABEL : fitted(part, key)]);
    return Object.fromEntries(parts);
  }

  function onScreen(specification) {
    const spec = fitted(dark.matches ? atNight(specification) : specification);
    const ink = dark.matches ? "#e8eaed" : "#1b1f24";
    const soft = dark.matches ? "#aab1ba" : "#555c66";
    const config = structuredClone(spec.config ?? {});
    for (const part of ["axis", "legend"]) {
      config[part] = { ...config[part], labelColor: ink, titleColor: ink, labelLimit: LABEL };
    }
    config.mark = { ...config.mark, tooltip: true };
    config.axisQuantitative = { ...config.axisQuantitative, labelOverlap: "parity", labelSeparation: 6 };
    config.axis = { ...config.axis, domainColor: soft, tickColor: soft };
    config.title = { ...config.title, color: ink, subtitleColor: soft };
    config.text = { ...config.text, color: ink, limit: LABEL };
    return { ...spec, background: "transparent", config };
  }

  function specificationOf(figure) {
    const parts = Object.entries(data.figures[figure.dataset.figure]);
    const whole = parts.map(([name, part]) => [name, part !== null && Number.isInteger(part.shared) ? data.shared[part.shared] : part]);
    return expanded(Object.fromEntries(whole));
  }

  const OPTIONS = {
    mode: "vega-lite", ast: true, logLevel: 1, actions: false, defaultStyle: false, renderer: "svg",
    tooltip: { disableDefaultStyle: true, theme: "page" },
  };

  async function draw(figure) {
    figure.dataset.drawn = "begun";
    const place = figure.querySelector(".chart");
    const words = place.getAttribute("aria-label");
    place.replaceChildren();
    await window.vegaEmbed(place, onScreen(specificationOf(figure)), OPTIONS);
    /* One picture with a name, not a thousand marks, for those who listen; the tables hold the numbers. */
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", words);
    place.removeAttribute("aria-roledescription");
    place.querySelector("svg")?.setAttribute("aria-hidden", "true");
    figure.dataset.drawn = "done";
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
    }
  }, { rootMargin: "400px" });

  const figures = () => [...document.querySelectorAll("figure[data-figure]")];
  dark.addEventListener("change", () => figures().filter((figure) => figure.dataset.drawn).forEach(draw));
  window.addEventListener("beforeprint", () => figures().filter((figure) => !figure.dataset.drawn).forEach(draw));

  /* Saved files are drawn anew, dark on white, whatever the reader's screen. */
  async function saved(figure, format) {
    const aside = make("div");
    const spec = { ...specificationOf(figure), background: "white" };
    const { view, finalize } = await window.vegaEmbed(aside, spec, { ...OPTIONS, renderer: "none", hover: false });
    try {
      if (format === "svg") return new Blob([await view.toSVG()], { type: "image/svg+xml" });
      const canvas = await view.toCanvas(2);
      return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    } finally {
      finalize();
    }
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-save]");
    if (!button) return;
    const figure = button.closest("figure");
    const address = URL.createObjectURL(await saved(figure, button.dataset.save));
    make("a", undefined, { href: address, download: `${figure.dataset.file}.${button.dataset.save}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  });

  /* Begin, and begin again when a server sent a new report. */
  function start() {
    const source = document.getElementById("page-data");
    if (!source) return;
    data = JSON.parse(source.textContent);
    applyChoices();
    document.getElementById("show-spread")?.closest("label").toggleAttribute("hidden", !document.querySelector(".spread"));
    document.querySelectorAll(".sheet").forEach(addTableBehaviour);
    figures().forEach((figure) => seen.observe(figure));
    showBehind();
  }

  window.paragone = { start, make };
  start();
})();
