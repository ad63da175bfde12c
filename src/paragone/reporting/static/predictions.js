/* What was predicted: confusions, calibration, predicted against measured, the wrong ones first. The words and numbers
   are the report's; here a case is chosen and drawn. */
(() => {
  const page = window.paragone;
  const { el, number, state, text } = page;
  const SIDE = 380;

  const isShown = (one) => page.shows("dataset", one.dataset) && page.shows("method", one.method);

  function chosen() {
    const { cases } = page.data;
    const first = cases.find(isShown) ?? cases[0];
    const on = [state.get("on"), first.dataset].find((name) => name !== undefined && page.shows("dataset", name));
    const of = [state.get("of"), first.method].find((name) => name !== undefined && page.shows("method", name));
    return cases.find((one) => one.dataset === on && one.method === of) ?? { dataset: on ?? first.dataset, method: of ?? first.method };
  }

  function part(title, words, ...drawing) {
    return el("div", { class: "part" }, el("h3", {}, title), words ? el("p", { class: "sub" }, words) : null, ...drawing);
  }

  function confusion(found) {
    const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "vh" }, "it was")), found.labels.map((label) => el("th", { scope: "col", title: label }, page.middled(label, 14))));
    const rows = found.counts.map((counts, at) => {
      const all = counts.reduce((sum, count) => sum + count, 0) || 1;
      return el("tr", {}, el("th", { scope: "row", title: found.labels[at] }, page.middled(found.labels[at], 22)), counts.map((count, other) => el("td", { class: count ? (at === other ? "right-one" : null) : "z", "--v": 54 * Math.sqrt(count / all), "data-tip": `it was ${found.labels[at]}, predicted ${found.labels[other]}: ${count}` }, String(count))));
    });
    return part(found.finding, found.drawn, el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": "What it was against what was predicted" }, el("table", { class: "heat matrix" }, el("thead", {}, head), el("tbody", {}, rows))));
  }

  /* A square frame from low to high on both axes. */
  function square(box, low, high, across, up, marks) {
    const side = Math.min(SIDE, box.clientWidth || SIDE);
    const step = marks[1] - marks[0];
    const words = (mark) => page.minus(mark.toFixed(page.decimals(step)));
    const left = Math.max(...marks.map((mark) => page.wide(words(mark)))) + 12;
    const span = side - left - 14;
    const X = (value) => left + ((value - low) / (high - low)) * span;
    const Y = (value) => 22 + span - ((value - low) / (high - low)) * span;
    const svg = el("svg", { width: side, height: span + 66, "aria-hidden": "true" });
    svg.append(text(0, 12, up, { class: "soft" }));
    for (const mark of marks) {
      svg.append(el("line", { x1: X(low), x2: X(high), y1: Y(mark), y2: Y(mark), class: "hair" }), text(left - 8, Y(mark) + 4, words(mark), { "text-anchor": "end", class: "soft" }));
      svg.append(text(Math.min(X(mark), side - page.wide(words(mark)) / 2), span + 40, words(mark), { "text-anchor": "middle", class: "soft" }));
    }
    svg.append(text(side - 14, span + 60, `${across} →`, { "text-anchor": "end", class: "soft" }), el("line", { x1: X(low), y1: Y(low), x2: X(high), y2: Y(high), class: "front" }));
    return { svg, X, Y };
  }

  const drawing = (title) => el("div", { role: "img", "aria-label": title });

  function calibration(found, box) {
    const { svg, X, Y } = square(box, 0, 1, "probability that was said", "share that came true", [0, 0.2, 0.4, 0.6, 0.8, 1]);
    for (const [said, happened, low, high, n, off] of found.bins) {
      const tip = `said ${said}, came true ${happened} [${low}, ${high}], ${n} rows`;
      svg.append(el("line", { x1: X(said), x2: X(said), y1: Y(low), y2: Y(high), class: off ? "off" : "within", "data-tip": tip }));
      svg.append(el("circle", { cx: X(said), cy: Y(happened), r: 4.5, class: off ? "dot off" : "dot", "data-tip": tip }));
    }
    box.replaceChildren(svg);
  }

  function values(found, box) {
    const all = found.points.flat();
    const room = (Math.max(...all) - Math.min(...all)) * 0.04 || 1;
    const low = Math.min(...all) - room;
    const high = Math.max(...all) + room;
    const { svg, X, Y } = square(box, low, high, "measured", "predicted", page.ticks(low, high, 5).marks);
    for (const [measured, predicted] of found.points) svg.append(el("circle", { cx: X(measured), cy: Y(predicted), r: 3.5, class: "dot", opacity: 0.75, "data-tip": `measured ${number(measured)}, predicted ${number(predicted)}` }));
    box.replaceChildren(svg);
  }

  function wrong(found) {
    const shown = (value) => (typeof value === "number" && !Number.isInteger(value) ? page.minus(String(value)) : String(value));
    const title = found.wrong_title || (found.points.length ? "The worst ones first" : "The wrong ones first");
    return part(title, `${found.wrong_told}.`, rows(found.wrong_head, found.wrong, found.wrong_told, shown, found.table.length ? "plain sets" : found.points.length ? "plain" : "plain wrong"));
  }

  function rows(head, body, name, shown, kind) {
    return el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": name }, el("table", { class: kind },
      el("thead", {}, el("tr", {}, head.map((words) => el("th", { scope: "col" }, words)))),
      el("tbody", {}, body.map((row) => el("tr", {}, row.map((value, at) => (at ? el("td", {}, shown(value)) : el("th", { scope: "row" }, shown(value)))))))));
  }

  let drawn = "";

  function draw(force) {
    const place = [...document.querySelectorAll(".predictions")].find((one) => one.checkVisibility());
    if (!place || !page.data.cases?.length) return;
    const found = chosen();
    for (const select of place.querySelectorAll("select")) {
      const kind = select.dataset.case === "on" ? "dataset" : "method";
      for (const option of select.options) option.hidden = option.disabled = !page.shows(kind, option.value);
      select.value = found[kind];
    }
    const now = `${found.dataset}\n${found.method}\n${window.innerWidth}\n${document.documentElement.className}`;
    const box = place.querySelector(".case");
    if (now === drawn && !force && box.firstChild) return;
    drawn = now;
    place.querySelector(".told").textContent = found.told ? `${found.told}.` : "";
    if (!found.told) {
      box.replaceChildren(el("p", { class: "note" }, `The store keeps no predictions of ${found.method} on ${found.dataset}.`));
      return;
    }
    const parts = [];
    const later = [];
    if (found.labels.length) parts.push(confusion(found));
    else if (found.table.length) parts.push(part(found.finding, found.drawn, rows(found.table_head, found.table, found.drawn, String, "plain")));
    else {
      const picture = drawing(found.finding);
      parts.push(part(found.finding, found.drawn, picture, page.numbers("measured and predicted", ["measured", "predicted"], found.points.map((point) => point.map(number)))));
      later.push(() => values(found, picture));
    }
    if (found.bins.length) {
      const picture = drawing(`${found.calibration}: ${found.bins.map(([said, happened]) => `${said} said, ${happened} came true`).join("; ")}`);
      parts.push(part(found.calibration, found.calibration_drawn, picture, page.numbers("calibration", ["said", "came true", "from", "to", "rows"], found.bins.map((bin) => bin.slice(0, 5).map(String)))));
      later.push(() => calibration(found, picture));
    }
    if (found.wrong.length) parts.push(wrong(found));
    box.replaceChildren(...parts);
    later.forEach((act) => act());
  }

  document.addEventListener("change", (event) => {
    const select = event.target.closest("select[data-case]");
    if (!select) return;
    page.choose(select.dataset.case, select.selectedIndex ? select.value : "");
    draw();
    const found = chosen();
    page.say(found.finding ?? "");
  });
  page.begin.push(() => { drawn = ""; });
  page.drawers.push(() => draw());
})();
