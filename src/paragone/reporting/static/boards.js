/* The leaderboard: ranked table and interval chart on the same rows, and the drawings of its numbers under it. All
   numbers are the report's; here they are picked, subtracted for the dots, and drawn. */
(() => {
  const page = window.paragone;
  const { el, number, state } = page;
  const { text, ticks, decimals, scatter } = page;
  const TURNED = { better: "worse", worse: "better" };
  const SIGNS = { better: "▲", worse: "▼", equivalent: "≈", undecided: "?" };
  const COLOURED = 8;
  const HOT = [0, 1, 2, 4, 5];
  const TABLET = 900;
  const PHONE = window.matchMedia("screen and (max-width: 699px)");
  const printing = () => document.documentElement.classList.contains("printing");
  const isPhone = () => PHONE.matches && !printing();
  page.isPhone = isPhone;
  let followed = null;

  /* What is said of two methods, from the side of the first. */
  function reader(board) {
    const pairs = new Map(board.pairs.map((pair) => [`${pair[0]} ${pair[1]}`, pair]));
    const pair = (a, b) => {
      const straight = pairs.get(`${a} ${b}`);
      if (straight) return { d: straight[2], low: straight[3], high: straight[4], word: straight[5] };
      const turned = pairs.get(`${b} ${a}`);
      if (!turned) return null;
      const flip = (value) => (value === null ? null : 0 - value);
      return { d: flip(turned[2]), low: flip(turned[4]), high: flip(turned[3]), word: TURNED[turned[5]] ?? turned[5] };
    };
    const ranked = board.methods.map((_, place) => place).filter((place) => board.methods[place].mean !== null);
    const wanted = board.methods.findIndex((method) => method.name === state.get("ref"));
    const reference = board.reference ?? (wanted >= 0 && ranked.includes(wanted) ? wanted : ranked[0]);
    const hot = board.methods.length > COLOURED ? [...new Set([...ranked.slice(0, 4), reference])] : null;
    const colour = (m) => {
      if (!hot) return `var(--c${board.methods[m].place % COLOURED})`;
      return hot.includes(m) ? `var(--c${HOT[hot.indexOf(m)]})` : "var(--rest)";
    };
    /* The difference of two methods on every dataset, from how far each is behind the best there. */
    const dots = (m) => places.map((place) => {
      const mine = board.behind[m][place];
      const theirs = board.behind[reference][place];
      return { unit: board.units[place], value: mine === null || theirs === null ? null : mine - theirs };
    });
    /* On a part of the datasets there are means and their differences, and no verdict. */
    const everywhere = board.units.map((_, place) => place);
    const places = board.unit === "dataset" && state.has("dataset") ? everywhere.filter((place) => page.shows("dataset", board.units[place])) : everywhere;
    const isPart = places.length < everywhere.length;
    const isShown = (m) => m === reference || page.shows("method", board.methods[m].name);
    const average = (values) => (values.length && values.every((value) => value !== null) ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
    const mean = (m) => {
      if (!isPart) return board.methods[m].mean;
      const values = places.map((place) => {
        if (board.behind[m][place] === null) return null;
        const best = board.is_log ? Math.log(board.best[place]) : board.best[place];
        return board.higher ? best + board.behind[m][place] : best - board.behind[m][place];
      });
      const found = average(values);
      return found !== null && board.is_log ? Math.exp(found) : found;
    };
    const compared = (m) => (isPart ? { d: average(dots(m).map((dot) => dot.value)), low: null, high: null, word: "" } : pair(m, reference));
    /* Of very many datasets the ends of the middle 80 % and of the middle half. */
    const middle = (m) => {
      const values = dots(m).map((dot) => dot.value).filter((value) => value !== null).sort((a, b) => a - b);
      return values.length ? [0.1, 0.25, 0.75, 0.9].map((share) => values[Math.round(share * (values.length - 1))]) : [];
    };
    const [ofScores, ofDifferences] = board.decimals;
    const score = (value) => (value === null ? "-" : page.minus(value.toFixed(ofScores)));
    const signed = (value) => (value === null ? "-" : value === 0 ? "0" : (value > 0 ? "+" : "\u2212") + Math.abs(value).toFixed(ofDifferences));
    /* A test that decides may leave an interval that ends at zero: zero itself is not in it, and the words say so. */
    const limits = ({ low, high, word }) => {
      const decided = word === "better" || word === "worse";
      return [decided && low === 0 ? "above 0" : signed(low), decided && high === 0 ? "below 0" : signed(high)];
    };
    return { ...board, score, signed, limits, pair, ranked, ref: reference, hot, colour, dots, middle, places, isPart, isShown, mean, compared };
  }

  function wordOf(board, m) {
    if (board.isPart) return ["", ""];
    if (m === board.ref) return ["", board.reference === null ? (m === board.ranked[0] ? "best" : "chosen") : "reference"];
    const pair = board.pair(m, board.ref);
    if (pair && pair.word) return [SIGNS[pair.word], pair.word];
    return board.methods[m].failed ? ["✕", "failed"] : ["", ""];
  }

  const said = (board, m) => {
    const pair = board.compared(m);
    return pair && pair.d !== null && m !== board.ref ? pair : null;
  };

  function againstWords(board) {
    if (board.isPart) return `On ${board.places.length} of ${board.units.length} datasets: no verdict.`;
    const counts = {};
    for (const m of board.ranked) {
      if (m === board.ref || !board.isShown(m)) continue;
      const word = board.pair(m, board.ref)?.word;
      if (word) counts[word] = (counts[word] ?? 0) + 1;
    }
    const parts = ["better", "equivalent", "undecided", "worse"].filter((word) => counts[word]).map((word) => `${counts[word]} ${word}`);
    return parts.length ? `Against ${board.methods[board.ref].short}: ${parts.join(", ")}.` : "";
  }

  function fillTable(place, board) {
    const table = place.querySelector("table.rank");
    table.querySelector("caption b").textContent = againstWords(board);
    const order = (m) => (board.isPart ? (board.mean(m) ?? (board.higher ? -Infinity : Infinity)) * (board.higher ? -1 : 1) : m);
    const sorted = [...table.tBodies[0].rows].sort((a, b) => order(Number(a.dataset.m)) - order(Number(b.dataset.m)) || Number(a.dataset.m) - Number(b.dataset.m));
    if (sorted.some((row, at) => row !== table.tBodies[0].rows[at])) table.tBodies[0].append(...sorted);
    for (const row of sorted) {
      const m = Number(row.dataset.m);
      row.classList.toggle("out", !board.isShown(m));
      const [rank, mean] = [row.querySelector(".c-no"), row.querySelector(".c-mean")];
      for (const cell of [rank, mean]) cell.dataset.whole ??= cell.textContent;
      /* On a narrow screen the middle of a long name gives way to the chart: what differs stands at its ends. */
      const head = row.querySelector(".c-m");
      const label = [...head.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
      const { short } = board.methods[m];
      /* Only there are widths asked for: each answer lays the page out anew. */
      const room = () => head.clientWidth - 20 - (head.querySelector(".flag")?.offsetWidth ?? 0);
      const wide = isPhone() ? room() : window.innerWidth < TABLET && !printing() ? 150 : 0;
      label.data = wide > 0 ? page.fitted(short, wide, 620, isPhone() ? 14 : 15) : short;
      rank.textContent = board.isPart ? "" : rank.dataset.whole;
      mean.textContent = board.isPart ? board.score(board.mean(m)) : mean.dataset.whole;
      row.querySelector(".key").style.setProperty("--k", board.colour(m));
      if (!board.pairs.length) continue;
      const pair = said(board, m);
      const [sign, word] = wordOf(board, m);
      row.querySelector(".c-d").replaceChildren(...(pair ? [board.signed(pair.d), pair.low === null ? "" : el("span", { class: "iv2", "aria-hidden": "true" }, ` [${board.limits(pair).join(", ")}]`)] : []));
      const interval = row.querySelector(".c-iv");
      if (interval) interval.textContent = pair && pair.low !== null ? board.limits(pair).join(" to ") : "";
      row.querySelector(".c-w").replaceChildren(el("span", { class: `word ${word}` }, el("i", { "aria-hidden": "true" }, sign), word));
      row.classList.toggle("cold", Boolean(board.hot) && !board.hot.includes(m));
      row.classList.toggle("chosen", m === board.ref);
    }
    place.classList.toggle("many", Boolean(board.hot));
    place.classList.toggle("crowded", board.is_crowded && board.pairs.length > 0 && !state.has("method"));
    place.classList.toggle("of-part", board.isPart);
    place.classList.toggle("picked", state.has("method"));
  }

  /* The scale: a method far off does not set it, nor a dot far outside all intervals. */
  function domainOf(board, rows) {
    const pairs = rows.map((m) => said(board, m)).filter(Boolean).map((p) => (p.low === null ? { low: p.d, high: p.d } : p));
    const reach = (p) => Math.max(Math.abs(p.low), Math.abs(p.high));
    const sizes = pairs.map(reach).sort((a, b) => a - b);
    const last = sizes.at(-1) ?? 0;
    const previous = sizes.at(-2) ?? last;
    const inside = pairs.filter((p) => board.isPart || last <= 3 * previous || reach(p) < last);
    let low = Math.min(0, ...inside.map((p) => p.low));
    let high = Math.max(0, ...inside.map((p) => p.high));
    const far = (board.hot ? 1.05 : 1.8) * Math.max(-low, high);
    for (const m of rows) {
      for (const value of board.is_summed ? board.middle(m) : board.dots(m).map((dot) => dot.value)) {
        if (value !== null && (board.is_summed || board.isPart || Math.abs(value) <= far || far === 0)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    low = Math.min(low, -board.margin);
    high = Math.max(high, board.margin);
    const pad = (high - low) * 0.03 || 1;
    return [low - pad, high + pad];
  }

  function drawAxis(axis, board, scale) {
    const { w, x, left, right, marks, phone, step } = scale;
    const svg = el("svg", { width: w, height: phone ? 18 : 38, "aria-hidden": "true" });
    if (!phone) {
      if (followed) svg.append(text(2, 12, followed, { "font-weight": 650 }));
      else if (x(0) - left > 60) svg.append(text(x(0) - 8, 12, "← worse", { "text-anchor": "end", class: "soft" }));
      if (right - x(0) > 60) svg.append(text(x(0) + 8, 12, "better →", { class: "soft" }));
    }
    for (const value of marks) {
      const at = x(value);
      const anchor = at < left + 14 ? "start" : at > right - 14 ? "end" : "middle";
      const label = value === 0 ? "0" : `${value > 0 ? "+" : "\u2212"}${Math.abs(value).toFixed(decimals(step))}`;
      svg.append(text(at, phone ? 13 : 32, label, { "text-anchor": anchor, class: value === 0 ? "" : "soft", "font-weight": value === 0 ? 650 : 400 }));
    }
    axis.replaceChildren(svg);
  }

  function drawRow(cell, board, scale, height) {
    const { w, x, low, high, left, right, marks, phone, far } = scale;
    const m = Number(cell.closest("tr").dataset.m);
    const middle = height / 2;
    const colour = board.colour(m);
    const many = Boolean(board.hot);
    const svg = el("svg", { width: w, height, "aria-hidden": "true" });
    const inside = (value) => value >= low && value <= high;
    if (board.margin) {
      svg.append(el("rect", { x: x(-board.margin), y: -1, width: x(board.margin) - x(-board.margin), height: height + 2, class: "band" }));
    }
    for (const value of marks) svg.append(el("line", { x1: x(value), x2: x(value), y1: -1, y2: height + 1, class: value === 0 ? "zero" : "hair" }));
    const pair = said(board, m);
    if (m === board.ref) {
      svg.append(el("rect", { x: x(0) - 5, y: middle - 5, width: 10, height: 10, fill: colour, class: "edge" }));
    } else if (board.methods[m].failed && !pair) {
      if (!phone) svg.append(text(left, middle + 4, board.methods[m].failed, { class: "soft halo" }));
    } else if (pair && !inside(pair.d)) {
      const leftwards = pair.d < 0;
      const at = leftwards ? left : right;
      const words = phone || pair.low === null ? "off the scale" : `off the scale: ${board.signed(pair.d)} [${board.limits(pair).join(", ")}]`;
      svg.append(el("path", { d: `M${at} ${middle}l${leftwards ? 9 : -9} -5v10z`, fill: colour }));
      svg.append(text(leftwards ? at + 14 : at - 14, middle + 4, words, { "text-anchor": leftwards ? "start" : "end", class: "soft halo" }));
    } else if (pair) {
      const held = (value) => Math.max(low, Math.min(high, value));
      const [a, b] = pair.low === null ? [x(pair.d), x(pair.d)] : [x(held(pair.low)), x(held(pair.high))];
      if (board.is_summed) {
        const [least, first, third, most] = board.middle(m).map((value) => x(held(value)));
        svg.append(el("rect", { x: least, y: middle - 2, width: most - least, height: 4, class: "middle", "--k": colour }));
        svg.append(el("rect", { x: first, y: middle - 5, width: third - first, height: 10, class: "middle", "--k": colour }));
      }
      const cap = many ? 6 : 8;
      svg.append(el("path", { d: `M${a} ${middle}H${b}M${a} ${middle - cap / 2}v${cap}M${b} ${middle - cap / 2}v${cap}`, fill: "none", stroke: colour, "stroke-width": many ? 1.5 : 2, opacity: followed ? 0.5 : 1 }));
      const radius = many ? 2.8 : 4.5;
      for (const dot of board.dots(m)) {
        if (dot.value === null || (board.is_summed && dot.unit !== followed)) continue;
        const on = followed === dot.unit;
        if (inside(dot.value)) {
          svg.append(el("circle", { cx: x(dot.value), cy: middle, r: on ? radius + 2 : radius, fill: colour, class: on ? "edge on" : "edge", "data-unit": dot.unit, "data-value": dot.value, opacity: followed && !on ? 0.3 : 1 }));
        } else {
          const leftwards = dot.value < 0;
          svg.append(el("path", { d: leftwards ? `M1 ${middle}l6 -3.5v7z` : `M${w - 1} ${middle}l-6 -3.5v7z`, fill: colour, "data-unit": dot.unit, "data-value": dot.value }));
        }
      }
      svg.append(el("line", { x1: x(pair.d), x2: x(pair.d), y1: middle - (many ? 6 : 10), y2: middle + (many ? 6 : 10), class: "mean" }));
      const shown = followed ? board.dots(m).find((dot) => dot.unit === followed) : far(m);
      if (shown && shown.value !== null && inside(shown.value) && !phone) {
        if (followed) svg.append(text(x(shown.value), middle - (many ? 5 : 10), board.signed(shown.value), { "text-anchor": "middle", class: "halo", "font-weight": 650 }));
        else {
          const leftwards = shown.value < pair.d;
          svg.append(text(x(shown.value) + (leftwards ? -9 : 9), middle + 4, page.middled(shown.unit, 22), { "text-anchor": leftwards ? "end" : "start", class: "soft halo" }));
        }
      }
    }
    cell.replaceChildren(svg);
  }

  function drawBoard(place, board) {
    const table = place.querySelector("table.rank");
    const axis = table.querySelector(".axis");
    if (!axis) return;
    axis.setAttribute("aria-label", `Chart of the differences: ${place.querySelector(".finding h2").textContent} Left and right arrow keys follow one ${board.unit || "row"} through the rows.`);
    axis.replaceChildren();
    for (const cell of table.querySelectorAll("td.c-chart")) cell.replaceChildren();
    const cells = [...table.querySelectorAll("td.c-chart")].filter((cell) => printing() || cell.checkVisibility());
    const rows = cells.map((cell) => Number(cell.closest("tr").dataset.m)).filter((m) => said(board, m));
    if (!rows.length) return;
    const [low, high] = domainOf(board, rows);
    const w = Math.max(120, Math.floor(axis.getBoundingClientRect().width));
    const phone = isPhone();
    let left = 10;
    let right = w - 10;
    const x = (value) => left + ((value - low) / (high - low)) * (right - left);
    /* The farthest dot outside its interval gets its name, where there is room. */
    const far = (m) => {
      const pair = said(board, m);
      if (board.hot || w < 380 || board.unit !== "dataset" || pair.low === null) return null;
      const dots = board.dots(m).filter((dot) => dot.value !== null);
      if (!dots.length || dots.some((dot) => dot.value < low || dot.value > high)) return null;
      const dot = dots.reduce((a, b) => (Math.abs(b.value - pair.d) > Math.abs(a.value - pair.d) ? b : a));
      return dot.value < pair.low || dot.value > pair.high ? dot : null;
    };
    for (const m of rows) {
      const dot = far(m);
      if (!dot) continue;
      const room = page.wide(page.middled(dot.unit, 22)) + 14;
      if (dot.value < said(board, m).d) left = Math.max(left, Math.min(w / 3, 10 + Math.max(0, room - x(dot.value))));
      else right = Math.min(right, Math.max((2 * w) / 3, w - 10 - Math.max(0, x(dot.value) + room - w)));
    }
    const { marks, step } = ticks(low, high, Math.floor(w / (w < 380 ? 56 : 84)));
    const scale = { w, x, low, high, left, right, marks, step, phone, far };
    drawAxis(axis, board, scale);
    const height = phone ? 23 : board.hot ? 20 : printing() ? 34 : 44;
    for (const cell of cells) drawRow(cell, board, scale, height);
  }

  function follow(unit, board) {
    followed = unit;
    if (unit) page.say(`${unit}: ${board.methods.map((method, m) => [method, m]).filter(([, m]) => board.isShown(m) && said(board, m)).map(([method, m]) => `${method.short} ${board.signed(board.dots(m).find((dot) => dot.unit === unit)?.value ?? null)}`).join(", ")}`);
    drawBoards();
  }

  function onKey(event) {
    const axis = event.target.closest?.(".board .axis");
    if (!axis) return;
    const board = reader(page.data.boards[axis.closest(".board").dataset.board]);
    if (event.key === "Escape") return follow(null, board);
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    const names = board.places.map((place) => board.units[place]);
    if (!names.length) return;
    const at = names.indexOf(followed);
    const next = event.key === "ArrowRight" ? at + 1 : (at < 0 ? names.length : at) - 1;
    follow(names[(next + names.length) % names.length], board);
  }
  document.addEventListener("keydown", onKey);

  /* Pointer and touch: a dot tells its dataset and value; a click follows the dataset through all rows. */
  const tip = el("div", { class: "tip", hidden: true, role: "presentation" });
  page.showTip = (event, words) => {
    tip.textContent = words;
    tip.hidden = !words;
    if (!words) return;
    if (!tip.isConnected) document.body.append(tip);
    tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  };
  document.addEventListener("pointermove", (event) => {
    const dot = event.target.closest?.("[data-unit], [data-tip]");
    page.showTip(event, dot ? dot.dataset.tip ?? `${dot.dataset.unit}: ${page.signed(Number(dot.dataset.value))}` : "");
  });
  document.addEventListener("click", (event) => {
    const dot = event.target.closest?.(".board [data-unit]");
    const board = event.target.closest?.(".board");
    if (dot) follow(followed === dot.dataset.unit ? null : dot.dataset.unit, reader(page.data.boards[board.dataset.board]));
    const rest = event.target.closest?.(".rest-button");
    if (rest) {
      const all = board.classList.toggle("all");
      rest.textContent = all ? "Show only the first" : rest.dataset.more;
      drawBoards();
    }
  });

  const visible = (selector) => [...document.querySelectorAll(selector)].filter((place) => place.checkVisibility());

  function drawBoards() {
    for (const place of visible(".board")) {
      const board = reader(page.data.boards[place.dataset.board]);
      if (board.ref === undefined) continue;
      fillTable(place, board);
      drawBoard(place, board);
    }
  }
  page.drawers.push(drawBoards);

  /* On a phone rows are grids, which takes a table's roles from it: they are said again. */
  const ROLES = [["table.rank", "table"], [".rank :is(thead, tbody)", "rowgroup"], [".rank tr", "row"], [".rank td", "cell"], [".rank tbody th", "rowheader"], [".rank thead th", "columnheader"]];
  page.begin.push(() => {
    for (const [selector, role] of ROLES) for (const part of document.querySelectorAll(selector)) part.setAttribute("role", role);
  });

  /* The drawings under it */

  const key = (board, m) => el("span", { class: "key", "--k": board.colour(m) });
  const rowHead = (board, m) => el("th", { scope: "row", title: board.methods[m].name }, key(board, m), isPhone() ? page.fitted(board.methods[m].short, 86, 600, 12) : board.methods[m].short);

  function whereTable(board, title) {
    const spread = (place) => Math.max(0, ...board.ranked.filter(board.isShown).map((m) => -(board.behind[m][place] ?? 0)));
    const [nMethods, nUnits] = board.where;
    const spreads = board.units.map((_, place) => spread(place));
    const columns = [...board.places].sort((a, b) => spreads[b] - spreads[a]).slice(0, nUnits);
    const most = Math.max(...columns.map((place) => spreads[place])) || 1;
    const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "vh" }, "method")),
      columns.map((place) => el("th", { scope: "col", class: "col", title: board.units[place] }, el("span", {}, page.middled(board.units[place], columns.length <= 6 ? 30 : 18)), el("small", {}, `best ${board.score(board.best[place])}`))));
    const shown = board.methods.map((method, m) => [method, m]).filter(([, m]) => board.isShown(m)).slice(0, nMethods);
    const rows = shown.map(([method, m]) => el("tr", {}, rowHead(board, m), columns.map((place) => {
      const value = board.behind[m][place];
      if (value === null) return el("td", { class: "no" }, method.failed ? "failed" : "-");
      return el("td", { class: value === 0 ? "best" : null, "--v": 54 * Math.sqrt(Math.min(1, -value / most)) }, value === 0 ? "best" : board.signed(value));
    })));
    return el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "heat" }, el("thead", {}, head), el("tbody", {}, rows)));
  }

  function pairsTable(whole, title) {
    const board = { ...whole, ranked: whole.ranked.filter(whole.isShown) };
    const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "vh" }, "row against column")), board.ranked.map((m) => el("th", { scope: "col", class: "col", title: board.methods[m].name }, el("span", {}, board.methods[m].short))));
    const rows = board.ranked.map((a, i) => el("tr", {}, rowHead(board, a), board.ranked.map((b, j) => {
      if (i === j) return el("td", { class: "self" }, "·");
      const pair = board.pair(a, b);
      if (!pair) return el("td", { class: "self" });
      if (j < i) return el("td", { class: "lo" }, board.signed(pair.d));
      const full = `${board.methods[a].short} against ${board.methods[b].short}: ${pair.word}, ${board.signed(pair.d)}${pair.low === null ? "" : ` [${board.limits(pair).join(", ")}]`}`;
      return el("td", { class: pair.word, "data-tip": full }, el("span", { class: "long-word" }, pair.word), el("span", { class: "short-word", "aria-hidden": "true" }, SIGNS[pair.word] ?? ""));
    })));
    return [
      el("div", { class: "scroll bare", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "pairs" }, el("thead", {}, head), el("tbody", {}, rows))),
      el("p", { class: "sub short-word" }, "▲ better, ▼ worse, ≈ equivalent, ? undecided"),
    ];
  }

  function costNumbers(board) {
    const head = ["method", "mean", "CPU s per fit"];
    const rows = board.ranked.map((m) => [board.methods[m].name, board.score(board.methods[m].mean), number(board.methods[m].seconds)]);
    return page.numbers("score and cost", head, rows);
  }

  function drawPanels() {
    for (const panel of visible(".panel")) {
      const board = reader(page.data.boards[panel.dataset.board]);
      const place = panel.querySelector(".drawing");
      /* A page may show several boards of one metric: what stands above the table tells them apart. */
      const title = `${panel.querySelector("h3").textContent}, by ${board.metric}`;
      if (panel.dataset.panel === "where") place.replaceChildren(whereTable(board, title));
      else if (panel.dataset.panel === "pairs") place.replaceChildren(...pairsTable(board, title));
      else {
        const box = place.querySelector("[role=img]") ?? el("div", { role: "img", "aria-label": panel.querySelector("h3").textContent });
        if (!box.isConnected) place.append(box, costNumbers(board));
        const points = board.ranked.filter((m) => board.methods[m].seconds > 0 && board.isShown(m)).map((m) => ({
          x: board.methods[m].seconds, y: board.methods[m].mean, name: board.methods[m].short, colour: board.colour(m),
          front: board.front.includes(m), words: board.score(board.methods[m].mean), named: !board.hot || board.hot.includes(m),
        }));
        scatter(box, points, { higher: board.higher, x: "CPU seconds of a fit", y: board.metric });
      }
    }
  }
  page.drawers.push(drawPanels);
})();
