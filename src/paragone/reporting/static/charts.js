/* Drawings: own SVG at the real width of their box, text of 12 px or more, never scaled. */
(() => {
  const page = window.paragone;
  const { el, number } = page;

  const text = (x, y, words, attributes = {}) => el("text", { x, y, "font-size": 12, ...attributes }, words);
  const decimals = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

  /* Round values between two ends, about so many. */
  function ticks(low, high, count) {
    const raw = (high - low) / Math.max(1, count) || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((part) => part * power >= raw * (1 - 1e-9)) * power;
    const marks = [];
    for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place += 1) marks.push(place === 0 ? 0 : place * step);
    return { marks, step };
  }

  /* What differs often stands at the end of a name: the middle gives way. */
  page.middled = (name, longest) => {
    const letters = [...name];
    if (letters.length <= longest) return name;
    const head = Math.ceil((longest - 1) / 2);
    return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (longest - 1 - head)).join("")}`;
  };

  /* How wide words are when drawn; letters differ too much to count them. */
  const pen = document.createElement("canvas").getContext("2d");
  page.wide = (words, weight = 400, size = 12) => {
    pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(words).width;
  };

  /* A name that fits into so many pixels. */
  page.fitted = (name, pixels, weight, size) => {
    let longest = [...name].length;
    while (longest > 5 && page.wide(page.middled(name, longest), weight, size) > pixels) longest -= 1;
    return page.middled(name, longest);
  };

  page.numbers = (what, head, rows) => el("details", { class: "numbers", open: document.documentElement.classList.contains("printing") }, el("summary", {}, `Numbers: ${what}`),
    el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": what }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, head.map((words) => el("th", { scope: "col" }, words)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((words, place) => (place ? el("td", {}, words) : el("th", { scope: "row" }, words)))))))));

  /* A row of dots with their mean. */
  page.strip = (values) => {
    const w = 320;
    const numbers = values.map(([, value]) => value);
    const low = Math.min(...numbers);
    const high = Math.max(...numbers);
    const pad = (high - low) * 0.06 || 1;
    const x = (value) => 10 + ((value - low + pad) / (high - low + 2 * pad)) * (w - 20);
    const svg = el("svg", { width: w, height: 48, class: "strip", "aria-hidden": "true" });
    const { marks, step } = ticks(low - pad, high + pad, 4);
    for (const mark of marks) svg.append(el("line", { x1: x(mark), x2: x(mark), y1: 0, y2: 30, class: "hair" }), text(Math.max(14, Math.min(w - 14, x(mark))), 44, mark.toFixed(decimals(step)), { "text-anchor": "middle", class: "soft" }));
    for (const [label, value] of values) svg.append(el("circle", { cx: x(value), cy: 15, r: 4.5, class: "dot", "data-tip": `${label}: ${number(value)}` }));
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    svg.append(el("line", { x1: x(mean), x2: x(mean), y1: 4, y2: 26, class: "mean" }));
    return svg;
  };

  /* Labels try several places and take the first that is free. */
  const PLACES = [[9, 4, "start"], [-9, 4, "end"], [0, -11, "middle"], [0, 20, "middle"], [8, -8, "start"], [8, 17, "start"], [-8, -8, "end"], [-8, 17, "end"]];

  function placeLabel(taken, px, py, words, box) {
    const wide = page.wide(words, 600, 13) + 4;
    for (const [dx, dy, anchor] of PLACES) {
      const left = anchor === "start" ? px + dx : anchor === "end" ? px + dx - wide : px - wide / 2;
      const frame = [left, py + dy - 11, left + wide, py + dy + 3];
      if (frame[0] < box.left || frame[2] > box.width || frame[1] < 0 || frame[3] > box.bottom) continue;
      if (taken.some((other) => frame[0] < other[2] && frame[2] > other[0] && frame[1] < other[3] && frame[3] > other[1])) continue;
      taken.push(frame);
      return [dx, dy, anchor];
    }
    return null;
  }

  function scatter(place, points, { higher, x: xTitle, y: yTitle }) {
    const w = place.clientWidth;
    if (!w) return;
    const h = Math.round(Math.min(380, Math.max(270, w * 0.62)));
    const l = 52, r = w - 16, top = 26, bottom = h - 44;
    const logs = points.map((point) => Math.log10(point.x));
    const x0 = Math.min(...logs) - 0.25, x1 = Math.max(...logs) + 0.35;
    /* A method that is over three times farther off than the next does not set the scale. */
    const sorted = points.map((point) => point.y).sort((a, b) => (higher ? b - a : a - b));
    const off = sorted.length > 3 && Math.abs(sorted.at(-1) - sorted[0]) > 3 * Math.abs(sorted.at(-2) - sorted[0]) ? sorted.at(-1) : null;
    const kept = points.map((point) => point.y).filter((value) => value !== off);
    let y0 = Math.min(...kept), y1 = Math.max(...kept);
    const pad = (y1 - y0) * 0.12 || Math.abs(y1) * 0.1 || 1;
    y0 -= pad;
    y1 += pad;
    const X = (value) => l + ((Math.log10(value) - x0) / (x1 - x0)) * (r - l);
    const Y = (value) => {
      const share = Math.max(0, Math.min(1, (value - y0) / (y1 - y0)));
      return higher ? bottom - share * (bottom - top) : top + share * (bottom - top);
    };
    const svg = el("svg", { width: w, height: h, "aria-hidden": "true" });
    const { marks, step } = ticks(y0, y1, Math.floor((bottom - top) / 52));
    svg.append(text(0, 12, page.middled(`${yTitle}, better upwards`, Math.floor(w / 7)), { class: "soft" }));
    for (const mark of marks) svg.append(el("line", { x1: l, x2: r, y1: Y(mark), y2: Y(mark), class: "hair" }), text(l - 8, Y(mark) + 4, mark.toFixed(decimals(step)), { "text-anchor": "end", class: "soft" }));
    /* Whole powers of ten, with 2 and 5 between where the range is short. */
    const short = x1 - x0 < 1.6;
    for (let power = Math.floor(x0); power <= x1; power += 1) {
      for (const part of short ? [1, 2, 5] : [1]) {
        const value = part * 10 ** power;
        if (Math.log10(value) < x0 || Math.log10(value) > x1) continue;
        const label = value >= 1 ? String(value) : value.toFixed(Math.max(0, -power));
        svg.append(el("line", { x1: X(value), x2: X(value), y1: top, y2: bottom, class: "hair" }), text(Math.min(X(value), w - label.length * 3.6 - 2), bottom + 18, label, { "text-anchor": "middle", class: "soft" }));
      }
    }
    svg.append(text(r, bottom + 36, `${xTitle} →`, { "text-anchor": "end", class: "soft" }));
    const front = points.filter((point) => point.front).sort((a, b) => a.x - b.x);
    if (front.length) {
      const path = front.map((point, place) => (place ? `H${X(point.x)}V${Y(point.y)}` : `M${X(point.x)} ${Y(point.y)}`)).join("");
      svg.append(el("path", { d: `${path}H${r}`, class: "front" }));
    }
    const taken = points.map((point) => [X(point.x) - 6, Y(point.y) - 6, X(point.x) + 6, Y(point.y) + 6]);
    points.forEach((point, place) => {
      const px = X(point.x), py = Y(point.y);
      const tip = `${point.name}: ${point.words}, ${number(point.x)} s`;
      svg.append(el("circle", { cx: px, cy: py, r: 5.5, fill: point.front ? point.colour : "var(--paper)", stroke: point.colour, "stroke-width": 2.5, "data-tip": tip }));
      if (!point.named) return;
      const words = point.y === off ? `${point.name} (${point.words}, off the scale)` : point.name;
      const others = taken.filter((_, other) => other !== place);
      const found = placeLabel(others, px, py, words, { left: l, width: w, bottom });
      if (!found) return;
      taken.push(others.at(-1));
      svg.append(text(px + found[0], py + found[1], words, { "text-anchor": found[2], class: "halo", "font-size": 13, "font-weight": 600 }));
    });
    place.replaceChildren(svg);
  }

  Object.assign(page, { text, ticks, decimals, scatter });
})();
