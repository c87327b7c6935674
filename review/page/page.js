// The review page: one pair of a query and a passage at a time. A label counts
// as saved when the server has said so, and is kept for sending again until then.
import * as api from "./api.js";
import { prepareDialogs, open, problemText } from "./dialogs.js";
import { byID, make, Paper, plain, put } from "./text.js";

const state = {
  session: null,
  item: null,
  asked: 0, // the number of the newest reading of an item; answers to older ones are late
  target: -1, // the item that is in view or on its way there
  sending: null, // {n, said} while a label is on its way
  unsaved: new Map(), // labels by item that the server did not confirm
  last: null, // the item of the newest saved label
  deaf: false, // just after a new pair came by itself: a key struck twice is not for it
};
const deafFor = 200; // ms
const piece = 32 << 10; // bytes of a document that one more reading asks for

// Words.

const number = (n) => n.toLocaleString("en");
const pairName = (n) => `pair ${number(n + 1)}`;
const gradeOf = (n) => state.session.grades.find((g) => g.grade === n);
const labelNames = { stale: "stale", out_of_scope: "out of scope" };
const isRejected = (it) => it.status === "retired";
const bySource = { label_model: "The label model", llm: "The model that judged", synthetic: "The query was written from this passage", human: "A person" };

// saidText is a label in words: what a person said, or is sending.
function saidText(said) {
  if (said.skip) return "skipped";
  if (said.label in labelNames) return labelNames[said.label];
  return said.grade === null ? said.label : `grade ${said.grade} (${gradeOf(said.grade)?.name ?? "?"})`;
}

function revealedText(revealed) {
  const parts = [];
  if (revealed.p !== null) parts.push(`relevant with p = ${revealed.p.toFixed(2)}`);
  if (revealed.grade !== null) parts.push(`grade ${revealed.grade} (${gradeOf(revealed.grade)?.name ?? "?"})`);
  return `${bySource[revealed.by] ?? revealed.by}: ${parts.join(", ") || "no opinion"}.`;
}

function dateText(iso) {
  const text = new Date(iso).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ") + " UTC";
}

function announce(text) {
  byID("status").textContent = plain(text);
}

// The head: how far the work is.

function drawSession() {
  const s = state.session;
  put(byID("set"), s.set);
  put(byID("who"), `${s.sample} sample, labelled by ${s.reviewer}` + (s.blind ? ", blind" : ""));
  byID("progress").max = Math.max(1, s.total);
  byID("progress").value = s.labelled;
  byID("progress-text").textContent = `${number(s.labelled)} of ${number(s.total)} labelled` + (s.skipped ? `, ${number(s.skipped)} skipped` : "");
  byID("interval").hidden = !s.interval;
  if (s.interval) drawInterval(s.interval);
}

function drawInterval(v) {
  const narrower = v.width_at_start > 0 ? Math.round(100 * (1 - v.width / v.width_at_start)) : 0;
  const change = narrower === 0 ? "" : `, ${Math.abs(narrower)} % ${narrower > 0 ? "narrower" : "wider"} than at the start`;
  put(byID("interval-text"), `${v.what}: [${v.low.toFixed(3)}, ${v.high.toFixed(3)}]${change}`);
  const middle = (v.low + v.high) / 2, half = Math.max(v.width_at_start, v.width) / 2 || 1;
  const near = Math.abs(middle) < 4 * half;
  const from = Math.min(middle - half, near ? 0 : Infinity), to = Math.max(middle + half, near ? 0 : -Infinity);
  const at = (value) => `${(100 * (value - from)) / (to - from)}%`;
  const draw = (name, left, right) => {
    const line = document.querySelector(`#interval-bar .${name}`);
    line.setAttribute("x1", at(left));
    line.setAttribute("x2", at(right));
  };
  draw("before", middle - v.width_at_start / 2, middle + v.width_at_start / 2);
  draw("now", v.low, v.high);
  draw("zero", near ? 0 : from, near ? 0 : from);
}

// The case and its document.

function facts(it) {
  const scope = Object.entries(it.scope || {}).map(([key, values]) => `${key} ${values.join(" or ")}`).join(", ");
  const list = [["type", it.query_type.replaceAll("_", " ")], ["asked by", scope || "anybody"]];
  if (it.as_of) list.push(["as of", dateText(it.as_of)]);
  if (it.valid_from || it.valid_to) list.push(["passage valid", validText(it)]);
  if (it.status !== "active") list.push(["status", it.status.replaceAll("_", " ")]);
  return list;
}

function validText(it) {
  const parts = [];
  if (it.valid_from) parts.push("from " + dateText(it.valid_from));
  if (it.valid_to) parts.push("before " + dateText(it.valid_to));
  const asked = Date.parse(it.as_of), outside = asked < Date.parse(it.valid_from) || asked >= Date.parse(it.valid_to);
  return parts.join(" ") + (outside ? ", not on that date" : "");
}

function drawCase(it) {
  put(byID("where"), `Pair ${number(it.n + 1)} of ${number(state.session.total)}, case ${it.case_id}`);
  put(byID("query"), it.query);
  byID("facts").replaceChildren(...facts(it).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, value)))));
  document.title = plain(`${pairName(it.n)}: ${state.session.set} – goldgen review`);
}

let lower, upper; // the lowest and the highest byte of the document on the page

// stretches are the parts of the document, each with the element that shows it.
const stretches = (it) => [["before", 0, it.passage[0]], ["passage-text", ...it.passage], ["after", it.passage[1], it.document_bytes]];

function drawPaper(it) {
  const evidence = it.evidence || [], [from, to] = it.passage;
  const paper = new Paper(it.text, it.text_start, evidence);
  [lower, upper] = [paper.start, paper.end];
  put(byID("title"), it.title || it.doc_id);
  const path = it.heading_path || [];
  put(byID("path"), make("bdi", {}, it.doc_id), path.length ? " › " : "", make("bdi", {}, path.join(" › ")));
  for (const [id, start, end] of stretches(it)) byID(id).replaceChildren(...paper.nodes(start, end));
  trim(byID("before").lastChild, /\n+$/);
  trim(byID("after").firstChild, /^\n+/);
  const inside = evidence.some(([start, end]) => start < to && end > from);
  put(byID("legend"), ...(evidence.length ? [make("mark", {}, "Evidence"), inside ? " of the case is marked in the text." : " of the case is marked in this document, outside the passage."] : []));
  drawMore(it);
}

// trim takes away empty lines beside the passage, which has its frame there.
function trim(node, lines) {
  if (node?.nodeType === Node.TEXT_NODE) node.textContent = node.textContent.replace(lines, "");
}

function drawMore(it) {
  put(byID("passage-end"), upper < it.passage[1] ? "The passage goes on below" : "End of the passage");
  byID("more-before").hidden = lower <= 0;
  byID("more-after").hidden = upper >= it.document_bytes;
}

// more reads on, above the window or below it; what is read stays in its place.
async function more(above) {
  const it = state.item, box = byID("document");
  const [start, end] = above ? [Math.max(0, lower - piece), lower] : [upper, Math.min(it.document_bytes, upper + piece)];
  const got = await tried(() => api.text(it.n, start, end), "More of the document could not be read.", () => more(above));
  if (!got || state.item !== it) return;
  const part = new Paper(got.text, got.text_start, it.evidence || []);
  const height = box.scrollHeight;
  for (const [id, from, to] of stretches(it)) byID(id)[above ? "prepend" : "append"](...part.nodes(from, to));
  if (above) {
    lower = part.start;
    box.scrollTop += box.scrollHeight - height;
  } else upper = part.end;
  drawMore(it);
  if (document.activeElement === document.body) box.focus({ preventScroll: true });
}

function scrollToPassage() {
  const box = byID("document"), passage = byID("passage");
  box.scrollTop = passage.offsetTop - Math.max(24, (box.clientHeight - passage.offsetHeight) / 2);
}

// The label.

function drawGrades() {
  byID("grade-buttons").replaceChildren(...state.session.grades.map((g) => {
    const button = make("button", { type: "button", "data-grade": String(g.grade), "aria-pressed": "false" },
      make("b", {}, g.name), make("kbd", {}, String(g.grade)), make("span", { class: "meaning" }, g.meaning));
    button.addEventListener("click", () => give(gradeSaid(g.grade)));
    return button;
  }));
}

const gradeSaid = (grade) => ({ grade, label: "", skip: false });
const otherSaid = (name) => (name === "skip" ? { grade: null, label: "", skip: true } : { grade: null, label: name, skip: false });

// chosen reports whether a button stands for what was said.
function chosen(button, said) {
  if (!said) return false;
  const other = said.skip ? "skip" : said.label in labelNames ? said.label : "";
  return other ? button.dataset.label === other : said.grade !== null && button.dataset.grade === String(said.grade);
}

function drawLabel() {
  const it = state.item, waits = state.sending?.n === it.n ? state.sending.said : state.unsaved.get(it.n);
  const said = waits || it.label;
  for (const button of document.querySelectorAll("[data-grade], [data-label]")) {
    const on = chosen(button, said);
    button.setAttribute("aria-pressed", String(on));
    button.disabled = isRejected(it);
    button.classList.toggle("sending", on && state.sending?.n === it.n);
    button.classList.toggle("unsaved", on && !state.sending && state.unsaved.has(it.n));
  }
  if (isRejected(it)) put(byID("said"), "This case is rejected. Undo takes it back.");
  else put(byID("said"), it.label ? `Your label: ${saidText(it.label)}, saved ${new Date(it.label.at).toLocaleString()}.` : "");
  const known = it.revealed ? revealedText(it.revealed) : "The set itself says nothing of this pair.";
  put(byID("revealed"), it.revealed || (it.label && !it.label.skip) ? known : "");
  put(byID("last"), state.last && state.last.n !== it.n ? lastText(state.last) : "");
}

function lastText(it) {
  if (isRejected(it)) return `Saved: the case of ${pairName(it.n)} is rejected.`;
  return `Saved: ${pairName(it.n)}, ${saidText(it.label)}. ${it.revealed ? revealedText(it.revealed) : ""}`;
}

// give sends a label. Nothing is shown as saved before the answer.
async function give(said) {
  if (state.sending || state.deaf || state.item?.n !== state.target || isRejected(state.item)) return;
  const n = state.item.n;
  state.sending = { n, said };
  drawLabel();
  let answer;
  try {
    answer = await api.label(n, said);
  } catch (error) {
    state.unsaved.set(n, said);
    state.sending = null;
    drawLabel();
    complain(error, "");
    return;
  }
  state.sending = null;
  state.unsaved.delete(n);
  await saved(answer, `Saved: ${saidText(answer.item.label)}.`);
}

// saved shows what an answer to a label brought, and goes on.
async function saved(answer, what) {
  state.session = answer.session;
  state.last = answer.item;
  if (state.item.n === answer.item.n) state.item = answer.item;
  drawSession();
  drawLabel();
  quiet();
  const revealed = answer.item.label && answer.item.revealed ? " " + revealedText(answer.item.revealed) : "";
  announce(what + revealed + (answer.next < 0 ? " Every pair is labelled." : ""));
  if (answer.next < 0) put(byID("last"), "Every pair of the sample is labelled or skipped. Write a version to keep the labels in the set.");
  else if (byID("go-on").checked) await show(answer.next, { byItself: true });
}

const notSaved = () => "Not saved: " + [...state.unsaved].map(([n, said]) => `${pairName(n)}, ${saidText(said)}`).join("; ") + ".";

async function sendAgain() {
  for (const [n, said] of [...state.unsaved]) {
    state.sending = { n, said };
    drawLabel();
    try {
      state.session = (await api.label(n, said)).session;
    } catch (error) {
      state.sending = null;
      drawLabel();
      complain(error, "");
      return;
    }
    state.sending = null;
    state.unsaved.delete(n);
  }
  quiet();
  announce("Saved.");
  await reread();
}

async function undo() {
  if (state.sending) return;
  const answer = await tried(api.undo, "Nothing was undone.");
  if (!answer) return;
  state.session = answer.session;
  state.last = null;
  await show(answer.item.n);
  announce(`Withdrawn: the label of ${pairName(answer.item.n)}.`);
}

// What went wrong.

let retry = null;
const ifStopped = "If it was stopped, start goldgen review again and open the address that it prints: whatever this page showed as saved is on disk.";

// complain says what went wrong. As long as labels wait, they are what is tried
// again.
function complain(error, what, again) {
  const gone = error instanceof api.Gone, waits = state.unsaved.size > 0;
  retry = waits ? sendAgain : again;
  const parts = [what, waits ? notSaved() : "", gone ? ifStopped : "The server says: " + problemText(error)];
  put(byID("banner-title"), gone ? "The server does not answer." : "That did not work.");
  put(byID("banner-text"), parts.filter(Boolean).join(" "));
  byID("again").hidden = !retry;
  byID("again").textContent = waits ? "Send again" : "Try again";
  byID("dismiss").textContent = waits ? "Discard what is not saved" : "Close";
  byID("banner").hidden = false;
}

// quiet takes the banner away, unless labels wait.
function quiet() {
  if (state.unsaved.size) return;
  byID("banner").hidden = true;
}

async function tried(ask, what, again) {
  try {
    return await ask();
  } catch (error) {
    complain(error, what, again);
    return null;
  }
}

// Moving.

async function show(n, { byItself = false } = {}) {
  const asked = ++state.asked;
  state.target = n;
  const got = await tried(() => Promise.all([api.item(n), api.session()]), `${pairName(n)} could not be read.`, () => show(n));
  if (asked !== state.asked) return;
  if (!got) {
    state.target = state.item?.n ?? -1;
    return;
  }
  [state.item, state.session] = got;
  quiet();
  for (const id of ["case", "paper", "grades"]) byID(id).hidden = false;
  drawSession();
  drawCase(state.item);
  drawPaper(state.item);
  drawLabel();
  scrollToPassage();
  if (matchMedia("(max-width: 46rem)").matches) byID("case").scrollIntoView();
  else scrollTo(0, 0);
  byID("query").focus({ preventScroll: true });
  history.replaceState(null, "", "#" + (n + 1));
  rest(byItself, n);
}

// rest lets a moment pass after a pair that came by itself.
function rest(byItself, n) {
  const ready = () => {
    state.deaf = false;
    document.body.dataset.ready = String(n + 1);
  };
  state.deaf = byItself;
  if (byItself) setTimeout(ready, deafFor);
  else ready();
}

// reread sees what another page of the same person has done meanwhile.
async function reread() {
  if (!state.item || state.sending || state.target !== state.item.n) return;
  const asked = ++state.asked, before = state.item;
  const got = await tried(() => Promise.all([api.item(before.n), api.session()]), "The pair could not be read again.", reread);
  if (!got || asked !== state.asked) return;
  [state.item, state.session] = got;
  quiet();
  drawSession();
  drawCase(state.item);
  drawLabel();
}

function move(by) {
  const n = state.target + by;
  if (n >= 0 && n < state.session.total) show(n);
  else announce(by < 0 ? "This is the first pair." : "This is the last pair.");
}

function goOn() {
  const next = state.session.next;
  if (next >= 0) show(next);
  else announce("Every pair is labelled.");
}

// Keys.

const acts = {
  undo, previous: () => move(-1), next: () => move(1), on: goOn,
  ...Object.fromEntries(["edit", "reject", "search", "list", "finish", "help"].map((name) => [name, () => open(name)])),
};
const keys = {
  s: () => give(otherSaid("skip")), t: () => give(otherSaid("stale")), o: () => give(otherSaid("out_of_scope")),
  u: acts.undo, n: acts.next, arrowright: acts.next, p: acts.previous, arrowleft: acts.previous,
  e: acts.edit, r: acts.reject, "/": acts.search, l: acts.list, "?": acts.help,
};

function actOf(event) {
  const key = event.key.toLowerCase();
  if (key === "enter") return event.target.closest("button, a, input, summary") ? null : acts.on;
  if (!byID("keys-on").checked) return null;
  if (/^[0-9]$/.test(key)) return gradeOf(Number(key)) ? () => give(gradeSaid(Number(key))) : null;
  return Object.hasOwn(keys, key) ? keys[key] : null;
}

function onKey(event) {
  if (!state.item || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || document.querySelector("dialog[open]")) return;
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  if (!event.repeat) act();
}

// remember keeps a switch's state in the browser, where it allows that.
function remember(id) {
  const box = byID(id), key = "goldgen-review-" + id;
  try {
    box.checked = localStorage.getItem(key) !== "off";
    box.addEventListener("change", () => localStorage.setItem(key, box.checked ? "on" : "off"));
  } catch {
    box.checked = true;
  }
}

function listen() {
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => state.item && acts[button.dataset.do]());
  for (const button of document.querySelectorAll("[data-label]")) button.addEventListener("click", () => give(otherSaid(button.dataset.label)));
  byID("more-before").addEventListener("click", () => more(true));
  byID("more-after").addEventListener("click", () => more(false));
  byID("again").addEventListener("click", () => retry && retry());
  byID("dismiss").addEventListener("click", () => {
    state.unsaved.clear();
    quiet();
    if (state.item) drawLabel();
    byID("query").focus({ preventScroll: true });
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && reread());
  addEventListener("hashchange", () => linked() !== state.item?.n && linked() >= 0 && show(linked()));
  addEventListener("beforeunload", (event) => (state.unsaved.size || state.sending) && event.preventDefault());
  remember("go-on");
  remember("keys-on");
}

// linked is the item that the address names, -1 for none.
function linked() {
  const match = /^#([1-9][0-9]{0,8})$/.exec(location.hash);
  return match && Number(match[1]) <= state.session.total ? Number(match[1]) - 1 : -1;
}

async function start() {
  const s = await tried(api.session, "The set could not be read.", start);
  if (!s) return;
  state.session = s;
  quiet();
  drawSession();
  drawGrades();
  if (s.total === 0) {
    byID("main").prepend(make("p", {}, "The sample holds no pair. Choose another one with --sample."));
    return;
  }
  await show(linked() >= 0 ? linked() : Math.max(s.next, 0));
}

prepareDialogs({ state, show, reread, saved, announce });
listen();
start();
