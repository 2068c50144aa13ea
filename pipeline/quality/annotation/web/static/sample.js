// One sample: opened so that nobody else gets it, and decided.
import { lock, next, on, send, tell, undo } from "./api.js";

const sample = document.getElementById("sample").dataset;
const comment = document.getElementById("comment");
const path = `/samples/${encodeURIComponent(sample.id)}`;

/** Decide, and go on to the next sample. */
async function decide(kind, objection = null) {
  lock("deciding", true);
  try {
    const seen = { content: sample.content, flags: sample.flags.split(" ") };
    await send(`${path}/decisions`, { kind, objection, comment: comment.value, ...seen });
    await next(Number(sample.seq));
  } catch {
    lock("deciding", false);
  }
}

async function open() {
  const { open_by: other } = await send(`${path}/open`);
  const held = document.getElementById("held");
  held.textContent = other ? `${other} has this sample open: you can look, and decide once they have left it.` : "";
  held.hidden = !other;
  lock("held", Boolean(other));
  lock("opening", false);
}

if (comment) {
  if (!("mine" in sample)) {
    lock("opening", true);
    open();
  }
  setInterval(() => send(`${path}/renew`), (Number(sample.lease) * 1000) / 3);
}
on("accept", () => decide("accept"));
on("reject", () => document.getElementById("reasons").showModal());
for (const button of document.querySelectorAll("[data-objection]")) {
  button.addEventListener("click", () => {
    document.getElementById("reasons").close();
    decide("reject", button.dataset.objection);
  });
}
on("skip", () => decide("skip"));
on("undo", undo);
on("next", () => next(Number(sample.seq)));
on("to-comment", () => comment.focus());
on("say", async () => {
  await send(`${path}/decisions`, { kind: "comment", comment: comment.value });
  location.reload();
});
on("masks", (event) => {
  const closed = document.body.classList.toggle("masks-closed");
  event.currentTarget.setAttribute("aria-pressed", String(closed));
  tell(closed ? "the masks are closed" : "");
});
comment?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") comment.blur();
});
