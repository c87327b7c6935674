// The list of cases: search, filter, order, and one page of them at a time, so
// that 20,000 stay usable. Everything else on the page works without a script.
// Text of the corpus is only ever set as text, never as markup.
"use strict";
(() => {
  const perPage = 25;
  const byID = (id) => document.getElementById(id);
  const sources = [...document.querySelectorAll(".cases-data")];
  const tables = [];
  const state = { table: 0, page: 0, rows: [] };

  // make builds an element: attributes, then children; strings become text.
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  function table() {
    if (!tables[state.table]) tables[state.table] = JSON.parse(sources[state.table].textContent);
    return tables[state.table];
  }

  const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  const signed = (value) => {
    const text = Math.abs(value).toFixed(3);
    return text === "0.000" ? text : (value > 0 ? "+" : "−") + text;
  };
  const value = (entry, measure) => (entry.v && measure >= 0 ? entry.v[measure] ?? null : null);
  function change(entry, measure) {
    const before = entry.b && measure >= 0 ? entry.b[measure] ?? null : null;
    const now = value(entry, measure);
    return before === null || now === null ? null : now - before;
  }

  const tones = { leak: "bad", error: "bad", "no result": "bad", missed: "bad", "not first": "open", uncertain: "open", first: "good" };

  function gradeOf(grade, p) {
    if (p !== null && p !== undefined) return "p " + p.toFixed(2);
    if (grade === -1) return "unknown";
    return grade === -2 ? "unjudged" : String(grade);
  }

  // Controls.

  function options(select, entries) {
    select.replaceChildren(...entries.map(([key, text]) => make("option", { value: key }, text)));
  }

  function fillOutcomes(t) {
    const counts = t.outcomes.map(() => 0);
    for (const entry of t.cases) counts[entry.o]++;
    const present = t.outcomes.map((name, i) => [String(i), `${name} (${counts[i]})`]).filter((_, i) => counts[i] > 0);
    options(byID("outcome"), [["", `all (${t.cases.length})`], ...present]);
  }

  function fillSlices(t) {
    const select = byID("slice");
    options(select, [["", "all"]]);
    t.slices.forEach((dimension, d) => {
      const group = make("optgroup", { label: dimension.name });
      (dimension.values || []).forEach((name, i) => group.append(make("option", { value: `${d}:${i}` }, name)));
      if (group.children.length) select.append(group);
    });
    select.parentElement.hidden = select.length < 2;
  }

  function fillOrders(t) {
    const orders = [["set", "as in the set"]];
    if (t.sort >= 0) orders.unshift(["worst", "lowest first"]);
    if (t.cases.some((entry) => entry.b)) orders.unshift(["fell", "largest fall first"], ["rose", "largest rise first"]);
    if (t.cases.some((entry) => entry.t)) orders.push(["slow", "slowest first"]);
    options(byID("order"), orders);
    const compared = t.cases.some((entry) => entry.b) ? ", and how far it is from the baseline's" : "";
    byID("figure").textContent = t.sort >= 0 ? `Beside each query stands its ${t.measures[t.sort]}${compared}.` : "";
  }

  // Filtering. The text to search is made once a case.

  function haystack(t, entry) {
    if (entry.text === undefined) {
      const chunks = (entry.h || []).map((hit) => t.chunks[hit[1]]);
      const documents = (entry.e || []).map((span) => span.d);
      entry.text = [entry.id, entry.q || "", entry.cause || "", ...chunks, ...documents].join("\n").toLowerCase();
    }
    return entry.text;
  }

  function matching(t) {
    const words = byID("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = byID("outcome").value;
    const [dimension, wanted] = byID("slice").value.split(":").map(Number);
    const sliced = byID("slice").value !== "";
    return t.cases.filter((entry) =>
      (outcome === "" || entry.o === Number(outcome)) &&
      (!sliced || (entry.s || []).some(([d, v]) => d === dimension && v === wanted)) &&
      words.every((word) => haystack(t, entry).includes(word)));
  }

  function ordered(t, rows) {
    const last = (x) => (x === null ? Infinity : x);
    const keys = {
      worst: (entry) => last(value(entry, t.sort)),
      fell: (entry) => last(change(entry, t.sort)),
      rose: (entry) => { const d = change(entry, t.sort); return d === null ? Infinity : -d; },
      slow: (entry) => -(entry.t || 0),
    };
    const key = keys[byID("order").value];
    if (!key) return rows;
    return rows.map((entry, i) => [key(entry), i, entry]).sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] - b[0])).map((x) => x[2]);
  }

  // A case.

  function scoreOf(t, entry) {
    if (t.sort < 0) return "";
    const delta = change(entry, t.sort);
    const parts = [make("span", { class: "hidden" }, t.measures[t.sort] + " "), shown(value(entry, t.sort))];
    if (delta !== null && Math.abs(delta) >= 0.0005) parts.push(" ", make("span", { class: delta < 0 ? "bad" : "good" }, signed(delta)));
    return make("span", { class: "score" }, ...parts);
  }

  function caseItem(t, entry) {
    const outcome = t.outcomes[entry.o];
    const summary = make("summary", {},
      make("span", { class: "outcome " + (tones[outcome] || "") }, outcome),
      make("span", { class: "query" }, make("bdi", {}, entry.q || entry.id)),
      scoreOf(t, entry));
    const details = make("details", {}, summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(caseBody(t, entry));
    });
    return make("li", {}, details);
  }

  function caseBody(t, entry) {
    return make("div", { class: "case" },
      factList(t, entry), evidence(entry), ranking(t, entry), absent(t, entry), measures(t, entry));
  }

  function factList(t, entry) {
    const rows = [["case", entry.id], ...(entry.f || [])];
    for (const [d, v] of entry.s || []) rows.push([t.slices[d].name, t.slices[d].values[v]]);
    if (entry.t) rows.push(["time taken", entry.t.toPrecision(3) + " ms"]);
    if (entry.error) rows.push(["error", entry.error]);
    if (entry.cause) rows.push(["cause", entry.cause + (entry.proof ? ": " + entry.proof : "")]);
    for (const leak of entry.leaks || []) rows.push(["leak", `${t.chunks[leak.c]} at rank ${leak.r} (${leak.k})`]);
    return make("dl", {}, ...rows.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, text)))));
  }

  function evidence(entry) {
    if (!entry.e) return null;
    const quotes = entry.e.map((span) => make("blockquote", {},
      make("cite", {}, `${span.d}, bytes ${span.s} to ${span.e}`), span.t ? make("bdi", {}, span.t) : null));
    return make("div", {}, make("h3", {}, "Evidence"), ...quotes);
  }

  function grid(caption, names, rows) {
    return make("table", { class: "ranking" }, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col", class: name === "score" ? "number" : undefined }, name)))),
      make("tbody", {}, ...rows));
  }

  function chunkCell(t, at) {
    const text = t.texts && t.texts[at];
    return make("td", {}, make("bdi", { class: "id" }, t.chunks[at]), text ? make("bdi", { class: "text" }, text) : null);
  }

  function ranking(t, entry) {
    if (!entry.h) return make("p", { class: "aside" }, "The retriever returned nothing.");
    const scored = entry.h.some((hit) => hit[3] !== null && hit[3] !== undefined);
    const leaks = new Set((entry.leaks || []).map((leak) => leak.c));
    const rows = entry.h.map(([rank, chunk, grade, score, p]) => {
      const leak = leaks.has(chunk), relevant = (p === null || p === undefined) && grade >= t.minGrade;
      const label = gradeOf(grade, p) + (leak ? ", leak" : relevant ? ", relevant" : "");
      return make("tr", { class: leak ? "leak" : relevant ? "relevant" : undefined },
        make("th", { scope: "row" }, String(rank)), chunkCell(t, chunk), make("td", { class: "grade" }, label),
        scored ? make("td", { class: "number" }, score === null || score === undefined ? "–" : String(Number(score.toPrecision(5)))) : null);
    });
    const caption = "Ranking" + (entry.hidden ? `; ${entry.hidden} further results are not shown` : "");
    return grid(caption, ["rank", "chunk", "grade", ...(scored ? ["score"] : [])], rows);
  }

  function absent(t, entry) {
    if (!entry.absent) return null;
    const rows = entry.absent.map((label) => make("tr", {},
      make("th", { scope: "row" }, "–"), chunkCell(t, label.c), make("td", { class: "grade" }, gradeOf(label.g, label.p))));
    return grid("Relevant, or perhaps, and not returned", ["rank", "chunk", "grade"], rows);
  }

  function measures(t, entry) {
    if (!entry.v) return null;
    const rows = [];
    t.measures.forEach((name, i) => {
      if (value(entry, i) === null) return;
      const delta = change(entry, i);
      rows.push(make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, shown(value(entry, i))),
        entry.b ? make("td", {}, delta === null ? "–" : signed(delta)) : null));
    });
    const names = ["measure", "value", ...(entry.b ? ["less the baseline's"] : [])];
    const details = make("details", { class: "figures" }, make("summary", {}, "All measures of this case"),
      make("table", {}, make("caption", {}, "Measures of case " + entry.id),
        make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)));
    return details;
  }

  // The list.

  const number = (n) => n.toLocaleString("en");

  function draw() {
    const t = table(), rows = state.rows, from = state.page * perPage, to = Math.min(rows.length, from + perPage);
    byID("list").replaceChildren(...rows.slice(from, to).map((entry) => caseItem(t, entry)));
    const pages = Math.max(1, Math.ceil(rows.length / perPage));
    const range = rows.length > 0 ? `, ${number(from + 1)} to ${number(to)} shown` : "";
    byID("count").textContent = `${number(rows.length)} of ${number(t.cases.length)} cases${range}`;
    byID("where").textContent = `page ${number(state.page + 1)} of ${number(pages)}`;
    byID("pager").hidden = pages === 1;
    byID("previous").disabled = state.page === 0;
    byID("next").disabled = state.page >= pages - 1;
  }

  function refresh() {
    const t = table();
    state.rows = ordered(t, matching(t));
    state.page = 0;
    draw();
  }

  function turn(by) {
    state.page += by;
    draw();
    byID("cases").scrollIntoView();
    const first = document.querySelector("#list summary");
    if (first) first.focus({ preventScroll: true });
  }

  function choose(index) {
    state.table = index;
    const t = table();
    fillOutcomes(t);
    fillSlices(t);
    fillOrders(t);
    refresh();
  }

  // A link to #case=ID opens that case.
  function openLinked() {
    const match = /^#case=(.+)$/.exec(location.hash);
    if (!match) return;
    const id = decodeURIComponent(match[1]);
    const entry = table().cases.find((c) => c.id === id);
    if (!entry) return;
    state.rows = [entry];
    state.page = 0;
    draw();
    document.querySelector("#list details").open = true;
    byID("cases").scrollIntoView();
  }

  function later(run) {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(run, 120);
    };
  }

  for (const box of document.querySelectorAll(".choice")) {
    const chooser = box.querySelector(".chooser"), select = chooser.querySelector("select");
    chooser.hidden = select.length < 2;
    select.addEventListener("change", () => {
      for (const part of box.querySelectorAll(".chosen")) part.hidden = part.dataset.name !== select.value;
    });
  }
  if (sources.length > 0) {
    byID("controls").hidden = false;
    byID("controls").addEventListener("submit", (event) => event.preventDefault());
    byID("find").addEventListener("input", later(refresh));
    for (const id of ["outcome", "slice", "order"]) byID(id).addEventListener("change", refresh);
    byID("result").addEventListener("change", (event) => choose(Number(event.target.value)));
    byID("previous").addEventListener("click", () => turn(-1));
    byID("next").addEventListener("click", () => turn(1));
    addEventListener("hashchange", openLinked);
    choose(0);
    openLinked();
  }
})();
