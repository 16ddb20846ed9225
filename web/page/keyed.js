// Keyed rows: a list is updated by difference, so that focus, selection and scroll position remain.

const known = new WeakMap();

/**
 * Makes `parent` contain exactly these children. An item has a unique `key`, `make()`, which creates the element when the
 * key is new, and optionally `update(element)`. If the focused child disappears, the child at its place is focused.
 */
export function keyed(parent, items) {
  const old = known.get(parent) ?? new Map();
  const wanted = new Map();
  for (const { key, make, update } of items) {
    const child = old.get(key) ?? make();
    update?.(child);
    wanted.set(key, child);
  }
  let lost = -1;
  [...old].forEach(([key, child], index) => {
    if (wanted.has(key)) return;
    if (child.contains(document.activeElement)) lost = index;
    child.remove();
  });
  let at = parent.firstChild;
  for (const child of wanted.values()) {
    if (child === at) at = at.nextSibling;
    else parent.insertBefore(child, at);
  }
  known.set(parent, wanted);
  if (lost >= 0) focusNear(parent, [...wanted.values()], lost);
}

function focusNear(parent, children, index) {
  const child = children[Math.min(index, children.length - 1)];
  const target = child?.matches("button, [tabindex]") ? child : child?.querySelector("button, [tabindex]");
  (target ?? parent.closest("[tabindex]"))?.focus({ preventScroll: true });
}

/** Sets a text only if it differs, so that screen readers do not repeat it. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets or removes an attribute. */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
