// What the colours of points say, and which kinds are shown.

import { shapeIcon } from "./color.js";
import { byId, make } from "./dom.js";
import { amount, number } from "./numbers.js";

/** @import { KindAttribute } from "./types.d.ts" */
/** @import { GraphMap } from "./map.js" */

/**
 * Draws the legend of the map; `say` is told what is switched off or on.
 * @param {GraphMap} map
 * @param {(text: string) => void} say
 */
export function drawLegend(map, say) {
  const { by } = map;
  if (by.kinds) {
    drawKinds(map, by, say);
    return;
  }
  const bar = make("span", { class: "scale" });
  bar.style.background = map.palette.gradient;
  const ends = make("p", { class: "ends" }, make("span", {}, amount(by.from)), make("span", {}, amount(by.to)));
  byId("legend").replaceChildren(make("h3", {}, by.name), bar, ends);
}

/**
 * @param {GraphMap} map
 * @param {KindAttribute} by
 * @param {(text: string) => void} say
 */
function drawKinds(map, { name, kinds, of }, say) {
  const counts = new Uint32Array(kinds.length);
  for (const kind of of) counts[kind]++;
  const switched = (/** @type {() => void} */ change) => () => {
    change();
    update();
  };
  const all = make("button", { type: "button", onclick: switched(() => map.showAll()) }, "all");
  const rows = kinds.map((kind, at) => {
    const look = map.lookOf(at);
    const act = (/** @type {MouseEvent} */ event) => {
      map.toggle(at, event.shiftKey || event.altKey);
      update();
      say(map.off.has(at) ? `${kind} is hidden` : `${kind} is shown`);
    };
    return make(
      "button",
      { type: "button", class: "kind", title: "Show or hide; with Shift, this one alone", onclick: act, ondblclick: switched(() => map.toggle(at, true)) },
      shapeIcon(look.shape, look.color),
      make("span", { title: kind }, kind === "" ? "“”" : kind),
      make("i", {}, number(counts[at])),
    );
  });
  const update = () => {
    rows.forEach((row, at) => row.setAttribute("aria-pressed", String(!map.off.has(at))));
    all.hidden = !map.off.size;
  };
  update();
  byId("legend").replaceChildren(make("h3", {}, name, all), ...rows);
}
