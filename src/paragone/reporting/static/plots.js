/* Charts of the report's own numbers: lines with their names at their ends, points, rows of dots, tinted tables. */
(() => {
  const page = window.paragone;
  const { el, number, text, ticks, decimals } = page;
  const COLOURED = 8;
  const HOT = [0, 1, 2, 4, 5];
  const finite = (value) => value !== null && Number.isFinite(value);

  /* A method has its colour everywhere; of many lines the four that end highest are coloured. */
  function colours(series) {
    const places = page.data.places ?? {};
    const known = series.every(([name]) => Object.hasOwn(places, name));
    if (series.length <= COLOURED) return series.map(([name], place) => `var(--c${(known ? places[name] : place) % COLOURED})`);
    const ends = series.map(([, points], place) => [points.at(-1)?.[1] ?? -Infinity, place]).sort((a, b) => b[0] - a[0]);
    const hot = ends.slice(0, 4).map(([, place]) => place);
    return series.map((_, place) => (hot.includes(place) ? `var(--c${HOT[hot.indexOf(place)]})` : "var(--rest)"));
  }

  function frame(place, height, { x0, x1, y0, y1, left, right, plot, whole }) {
    const w = place.clientWidth;
    const r = w - right, top = 26, bottom = height - 44;
    const X = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (r - left);
    const Y = (value) => bottom - ((value - y0) / (y1 - y0 || 1)) * (bottom - top);
    const svg = el("svg", { width: w, height, "aria-hidden": "true" });
    svg.append(text(0, 12, page.middled(plot.y, Math.max(12, Math.floor(w / 8))), { class: "soft" }));
    const vertical = ticks(y0, y1, Math.floor((bottom - top) / 46));
    for (const mark of vertical.marks) svg.append(el("line", { x1: left, x2: r, y1: Y(mark), y2: Y(mark), class: "hair" }), text(left - 8, Y(mark) + 4, page.minus(mark.toFixed(decimals(vertical.step))), { "text-anchor": "end", class: "soft" }));
    const across = ticks(x0, x1, Math.floor((r - left) / 64));
    /* Between whole numbers, such as counts of features, there is nothing to mark. */
    if (whole && across.step < 1) Object.assign(across, ticks(x0, x1, Math.max(1, Math.min(x1 - x0, Math.floor((r - left) / 64)))));
    for (const mark of across.marks) svg.append(text(Math.max(left, Math.min(w - 14, X(mark))), bottom + 18, page.minus(mark.toFixed(decimals(across.step))), { "text-anchor": "middle", class: "soft" }));
    svg.append(text(r, bottom + 36, `${page.middled(plot.x, Math.max(12, Math.floor((r - left) / 9)))} →`, { "text-anchor": "end", class: "soft" }));
    return { svg, X, Y, r, top, bottom, w };
  }

  const range = (values, room) => {
    const low = Math.min(...values), high = Math.max(...values);
    const pad = (high - low) * room || Math.abs(high) * 0.05 || 1;
    return [low - pad, high + pad];
  };
  const widest = (marks) => Math.max(...marks.map((mark) => page.wide(mark))) + 16;

  function lines(place, plot) {
    const w = place.clientWidth;
    const values = plot.series.flatMap(([, points]) => points.flatMap((point) => point.slice(1))).filter(finite);
    const xs = plot.series.flatMap(([, points]) => points.map((point) => point[0])).filter(finite);
    if (!values.length) return null;
    const [y0, y1] = range(values, 0.05);
    const narrow = w < 480;
    const tint = colours(plot.series);
    /* On a phone long names stand below: at the ends of lines they would be cut to something that nobody can read. */
    const below = narrow && plot.series.some(([name], at) => tint[at] !== "var(--rest)" && name.length > 12);
    const longest = below ? Math.floor(w / 8) : narrow ? 12 : 24;
    const names = plot.series.map(([name], at) => (tint[at] === "var(--rest)" ? "" : page.middled(name, longest)));
    const { step } = ticks(y0, y1, 5);
    const left = widest([y0, y1].map((value) => value.toFixed(decimals(step))));
    const { svg, X, Y, r } = frame(place, Math.round(Math.min(360, Math.max(260, w * 0.5))), { x0: Math.min(...xs), x1: Math.max(...xs), y0, y1, left, right: below ? 16 : Math.max(...names.map((name) => page.wide(name, 600))) + 24, plot, whole: xs.every(Number.isInteger) });
    const order = plot.series.map((_, at) => at).sort((a, b) => (tint[b] === "var(--rest)") - (tint[a] === "var(--rest)"));
    const ends = [];
    for (const at of order) {
      const [name, all] = plot.series[at];
      const points = all.filter((point) => finite(point[1]));
      if (!points.length) continue;
      const cold = tint[at] === "var(--rest)";
      if (!cold && finite(points[0][2])) {
        const upper = points.map((point) => `${X(point[0])} ${Y(point[3])}`);
        const lower = points.map((point) => `${X(point[0])} ${Y(point[2])}`).reverse();
        svg.append(el("path", { d: `M${[...upper, ...lower].join("L")}Z`, fill: tint[at], opacity: 0.07 }));
      }
      const path = points.map((point, nth) => `${plot.steps && nth ? `${X(point[0])} ${Y(points[nth - 1][1])}L` : ""}${X(point[0])} ${Y(point[1])}`);
      svg.append(el("path", { d: `M${path.join("L")}`, fill: "none", stroke: tint[at], "stroke-width": cold ? 1 : 2, opacity: cold ? 0.6 : 1 }));
      if (!cold) for (const point of points) svg.append(el("circle", { cx: X(point[0]), cy: Y(point[1]), r: 3, fill: tint[at], "data-tip": `${name}, ${plot.x} ${number(point[0])}: ${number(point[1])}` }));
      if (names[at]) ends.push({ at, y: Y(points.at(-1)[1]), x: X(points.at(-1)[0]) });
    }
    if (below) {
      const height = Number(svg.getAttribute("height"));
      svg.setAttribute("height", height + 20 * ends.length);
      ends.sort((a, b) => a.at - b.at).forEach((end, row) => svg.append(el("circle", { cx: 8, cy: height + 20 * row, r: 4, fill: tint[end.at] }), text(18, height + 20 * row + 4, names[end.at], { "font-weight": 600 })));
      return svg;
    }
    /* Names that would cover each other move apart, the whole column within the frame. */
    ends.sort((a, b) => a.y - b.y).forEach((end, place_) => { end.y = place_ ? Math.max(end.y, ends[place_ - 1].y + 16) : Math.max(end.y, 20); });
    for (let at = ends.length - 1, limit = Number(svg.getAttribute("height")) - 30; at >= 0; at -= 1, limit -= 16) ends[at].y = Math.min(ends[at].y, limit);
    for (const end of ends) svg.append(el("circle", { cx: r + 8, cy: end.y, r: 4, fill: tint[end.at] }), text(r + 16, end.y + 4, names[end.at], { "font-weight": 600 }));
    return svg;
  }

  function points(place, plot) {
    const w = place.clientWidth;
    const all = plot.series.flatMap(([, found]) => found).filter(([x, y]) => finite(x) && finite(y));
    if (!all.length) return null;
    let [x0, x1] = range(all.map(([x]) => x), 0.04);
    let [y0, y1] = range(plot.guide === "zero" ? [...all.map(([, y]) => y), 0] : all.map(([, y]) => y), 0.04);
    if (plot.guide === "diagonal") {
      x0 = y0 = Math.min(x0, y0);
      x1 = y1 = Math.max(x1, y1);
    }
    const { step } = ticks(y0, y1, 5);
    const left = widest([y0, y1].map((value) => value.toFixed(decimals(step))));
    const height = Math.min(plot.guide === "diagonal" ? 440 : 320, Math.max(280, w * 0.8));
    const { svg, X, Y } = frame(place, Math.round(height), { x0, x1, y0, y1, left, right: 16, plot });
    if (plot.guide === "diagonal") svg.append(el("line", { x1: X(x0), y1: Y(y0), x2: X(x1), y2: Y(y1), class: "front" }));
    if (plot.guide === "zero") svg.append(el("line", { x1: X(x0), y1: Y(0), x2: X(x1), y2: Y(0), class: "zero" }));
    for (const [name, found] of plot.series) {
      for (const [x, y] of found) if (finite(x) && finite(y)) svg.append(el("circle", { cx: X(x), cy: Y(y), r: 3.5, class: "dot", opacity: 0.7, "data-tip": `${name ? `${name}: ` : ""}${plot.x} ${number(x)}, ${plot.y} ${number(y)}` }));
    }
    return svg;
  }

  function dots(place, plot) {
    const w = place.clientWidth;
    const values = plot.series.flatMap(([, found]) => found.map(([value]) => value)).filter(finite);
    if (!values.length) return null;
    const narrow = w < 480;
    const longest = narrow ? 16 : 30;
    const names = plot.series.map(([name]) => page.middled(name, longest));
    const left = Math.max(...names.map((name) => page.wide(name, 600))) + 12;
    const row = 28, top = 22;
    const [x0, x1] = range(values, 0.05);
    const X = (value) => left + ((value - x0) / (x1 - x0)) * (w - 12 - left);
    const height = top + row * plot.series.length + 26;
    const svg = el("svg", { width: w, height, "aria-hidden": "true" });
    const { marks, step } = ticks(x0, x1, Math.max(2, Math.floor((w - left) / 76)));
    for (const mark of marks) svg.append(el("line", { x1: X(mark), x2: X(mark), y1: top - 4, y2: height - 24, class: "hair" }), text(Math.min(w - 16, X(mark)), 12, page.minus(mark.toFixed(decimals(step))), { "text-anchor": "middle", class: "soft" }));
    const tint = colours(plot.series);
    plot.series.forEach(([name, found], at) => {
      const middle = top + row * at + row / 2;
      const kept = found.map(([value]) => value).filter(finite);
      svg.append(text(0, middle + 4, names[at], { "font-weight": 600 }), el("line", { x1: left, x2: w - 12, y1: middle, y2: middle, class: "hair" }));
      for (const value of kept) svg.append(el("circle", { cx: X(value), cy: middle, r: 4, fill: tint[at], "fill-opacity": 0.6, stroke: tint[at], "data-tip": `${name}: ${number(value)}` }));
      if (!kept.length) return;
      const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
      svg.append(el("line", { x1: X(mean), x2: X(mean), y1: middle - 10, y2: middle + 10, class: "mean" }));
    });
    svg.append(text(w - 12, height - 6, `${plot.x} →`, { "text-anchor": "end", class: "soft" }));
    return svg;
  }

  function matrix(plot, label) {
    const cell = ([value, share]) => (value === null ? el("td", { class: "no" }, "") : el("td", { class: value === 0 ? "z" : null, "--v": 54 * Math.sqrt(Math.max(0, Math.min(1, share ?? 0))) }, number(value)));
    const head = el("tr", {}, el("th", { scope: "col" }, plot.y), plot.columns.map((name) => el("th", { scope: "col", class: "col", title: name }, el("span", {}, page.middled(name, 18)))));
    const rows = plot.series.map(([name, row]) => el("tr", {}, el("th", { scope: "row", title: name }, page.isPhone() ? page.fitted(name, 104, 600, 12) : page.middled(name, 30)), row.map(cell)));
    /* Long names over many narrow columns stand upright: broken within words they could not be read. */
    const tall = plot.columns.length > 5 && plot.columns.some((name) => name.length > 9) ? "heat matrix tall" : "heat matrix";
    return el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": label }, el("table", { class: tall }, el("thead", {}, head), el("tbody", {}, rows)));
  }

  function numbersOf(plot) {
    if (plot.kind === "dots") return page.numbers("every dot", ["", plot.x], plot.series.map(([name, found]) => [name, found.map(([value]) => number(value)).join(", ")]));
    const head = [plot.kind === "lines" ? "line" : "", plot.x, plot.y];
    return page.numbers("every point", head, plot.series.flatMap(([name, found]) => found.map((point) => [name, number(point[0]), number(point[1])])));
  }

  const DRAW = { lines, points, dots };

  /* What the reader does not want to see of datasets and methods is not drawn. */
  const wanted = (name) => page.shows("dataset", name) && page.shows("method", name);

  function shownPart(plot) {
    const columns = plot.columns.map((name, at) => [name, at]).filter(([name]) => wanted(name)).map(([, at]) => at);
    const series = plot.series.filter(([name]) => wanted(name)).map(([name, points]) => [name, plot.kind === "matrix" ? columns.map((at) => points[at]) : points]);
    return { ...plot, columns: columns.map((at) => plot.columns[at]), series };
  }

  function draw(figure) {
    const plot = shownPart(page.data.plots[figure.dataset.plot]);
    const place = figure.querySelector(".drawing");
    if (plot.kind === "matrix") {
      place.replaceChildren(matrix(plot, figure.querySelector("h3").textContent));
    } else {
      let box = place.querySelector("[role=img]");
      if (!box) {
        box = el("div", { role: "img", "aria-label": figure.querySelector("h3").textContent });
        const more = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
        more.addEventListener("toggle", () => { if (more.childElementCount === 1) more.replaceWith(Object.assign(numbersOf(plot), { open: true })); }, { once: true });
        place.append(box, more);
      }
      box.replaceChildren();
      const svg = box.clientWidth ? DRAW[plot.kind](box, plot) : null;
      if (svg) box.replaceChildren(svg);
    }
    figure.dataset.drawn = "done";
  }

  /* Only what is near the window is drawn; the rest waits until it comes near. */
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
  }, { rootMargin: "400px" });
  const figures = () => [...document.querySelectorAll("figure[data-plot]")];
  page.begin.push(() => figures().forEach((figure) => seen.observe(figure)));
  page.drawers.push(() => {
    const all = document.documentElement.classList.contains("printing");
    figures().filter((figure) => all || figure.dataset.drawn).filter((figure) => figure.checkVisibility()).forEach(draw);
  });
})();
