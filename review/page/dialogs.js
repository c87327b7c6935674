// The dialogs: each can be opened, used and closed by keyboard alone, and gives
// the focus back. What a person typed stays until the server has taken it.
import * as api from "./api.js";
import { byID, make, put } from "./text.js";

let page; // what the page gives: state, show, reread, saved, announce

export const problemText = (error) => (error instanceof api.Gone
  ? "The server does not answer; nothing is known to be saved."
  : error.message + (error.hint ? ` (${error.hint})` : "") + ".");

// open opens a dialog by name, with what it needs of the pair in view.
export function open(name) {
  const dialog = byID(name);
  for (const problem of dialog.querySelectorAll(".problem")) put(problem, "");
  if (begin[name]) begin[name]();
  dialog.showModal();
  dialog.querySelector("[data-first]")?.focus(); // autofocus would also be tried, and complained of, as the page loads
}

const begin = {
  edit() {
    byID("edit-query").value = page.state.item.query;
    byID("edit-outcome").replaceChildren();
  },
  reject() {
    byID("reject-reason").value = "";
  },
  search() {
    byID("search-words").value = "";
    put(byID("search-count"), "");
    drawFound([]);
    drawGradeChoice();
  },
  list() {
    byID("list-number").max = String(page.state.session.total);
    byID("list-number").value = String(page.state.item.n + 1);
    readRows(Math.floor(page.state.item.n / perPage) * perPage);
  },
  finish() {
    put(byID("finish-text"), "The labels so far become the next version of the set. You can go on labelling afterwards.");
  },
};

// whenSent runs work when a form is sent, once at a time, and shows what goes
// wrong in the dialog, which stays open.
function whenSent(form, work) {
  const dialog = form.closest("dialog"), problem = dialog.querySelector(".problem");
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    form.setAttribute("aria-busy", "true");
    if (problem) put(problem, "");
    try {
      await work(dialog);
    } catch (error) {
      put(problem || byID("edit-outcome"), problemText(error));
    } finally {
      busy = false;
      form.removeAttribute("aria-busy");
    }
  });
}

// Edit the query.

function checksTable(checks) {
  const rows = checks.map((c) => make("tr", { class: c.passed ? "good" : "bad" }, make("th", { scope: "row" }, c.name.replaceAll("_", " ")),
    make("td", {}, c.passed ? "passed" : "refused"), make("td", { class: "number" }, String(Number(c.value.toPrecision(4))))));
  const head = ["gate", "outcome", "value"].map((name) => make("th", { scope: "col", class: name === "value" ? "number" : "" }, name));
  return make("table", {}, make("caption", {}, "Gates of this wording"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

async function sendEdit(dialog) {
  const answer = await api.rewrite(page.state.item.case_id, byID("edit-query").value);
  const text = answer.kept ? "Kept: the new wording passed its gates." : "Refused: nothing was changed.";
  put(byID("edit-outcome"), make("p", { class: answer.kept ? "good" : "bad" }, make("b", {}, text)), ...(answer.checks?.length ? [checksTable(answer.checks)] : []));
  if (!answer.kept) return;
  await page.reread();
  dialog.querySelector("[data-close]").focus();
}

// Reject the case.

async function sendReject(dialog) {
  const it = page.state.item, answer = await api.reject(it.case_id, byID("reject-reason").value);
  dialog.close();
  // The answer shows the case's first pair; the person is at this one.
  const item = { ...it, status: answer.item.status };
  await page.saved({ ...answer, item }, "The case is rejected.");
}

// Search, and add a passage.

function drawFound(found) {
  byID("found").hidden = byID("add-grades").hidden = found.length === 0;
  byID("add").disabled = found.length === 0;
  byID("found-list").replaceChildren(...found.map((hit, i) => {
    const radio = make("input", { type: "radio", name: "chunk", required: "" });
    radio.value = hit.chunk_id;
    radio.checked = i === 0;
    return make("label", { class: "found" }, radio, make("span", {},
      make("bdi", {}, hit.title || hit.doc_id), make("bdi", { class: "aside" }, hit.chunk_id + (hit.in_pool ? ", judged already" : "")),
      make("bdi", { class: "text" }, hit.text)));
  }));
}

function drawGradeChoice() {
  const grades = page.state.session.grades, best = Math.max(...grades.map((g) => g.grade));
  byID("add-grades").replaceChildren(make("legend", {}, "Its grade"), ...grades.map((g) => {
    const radio = make("input", { type: "radio", name: "grade", value: String(g.grade) });
    radio.checked = g.grade === best;
    return make("label", {}, radio, ` ${g.grade} ${g.name}`);
  }));
}

let searched = 0;

async function sendSearch() {
  const mine = ++searched, found = await api.search(page.state.item.case_id, byID("search-words").value);
  if (mine !== searched) return;
  put(byID("search-count"), found.length ? `${found.length} found, best first.` : "Nothing found that the asker may see.");
  drawFound(found);
  if (found.length) byID("found-list").querySelector("input").focus();
}

async function sendAdd(dialog) {
  const value = (name) => dialog.querySelector(`input[name="${name}"]:checked`).value;
  const answer = await api.add(page.state.item.case_id, value("chunk"), Number(value("grade")));
  dialog.close();
  await page.show(answer.item.n);
  page.announce("The passage was added and graded.");
}

// All pairs, a page of them at a time.

const perPage = 50;
let firstRow = 0, asked = 0;

function outcome(row) {
  if (row.skipped) return "skipped";
  return row.labelled ? "✓ " + (row.grade === null ? "labelled" : `grade ${row.grade}`) : "open";
}

function rowItem(row) {
  const button = make("button", { type: "button", ...(row.n === page.state.item.n ? { "aria-current": "true" } : {}) },
    make("span", {}, (row.n + 1).toLocaleString("en")), make("bdi", {}, row.query), make("span", { class: "mark" }, outcome(row)));
  button.addEventListener("click", () => goTo(row.n));
  return make("li", {}, button);
}

function goTo(n) {
  byID("list").close();
  page.show(n);
}

async function readRows(from) {
  const mine = ++asked, total = page.state.session.total, problem = byID("list").querySelector(".problem");
  try {
    const rows = await api.rows(from, perPage);
    if (mine !== asked) return;
    firstRow = from;
    put(problem, "");
    byID("rows").replaceChildren(...rows.map(rowItem));
    byID("rows-where").textContent = `${(from + 1).toLocaleString("en")} to ${(from + rows.length).toLocaleString("en")} of ${total.toLocaleString("en")}`;
    byID("rows-before").disabled = from === 0;
    byID("rows-after").disabled = from + rows.length >= total;
    byID("list").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    put(problem, problemText(error));
  }
}

// Write a version.

async function sendFinish() {
  put(byID("finish-text"), "Writing …");
  const { golden, labels, written } = await api.finish().catch((error) => {
    put(byID("finish-text"), "No version is known to be written.");
    throw error;
  });
  const name = `${golden.name}@v${golden.version}`, labelled = `${labels.toLocaleString("en")} ${labels === 1 ? "label" : "labels"}`;
  put(byID("finish-text"), written ? `Written: ${name} with ${labelled}, in ${golden.path}` : `Nothing new: ${name} already holds the ${labelled}.`);
  page.announce(byID("finish-text").textContent);
}

// Keys, for the help.

const helpKeys = [
  ["0 1 2 3", "grade the passage"], ["s", "skip the pair"], ["t", "the passage is stale: it answered once"],
  ["o", "out of scope: the asker must not see it"], ["u", "undo the last label"], ["n p → ←", "next and previous pair"],
  ["Enter", "on to the next open pair; in a dialog, confirm"], ["e", "edit the query"], ["r", "reject the case"],
  ["/", "search and add a passage"], ["l", "all pairs"], ["?", "this help"], ["Esc", "close a dialog"],
];

function drawHelp(table) {
  table.replaceChildren(...helpKeys.map(([names, what]) => {
    const marks = names.split(" ").flatMap((name) => [make("kbd", {}, name), " "]);
    return make("tr", {}, make("th", { scope: "row" }, ...marks), make("td", {}, what));
  }));
}

export function prepareDialogs(given) {
  page = given;
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => document.activeElement === document.body && byID("query").focus({ preventScroll: true }));
  }
  whenSent(byID("edit").querySelector("form"), sendEdit);
  whenSent(byID("reject").querySelector("form"), sendReject);
  whenSent(byID("search-form"), sendSearch);
  whenSent(byID("add-form"), sendAdd);
  whenSent(byID("list-form"), () => goTo(Number(byID("list-number").value) - 1));
  whenSent(byID("finish").querySelector("form"), sendFinish);
  byID("edit-query").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });
  byID("rows-before").addEventListener("click", () => readRows(Math.max(0, firstRow - perPage)));
  byID("rows-after").addEventListener("click", () => readRows(firstRow + perPage));
  drawHelp(byID("help-keys"));
}
