// Changes of a tree: a variation becomes the main line, or is deleted.

/** Whether a node is part of the main line. */
export function isMain(node) {
  for (let at = node; at.parent; at = at.parent) if (at.parent.children[0] !== at) return false;
  return true;
}

/** Makes the line of a node the main line. */
export function promote(node) {
  for (let at = node; at.parent; at = at.parent) {
    const { children } = at.parent;
    at.parent.children = [at, ...children.filter((child) => child !== at)];
  }
}

/** Removes a node and all that follows it. Returns its parent. */
export function remove(node) {
  node.parent.children = node.parent.children.filter((child) => child !== node);
  return node.parent;
}
