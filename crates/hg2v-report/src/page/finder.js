// Graphs found by their id.

import { byId, make } from "./dom.js";

/** Graphs that are offered. */
const MOST = 8;

/**
 * Lets the box find graphs: `about` tells of one, `choose` takes it.
 * @param {string[]} ids
 * @param {(graph: number) => string} about
 * @param {(graph: number) => void} choose
 */
export function listenToFinder(ids, about, choose) {
  const [input, list] = [byId("search"), byId("matches")];
  const lower = ids.map((id) => id.toLowerCase());
  /** @type {number[]} */
  let found = [];
  let active = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
    if (found.length) input.setAttribute("aria-activedescendant", `match-${active}`);
  };
  const take = (/** @type {number} */ at) => {
    const graph = found[at];
    if (graph === undefined) return;
    close();
    input.value = ids[graph];
    choose(graph);
  };
  /**
   * @param {number} graph
   * @param {number} at
   */
  const item = (graph, at) => {
    const press = (/** @type {Event} */ event) => {
      event.preventDefault();
      take(at);
    };
    return make("li", { id: `match-${at}`, role: "option", onpointerdown: press }, about(graph));
  };
  input.addEventListener("input", () => {
    found = search(lower, input.value);
    active = 0;
    if (!input.value.trim()) {
      close();
      return;
    }
    const items = found.map(item);
    list.replaceChildren(...(items.length ? items : [make("li", { class: "none" }, "No graph has such an id")]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take(active);
    else if (event.key === "Escape") {
      input.value = "";
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length);
      mark();
      event.preventDefault();
    }
  });
  input.addEventListener("blur", close);
}

/**
 * Graphs by id: the same, then those that begin so, then those that have it inside.
 * @param {string[]} ids in small letters
 * @param {string} text
 */
function search(ids, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  /** @type {[number[], number[], number[]]} */
  const [same, begin, inside] = [[], [], []];
  ids.forEach((id, at) => {
    if (id === wanted) same.push(at);
    else if (id.startsWith(wanted)) begin.push(at);
    else if (id.includes(wanted)) inside.push(at);
  });
  return [...same, ...begin, ...inside].slice(0, MOST);
}
