// Editing in place: an edit is kept, run in its pinned environment, and counts once it has passed.
import { ask, lock, next, on, send } from "./api.js";

const sample = document.getElementById("sample").dataset;
const path = `/samples/${encodeURIComponent(sample.id)}`;
const editor = document.getElementById("editing");
const form = document.getElementById("edit");
const shown = document.getElementById("validation");
const log = document.getElementById("validation-log");
const validate = document.getElementById("validate");
const WAIT_MS = 700;
let edited = false;

/** Show how the run of an edit stands. */
function show(text, kind = "") {
  shown.className = `notice ${kind}`;
  shown.textContent = text;
  shown.hidden = false;
}

function showRuns(runs = []) {
  log.replaceChildren();
  for (const run of runs) {
    const line = document.createElement("pre");
    line.className = "text";
    line.textContent = `${run.version}, Python ${run.python}: ${run.outcome}${run.detail ? `\n${run.detail}` : ""}`;
    log.append(line);
  }
}

/** Wait until a run has ended, and show what came of it. */
async function wait(decision) {
  for (;;) {
    const { state, problem, runs } = await ask(`${path}/decisions/${decision}`);
    if (state === "running") {
      show("Running in the pinned environment …");
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      continue;
    }
    showRuns(runs);
    if (state === "passed") show("It passed: the edit counts.", "good");
    else show(`It does not count: ${problem}`, "bad");
    return state;
  }
}

async function run() {
  validate.disabled = true;
  show("Sent …");
  showRuns();
  const comment = document.getElementById("comment").value;
  const after = Object.fromEntries(new FormData(form));
  try {
    const seen = { content: sample.content, flags: sample.flags.split(" ") };
    const said = { kind: "edit", comment, after: changed(after), ...seen };
    const { decision } = await send(`${path}/decisions`, said);
    edited = true;
    const state = await wait(decision);
    document.getElementById("after-edit").disabled = state !== "passed";
    // The person looks at what came of it now, and not at the text.
    if (state === "passed") document.getElementById("after-edit").focus();
  } catch (error) {
    show(error.message, "bad");
  } finally {
    validate.disabled = false;
  }
}

/** Return the fields as Python has them: forms write the ends of lines otherwise. */
function changed(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]));
}

/** Put the editor in the place of the texts, or take it away; meanwhile nothing else can be decided. */
function edit(open) {
  editor.hidden = !open;
  document.getElementById("panes").hidden = open;
  lock("editing", open);
  if (open) form.querySelector("textarea, select")?.focus();
  // A hidden text keeps the focus until the browser draws again, and would swallow the next key.
  else document.activeElement?.blur();
}

on("open-edit", () => edit(true));
on("close-edit", () => (edited ? location.reload() : edit(false)));
on("validate", run);
on("after-edit", () => next(Number(sample.seq)));
form.addEventListener("input", () => {
  document.getElementById("after-edit").disabled = true;
});
for (const button of document.querySelectorAll("[data-run]")) {
  button.addEventListener("click", async () => {
    await send(`${path}/decisions/${button.dataset.run}/run`);
    edit(true);
    if ((await wait(button.dataset.run)) === "passed") document.getElementById("after-edit").disabled = false;
  });
}
