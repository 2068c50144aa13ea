// The queue: moving through its rows, marking them, and deciding on all that are marked.
import { ROOT, next, on, send, tell, undo } from "./api.js";

const rows = [...document.querySelectorAll("#rows tbody tr")];
const box = (row) => row.querySelector("input");
const marked = () => rows.filter((row) => box(row).checked).map((row) => row.dataset.id);
let here = -1;

/** Make a row the one that keys are about. */
function go(number) {
  if (!rows.length) return;
  rows[here]?.classList.remove("here");
  here = Math.max(0, Math.min(rows.length - 1, number));
  rows[here].classList.add("here");
  rows[here].querySelector("a").focus();
}

/** Ask once, then decide on all that is marked; the others are listed with their reasons. */
function decideMarked(kind, objection = null) {
  const ids = marked();
  if (!ids.length) return tell("nothing is marked");
  const what = objection ? `${kind} (${objection.replaceAll("_", " ")})` : kind;
  document.getElementById("sure-text").textContent = `${what}: ${ids.length} samples?`;
  document.getElementById("sure-yes").onclick = async () => {
    document.getElementById("sure").close();
    const { decided, refused } = await send("/decisions", { ids, kind, objection });
    const reasons = [...new Set(Object.values(refused))].join("; ");
    sessionStorage.setItem("driftline.message", `${decided.length} decided${reasons && `; ${Object.keys(refused).length} refused: ${reasons}`}`);
    location.reload();
  };
  document.getElementById("sure").showModal();
}

on("down", () => go(here + 1));
on("up", () => go(here - 1));
on("open", () => {
  const link = rows[here]?.querySelector("a");
  if (link) location.assign(link.href);
});
on("mark", () => here >= 0 && (box(rows[here]).checked = !box(rows[here]).checked));
on("mark-all", () => {
  const all = rows.every((row) => box(row).checked);
  for (const row of rows) box(row).checked = !all;
});
on("accept-marked", () => decideMarked("accept"));
on("reject-marked", () => (marked().length ? document.getElementById("reasons").showModal() : tell("nothing is marked")));
for (const button of document.querySelectorAll("[data-objection]")) {
  button.addEventListener("click", () => {
    document.getElementById("reasons").close();
    decideMarked("reject", button.dataset.objection);
  });
}
on("to-filters", () => document.querySelector("#filters select").focus());
on("next", () => next());
on("undo", undo);

tell(sessionStorage.getItem("driftline.message") ?? "");
sessionStorage.removeItem("driftline.message");
if (document.getElementById("next")) send("/release");
