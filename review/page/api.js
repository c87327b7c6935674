// What the page asks its server.

const token = new URLSearchParams(location.search).get("token") || "";

// Refused is an answer that says no; Gone is no answer at all: what was asked
// may or may not have been done.
export class Refused extends Error {
  constructor(text, hint) {
    super(text);
    this.hint = hint || "";
  }
}
export class Gone extends Error {}

const patience = 20_000; // ms

async function call(path, options, wait = patience) {
  let response, text;
  try {
    response = await fetch("api/" + path, { cache: "no-store", signal: AbortSignal.timeout(wait), ...options });
    text = await response.text();
  } catch (error) {
    throw new Gone(error.message);
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Gone(`answer ${response.status} is not goldgen's`);
  }
  if (!response.ok) throw new Refused(value.error || `status ${response.status}`, value.hint);
  return value;
}

const get = (path) => call(path, { headers: { "X-Goldgen-Token": token } });
const post = (path, body, wait) => call(path, {
  method: "POST", headers: { "X-Goldgen-Token": token, "Content-Type": "application/json" }, body: JSON.stringify(body),
}, wait);

const ofCase = (id, what) => `cases/${encodeURIComponent(id)}/${what}`;

export const session = () => get("session");
export const item = (n) => get(`items/${n}`);
export const text = (n, start, end) => get(`items/${n}/text?start=${start}&end=${end}`);
export const rows = (from, limit) => get(`items?from=${from}&limit=${limit}`);
export const label = (n, said) => post(`items/${n}/label`, said);
export const undo = () => post("undo", {});
export const rewrite = (id, query) => post(ofCase(id, "query"), { query });
export const reject = (id, reason) => post(ofCase(id, "reject"), { reason });
export const search = (id, words) => get(ofCase(id, "search") + "?q=" + encodeURIComponent(words));
export const add = (id, chunk, grade) => post(ofCase(id, "add"), { chunk_id: chunk, grade });
export const finish = () => post("finish", {}, 300_000);
