/* Datasets and methods that the reader wants to see, on the whole page. What was found is of all of them: words, ranks
   and intervals are never made up for a part. Where datasets are left out, means and differences are those on the rest,
   and there is no verdict. */
(() => {
  const page = window.paragone;
  const { el, make, state } = page;
  const WORDS = { dataset: "datasets", method: "methods" };
  let all = { dataset: [], method: [] };

  page.shows = (kind, name) => !state.has(kind) || !all[kind].includes(name) || state.get(kind).includes(name);
  page.left = (kind) => (state.has(kind) ? all[kind].filter((name) => page.shows(kind, name)).length : all[kind].length);

  /* An address may name what is not there: where nothing is left of a choice, it is none. */
  function tidy() {
    for (const kind of Object.keys(all)) {
      if (!state.has(kind)) continue;
      const known = all[kind].filter((name) => state.get(kind).includes(name));
      if (known.length && known.length < all[kind].length) state.set(kind, known);
      else state.delete(kind);
    }
  }

  function words() {
    const parts = Object.keys(all).filter((kind) => state.has(kind)).map((kind) => `${page.left(kind)} of ${all[kind].length} ${WORDS[kind]}`);
    if (!parts.length) return "";
    const beside = state.has("method") ? " beside the one compared with" : "";
    const alone = state.has("dataset") ? " Means and differences in the ranked table are those on the datasets shown; for these alone no verdict is stored (paragone view gives one)." : "";
    return `Shown: ${parts.join(" and ")}${beside}. Words, ranks and titles are of all.${alone}`;
  }

  /* Tables name datasets and methods in their first column and in their headings. */
  function filterSheet(table) {
    const headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const first = headings[0].toLowerCase();
    const out = (name, kinds) => kinds.some((kind) => !page.shows(kind, name));
    const down = first in WORDS ? [first] : ["dataset", "method"];
    const across = ["dataset", "method"].filter((kind) => kind !== first);
    const hidden = headings.map((name, at) => at > 0 && out(name, across));
    for (const row of table.rows) {
      const isBody = row.parentElement === table.tBodies[0];
      row.classList.toggle("out", isBody && out(row.cells[0].textContent.trim(), down));
      [...row.cells].forEach((cell, at) => cell.classList.toggle("out", hidden[at]));
    }
  }

  let shown = "";

  function filterPage() {
    tidy();
    /* Most drawings come of a new width: the tables have thousands of cells, and nothing to hide that is not hidden. */
    const now = JSON.stringify([state.get("dataset"), state.get("method")]);
    if (now === shown) return;
    shown = now;
    const told = words();
    for (const pick of document.querySelectorAll(".many-of")) {
      const kind = pick.dataset.many;
      pick.querySelector("b").textContent = state.has(kind) ? `${page.left(kind)} of ${all[kind].length}` : `all ${all[kind].length}`;
      for (const box of pick.querySelectorAll("input")) box.checked = !state.has(kind) || state.get(kind).includes(box.value);
    }
    const line = document.getElementById("filtered");
    if (!line) return;
    line.textContent = told;
    line.hidden = !told;
    for (const table of document.querySelectorAll(".sheet table")) filterSheet(table);
    for (const kind of Object.keys(all)) {
      for (const part of document.querySelectorAll(`#${WORDS[kind]} > .blocks > details.collapsible`)) part.classList.toggle("out", !page.shows(kind, part.firstElementChild.textContent));
    }
  }

  document.addEventListener("change", (event) => {
    const pick = event.target.closest(".many-of");
    if (!pick) return;
    const kind = pick.dataset.many;
    const chosen = [...pick.querySelectorAll("input:checked")].map((box) => box.value);
    /* Nothing chosen is the whole again: a page of nothing helps nobody. */
    page.choose(kind, chosen.length === all[kind].length ? [] : chosen);
    page.draw();
    page.say(words() || "Everything is shown.");
  });

  document.addEventListener("click", (event) => {
    for (const pick of document.querySelectorAll(".many-of[open]")) if (!pick.contains(event.target)) pick.open = false;
    const button = event.target.closest(".many-of button");
    if (!button) return;
    page.choose(button.closest(".many-of").dataset.many, []);
    page.draw();
    page.say("Everything is shown.");
  });
  document.addEventListener("keydown", (event) => {
    const pick = event.key === "Escape" && event.target.closest?.(".many-of[open]");
    if (!pick) return;
    pick.open = false;
    pick.querySelector("summary").focus();
  });

  page.begin.push(() => {
    all = { dataset: [], method: [] };
    shown = "";
    for (const pick of document.querySelectorAll(".many-of")) {
      const kind = pick.dataset.many;
      all[kind] = page.data.filters[kind];
      const boxes = all[kind].map((name) => el("label", {}, make("input", undefined, { type: "checkbox", value: name, checked: true }), ` ${name}`));
      pick.append(el("fieldset", {}, el("legend", {}, `Show these ${WORDS[kind]}`), make("button", "All", { type: "button" }), boxes));
      pick.hidden = false;
    }
  });
  page.drawers.unshift(filterPage);
})();
