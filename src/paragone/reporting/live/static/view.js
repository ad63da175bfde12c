"use strict";
/* The live page: asks for progress every two seconds and for the report when there is news.
   Whatever comes from the store becomes text; the report's HTML was escaped by the server. */
(() => {
  const { make, start } = window.paragone;
  const EVERY = 2000;
  const PATIENCE = 15000;
  const byId = (name) => document.getElementById(name);
  let shownVersion = null;
  let shownQuery = null;
  let filled = false;

  /* What is chosen */

  const storeChosen = () => document.querySelector("#choices select[name=store]")?.value ?? "";

  function query() {
    const chosen = new URLSearchParams();
    const store = storeChosen();
    if (store) chosen.append("store", store);
    for (const select of document.querySelectorAll("#choices select:not([name=store])")) {
      /* The first choice is what the server shows unasked: one report for both. */
      if (select.value && select.selectedIndex > 0) chosen.append(select.name, select.value);
    }
    for (const box of document.querySelectorAll("#choices input:checked")) chosen.append(box.name, box.value);
    return chosen;
  }

  function fillSelect(name, values, first, titles) {
    const select = document.querySelector(`#choices select[name=${name}]`);
    const wanted = new URLSearchParams(location.search).get(name) ?? "";
    const options = values.map((value, i) => make("option", titles?.[i] || value || "all", { value }));
    select.closest("label").hidden = !values.length;
    if (first && values.length) options.unshift(make("option", first, { value: "" }));
    select.replaceChildren(...options);
    select.value = values.includes(wanted) ? wanted : select.options[0]?.value ?? "";
  }

  function fillBoxes(name, values) {
    const place = document.querySelector(`fieldset[data-many=${name}]`);
    const wanted = new URLSearchParams(location.search).getAll(name);
    const boxes = values.map((value) => {
      const label = make("label");
      label.append(make("input", undefined, { type: "checkbox", name, value, checked: wanted.includes(value) }), ` ${value}`);
      return label;
    });
    place.replaceChildren(place.querySelector("legend"), ...boxes);
  }

  function fillChoices(options) {
    if (filled || !options.metric) return;
    filled = true;
    for (const part of document.querySelectorAll("#choices [data-later]")) part.hidden = false;
    fillSelect("metric", options.metric, undefined, options.metric_titles);
    fillSelect("at", options.at, "as the experiment declares");
    fillSelect("reference", options.reference);
    fillBoxes("dataset", options.dataset);
    fillBoxes("method", options.method);
  }

  byId("choices").addEventListener("change", (event) => {
    if (event.target.name === "store") {
      /* Another store is another page. */
      location.search = new URLSearchParams({ store: event.target.value });
      return;
    }
    if (event.target.name === "experiment") filled = false;
    const chosen = filled ? query() : new URLSearchParams({ experiment: event.target.value });
    history.replaceState(null, "", `?${chosen}`);
    byId("news").textContent = "building the report";
    refresh();
  });

  /* Progress */

  const where = (cell) => `${cell.method} on ${cell.dataset}, fold ${cell.fold}${cell.repeat ? `, seed ${cell.repeat}` : ""}`;

  const SPOKEN = { timeout: "timed out", missing: "to do" };

  function showCounts(progress) {
    const facts = Object.entries(progress.counts).map(([name, count]) => [SPOKEN[name] ?? name, count]);
    if (progress.rate !== null) facts.push(["cells per minute", (60 * progress.rate).toPrecision(3)]);
    if (progress.left !== null) facts.push(["time left", progress.left]);
    byId("counts").replaceChildren(...facts.map(([name, value]) => {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", String(value)));
      return pair;
    }));
  }

  function cellTable(cells) {
    const table = make("table");
    const heading = table.createTHead().insertRow();
    for (const text of ["cell", "status", "wall s", "CPU s"]) heading.append(make("th", text, { scope: "col", className: text.endsWith(" s") ? "right" : "left" }));
    const body = table.createTBody();
    for (const cell of cells) {
      const row = body.insertRow();
      row.append(make("td", where(cell), { className: "left" }), make("td", cell.status), make("td", cell.seconds.toFixed(2), { className: "right" }), make("td", cell.cpu_seconds?.toFixed(2) ?? "", { className: "right" }));
    }
    return table;
  }

  const several = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  function failureParts(found) {
    return found.shown.map((cause) => {
      const part = make("details", undefined, { className: "listing" });
      const whose = Object.entries(cause.methods).map(([method, count]) => `${method} ${count}`).join(", ");
      part.append(
        make("summary", `${several(cause.count, "cell")} ${SPOKEN[cause.status] ?? cause.status}: ${cause.error}`),
        make("p", `of ${whose}`, { className: "note" }),
        make("pre", cause.traceback || cause.error, { tabIndex: 0 }),
      );
      return part;
    });
  }

  /* How far it is, as a bar of all cells and as a square for every method on every dataset. Sizes are set through the
     style object, which the policy of the page allows; attributes it does not. */

  const ENDINGS = ["done", "failed", "timeout"];

  function share(name, count) {
    const piece = make("span", undefined, { className: name });
    piece.style.flexGrow = count;
    return piece;
  }

  function showBar(progress) {
    const bar = byId("bar");
    const counts = ENDINGS.map((name) => [name, progress.counts[name] ?? 0]).filter(([, count]) => count);
    bar.setAttribute("aria-valuemax", progress.total);
    bar.setAttribute("aria-valuenow", progress.ended);
    bar.setAttribute("aria-valuetext", counts.map(([name, count]) => `${count} ${SPOKEN[name] ?? name}`).join(", ") || "nothing ended yet");
    bar.replaceChildren(...counts.map(([name, count]) => share(name, count)), share("open", progress.total - progress.ended));
  }

  let drawnMatrix = "";

  function showMatrix(matrix) {
    const now = JSON.stringify(matrix);
    if (now === drawnMatrix) return;
    drawnMatrix = now;
    const table = byId("matrix");
    table.replaceChildren(make("caption", "Cells that ended, of all, by method and dataset"));
    const heading = table.createTHead().insertRow();
    heading.append(make("th", "method", { scope: "col", className: "left" }), ...matrix.datasets.map((name) => make("th", name, { scope: "col", title: name })));
    const body = table.createTBody();
    matrix.methods.forEach((method, place) => {
      const row = body.insertRow();
      row.append(make("th", method, { scope: "row", className: "left", title: method }));
      for (const [done, failed, late, all] of matrix.rows[place]) {
        const bad = failed + late;
        const cell = make("td", `${done + bad}/${all}${bad ? `, ${bad} failed` : ""}`, { className: bad ? "bad" : done === all && all ? "whole" : "" });
        const fill = make("span", undefined, { className: "fill" });
        for (const [name, count] of [["done", done], ["failed", failed], ["timeout", late], ["open", all - done - bad]]) if (count) fill.append(share(name, count));
        cell.append(fill);
        row.append(cell);
      }
    });
  }

  function keepOpen(place, parts) {
    const open = new Set([...place.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent));
    for (const part of parts) part.open = open.has(part.firstChild.textContent);
    place.replaceChildren(...parts);
  }

  function showProgress(progress) {
    const done = progress.ended === progress.total;
    /* Failed cells that run again have ended once already. */
    const state = !done ? (progress.alive ? "running" : "stopped: no run is at it") : progress.at_work ? "failed ones are run again" : "finished";
    byId("state").textContent = `${progress.experiment}: ${progress.ended} of ${progress.total} cells, ${state}`;
    showBar(progress);
    showCounts(progress);
    showMatrix(progress.matrix);
    byId("slowest").replaceChildren(cellTable(progress.slowest));
    byId("warned-part").hidden = !progress.warned.length;
    byId("warned").replaceChildren(...progress.warned.map((line) => make("li", line)));
    const failures = progress.causes;
    byId("failed-part").hidden = !failures.cells;
    const more = failures.causes > failures.shown.length ? ` (the commonest ${failures.shown.length})` : "";
    byId("failed-title").textContent = `${several(failures.cells, "cell")} failed, for ${several(failures.causes, "cause")}${more}`;
    keepOpen(byId("failed"), failureParts(failures));
  }

  /* The report */

  function replaceReport(html) {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("report");
    const old = byId("report");
    const open = new Set([...old.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent));
    const first = !old.firstElementChild;
    for (const part of fresh.querySelectorAll("details")) {
      if (!first) part.open = open.has(part.firstElementChild.textContent);
    }
    const top = window.scrollY;
    old.replaceWith(fresh);
    start();
    window.scrollTo(0, top);
  }

  async function ask(path, parameters) {
    /* A connection that died while the machine slept must not hold the page up. */
    const answer = await fetch(`${path}?${parameters}`, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    const found = await answer.json();
    if (found.error) throw new Error(found.error);
    return found;
  }

  async function refresh() {
    const chosen = filled ? query() : new URLSearchParams(location.search);
    const asked = chosen.toString();
    if (asked === shownQuery && shownVersion) chosen.set("has", shownVersion);
    let report;
    try {
      report = await ask("/report", chosen);
    } catch (error) {
      byId("news").textContent = error.message;
      return;
    }
    if (report.refusal) {
      byId("news").textContent = report.refusal;
      return;
    }
    if (!report.version) {
      byId("news").textContent = "building the report";
      return;
    }
    byId("news").textContent = report.version === report.newest ? "" : "newer results are on their way into the report";
    fillChoices(report.options);
    if (report.html && (report.version !== shownVersion || asked !== shownQuery)) {
      shownVersion = report.version;
      shownQuery = filled ? query().toString() : asked;
      replaceReport(report.html);
    }
  }

  let next = 0;
  let turning = false;

  async function turn() {
    if (turning) return;
    turning = true;
    clearTimeout(next);
    try {
      const wanted = new URLSearchParams(location.search);
      const chosen = new URLSearchParams();
      for (const name of ["store", "experiment"]) if (wanted.has(name)) chosen.set(name, wanted.get(name));
      showProgress(await ask("/progress", chosen));
      await refresh();
    } catch (error) {
      byId("state").textContent = `the view does not answer (${error.message}); it is asked again`;
    }
    turning = false;
    next = setTimeout(turn, document.hidden ? 5 * EVERY : EVERY);
  }

  /* Awake again, or back on the net: at once, and not when a timer that slept comes round. */
  document.addEventListener("visibilitychange", () => { if (!document.hidden) turn(); });
  for (const name of ["online", "pageshow"]) window.addEventListener(name, turn);

  /* From folds to the ranking and the predictions of a cell */

  const list = (title, values, open) => {
    const part = make("details", undefined, { className: "listing", open });
    part.append(make("summary", title), make("pre", values.join("\n"), { tabIndex: 0 }));
    return part;
  };

  /* What was predicted, the wrong ones first, with what the method said of it. */
  function answerTable(answers) {
    const { rows, total, wrong, of_classes: ofClasses } = answers;
    const table = make("table", undefined, { className: "answers" });
    const heading = table.createTHead().insertRow();
    for (const words of ["row", ...(ofClasses ? ["it was", "predicted", "probability"] : ["measured", "predicted", "off by"])]) heading.append(make("th", words, { scope: "col" }));
    const body = table.createTBody();
    for (const [row, truth, predicted, number, isWrong] of rows) {
      const line = body.insertRow();
      line.className = isWrong ? "wrong" : "";
      line.append(...[row, truth, `${predicted}${isWrong ? " ✕" : ""}`, number ?? "-"].map((value) => make("td", String(value))));
    }
    const first = rows.length < total ? `${rows.length} of ${total} rows` : several(total, "row");
    const words = ofClasses ? `${first}, ${wrong} of ${total} wrong; the wrong ones first, the surest of them on top` : `${first}, the farthest off first`;
    const parts = [make("p", words, { className: "note" })];
    if (ofClasses && wrong) {
      const label = make("label", " wrong only");
      const box = make("input", undefined, { type: "checkbox", id: "wrong-only" });
      box.addEventListener("change", () => { for (const line of body.rows) line.hidden = box.checked && line.className !== "wrong"; });
      label.prepend(box);
      parts.push(label);
    }
    return [...parts, table];
  }

  async function showCell(place) {
    const cell = await ask("/cell", new URLSearchParams(place));
    byId("behind-cell").replaceChildren(
      make("h3", where(cell)),
      ...(cell.answers ? answerTable(cell.answers) : []),
      ...cell.parts.map((part, place) => list(part.title, part.lines, place === 0)),
    );
  }

  async function showFolds(event) {
    const more = byId("behind-more");
    more.replaceChildren();
    if (!event.detail) return;
    const [dataset, method] = event.detail;
    const experiment = new URLSearchParams(location.search).get("experiment") ?? "";
    const store = storeChosen();
    const found = await ask("/folds", new URLSearchParams({ store, experiment, dataset, method }));
    more.append(make("p", found.what, { className: "note" }));
    for (const fold of found.folds.filter((one) => one.status === "done")) {
      const button = make("button", fold.label, { type: "button" });
      button.addEventListener("click", () => showCell({ store, experiment, dataset, method, fold: fold.fold, repeat: fold.repeat }));
      more.append(button);
    }
    more.append(make("div", undefined, { id: "behind-cell" }));
  }

  document.addEventListener("paragone:behind", showFolds);
  turn();
})();
