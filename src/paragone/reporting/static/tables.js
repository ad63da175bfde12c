/* Tables: sorting by a heading, filters of rows and columns. */
(() => {
  const { make, begin } = window.paragone;

  /* A cell sorts by the number that it prints, by another where the page says so, or by its text. */
  const PLAIN = /^[+\u2212-]?\d+(\.\d+)?(e[+-]?\d+)?(?= ±| \[| %$| % \(|[+\u2212]?$)/;

  function numberOf(cell) {
    if ("number" in cell.dataset) return Number(cell.dataset.number);
    const found = cell.tagName === "TD" && PLAIN.exec(cell.textContent.trim());
    return found ? Number(found[0].replace("\u2212", "-")) : null;
  }

  const sortKey = (row, column) => numberOf(row.cells[column]) ?? row.cells[column].textContent.trim();

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
      const words = [...row.cells].filter((cell) => numberOf(cell) === null).map((cell) => cell.textContent);
      row.hidden = !matches(words.join("\n"));
    }
  }

  function filterColumns(table, text) {
    const matches = matcher(text);
    const shown = [...table.tHead.rows[0].cells].map((cell, place) => place === 0 || matches(cell.textContent));
    for (const row of table.rows) [...row.cells].forEach((cell, place) => { cell.hidden = !shown[place]; });
  }

  /* A number leads to what is behind it; the sign of a test after it does not. */
  function link(cell) {
    const host = cell.querySelector(":scope > span") ?? cell;
    /* The end of a row's line belongs to its last cell. */
    if (host.lastChild?.nodeType === Node.TEXT_NODE) host.lastChild.data = host.lastChild.data.trimEnd();
    const anchor = make("a", undefined, { href: `#b=${cell.dataset.b}` });
    anchor.append(...[...host.childNodes].filter((node) => node.nodeName !== "SUP"));
    host.prepend(anchor);
    delete cell.dataset.b;
  }

  begin.push(() => {
    document.querySelectorAll("[data-b]").forEach(link);
    for (const sheet of document.querySelectorAll(".sheet")) {
      const table = sheet.querySelector("table");
      const scroll = sheet.querySelector(".scroll");
      const label = scroll.dataset.label ?? sheet.querySelector("h3").textContent;
      for (const [name, value] of [["tabindex", 0], ["role", "region"], ["aria-label", label]]) scroll.setAttribute(name, value);
      for (const heading of table.tHead.rows[0].cells) {
        heading.setAttribute("aria-sort", "none");
        if (heading.textContent) heading.replaceChildren(make("button", heading.textContent, { type: "button" }));
      }
      table.tHead.addEventListener("click", (event) => {
        if (event.target.closest("button")) sortBy(table, event.target.closest("th"));
      });
      addFilters(sheet, table);
    }
    document.getElementById("show-spread")?.closest("label").toggleAttribute("hidden", !document.querySelector(".sheet td i"));
  });
})();
