// Asking the server: every change goes as JSON with the token of this page, which no other site can read.

const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;

export const ROOT = meta("driftline-root");

/** Send a change; show what went wrong, and throw it. */
export async function send(path, body = {}) {
  const headers = { "content-type": "application/json", "x-driftline-token": meta("driftline-token") };
  return answer(await fetch(ROOT + path, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Ask for something as JSON. */
export async function ask(path) {
  return answer(await fetch(ROOT + path));
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const detail = typeof body.detail === "string" ? body.detail : `the server answered ${response.status}`;
  tell(detail);
  throw new Error(detail);
}

/** Show one line to the person; screen readers read it out. */
export function tell(text) {
  document.getElementById("message").textContent = text;
}

/** Return the filters in the address of this page. */
export function filters() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Open the next sample under the filters of this page, or the queue where nothing is left. */
export async function next(after = 0) {
  const { id } = await send("/next", { filters: filters(), after });
  location.assign(id ? `${ROOT}/samples/${id}${location.search}` : `${ROOT}/${location.search}`);
}

/** Take back the newest decision of this person, and show what it was about: a sample, or the queue where it was on many. */
export async function undo() {
  const { ids } = await send("/undo");
  if (!ids.length) return tell("there is nothing to undo");
  if (ids.length === 1) return location.assign(`${ROOT}/samples/${ids[0]}${location.search}`);
  sessionStorage.setItem("driftline.message", `taken back: the decision on ${ids.length} samples`);
  location.assign(`${ROOT}/${location.search}`);
}

export const on = (id, act) => document.getElementById(id)?.addEventListener("click", act);

const reasons = new Set();

/** Switch off what decides for a reason (it is being opened, somebody else has it …), or take the reason back. */
export function lock(reason, off) {
  if (off) reasons.add(reason);
  else reasons.delete(reason);
  for (const button of document.querySelectorAll("[data-decides]")) button.disabled = reasons.size > 0;
}
