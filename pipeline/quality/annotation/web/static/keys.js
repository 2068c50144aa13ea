// Everything by keyboard: a key clicks the button that it is printed on. Which key that is, a person may change.

const STORED = "driftline.keys";
const MODIFIERS = ["Control", "Shift", "Alt", "Meta"];

/** Return the keys that a person chose, by action. */
function chosen() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) ?? {};
  } catch {
    return {};
  }
}

/** Return the key of a button: the chosen one, else the printed one. */
const keyOf = (button) => chosen()[button.dataset.action] ?? button.dataset.key;

/** Return how a key stroke is written: ctrl+enter, escape, a, ?. */
function written(event) {
  const key = event.key === " " ? "space" : event.key.toLowerCase();
  const shift = event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key));
  return [event.ctrlKey && "ctrl", event.altKey && "alt", event.metaKey && "meta", shift && "shift", key]
    .filter(Boolean)
    .join("+");
}

const typing = (element) => element?.matches("input:not([type=checkbox]), textarea, select") ?? false;

/** Return what may be pressed now: of an open dialog only what stands in it. */
function buttons() {
  const scope = [...document.querySelectorAll("dialog[open]")].pop() ?? document;
  return [...scope.querySelectorAll("[data-action]")].filter(
    (button) => !button.disabled && button.checkVisibility(),
  );
}

/** Print on every button the key that presses it. */
export function printKeys() {
  for (const button of document.querySelectorAll("[data-action]")) {
    let shown = button.querySelector(":scope > kbd");
    if (!shown) {
      shown = document.createElement("kbd");
      button.append(" ", shown);
    }
    shown.textContent = keyOf(button);
    button.setAttribute("aria-keyshortcuts", keyOf(button));
  }
}

function press(event) {
  if (MODIFIERS.includes(event.key) || event.isComposing) return;
  const stroke = written(event);
  if (typing(event.target) && !stroke.includes("ctrl+") && stroke !== "escape") return;
  // What has the focus is pressed by these itself.
  if (["enter", "space"].includes(stroke) && event.target.closest("a, button, input")) return;
  const button = buttons().find((one) => keyOf(one) === stroke);
  if (!button) return;
  event.preventDefault();
  button.click();
}

function legend() {
  const dialog = document.getElementById("legend");
  const table = dialog.querySelector("tbody");
  table.replaceChildren();
  for (const button of document.querySelectorAll("[data-action]")) {
    if (!dialog.contains(button)) table.append(row(button));
  }
  dialog.showModal();
}

function row(button) {
  const line = document.createElement("tr");
  const key = document.createElement("kbd");
  key.textContent = keyOf(button);
  const change = document.createElement("button");
  change.type = "button";
  change.textContent = "change";
  change.setAttribute("aria-label", `change the key of: ${button.dataset.title}`);
  change.addEventListener("click", () => listen(button, change));
  for (const part of [key, button.dataset.title, change]) {
    const cell = document.createElement("td");
    cell.append(part);
    line.append(cell);
  }
  return line;
}

/** Return what else a key presses in the same place. */
function rival(button, stroke) {
  const place = button.closest("dialog");
  return [...document.querySelectorAll("[data-action]")].find(
    (one) => one.dataset.action !== button.dataset.action && one.closest("dialog") === place && keyOf(one) === stroke,
  );
}

/** Take the next key stroke as the key of an action; escape leaves it as it is. */
function listen(button, change) {
  change.textContent = "press a key …";
  const take = (event) => {
    if (MODIFIERS.includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const stroke = written(event);
    const other = event.key !== "Escape" && rival(button, stroke);
    if (other) {
      change.textContent = `${stroke} is taken: ${other.dataset.title}; press another …`;
      return;
    }
    removeEventListener("keydown", take, true);
    if (event.key !== "Escape") {
      localStorage.setItem(STORED, JSON.stringify({ ...chosen(), [button.dataset.action]: stroke }));
      printKeys();
    }
    document.getElementById("legend").close();
    legend();
  };
  addEventListener("keydown", take, true);
}

addEventListener("keydown", press);
document.getElementById("open-legend").addEventListener("click", legend);
document.getElementById("default-keys").addEventListener("click", () => {
  localStorage.removeItem(STORED);
  printKeys();
  document.getElementById("legend").close();
});
for (const button of document.querySelectorAll("dialog [data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
printKeys();
