// Colours of the theme, of kinds and of amounts.

import { makeSvg } from "./dom.js";

/** @import { Rgb } from "./types.d.ts" */

/** Colours that drawing on a canvas needs, as the theme has them now. */
export const theme = { dark: false, sheet: "", edge: "", accent: "", ring: "" };

export function readTheme() {
  const probe = document.body.appendChild(document.createElement("i"));
  for (const name of /** @type {const} */ (["sheet", "edge", "accent", "ring"])) {
    probe.style.color = `var(--${name})`;
    theme[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  theme.dark = isDark();
}

export function isDark() {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @returns {Rgb} */
export const rgb = (/** @type {number} */ code) => [code >> 16, (code >> 8) & 255, code & 255];

export const css = (/** @type {Rgb} */ [r, g, b], opacity = 1) => `rgb(${r} ${g} ${b} / ${opacity})`;

/**
 * The colour that is `share` of the way from one to another.
 * @param {Rgb} from
 * @param {Rgb} to
 * @param {number} share
 * @returns {Rgb}
 */
function mix(from, to, share) {
  const part = (/** @type {0 | 1 | 2} */ at) => Math.round(from[at] + share * (to[at] - from[at]));
  return [part(0), part(1), part(2)];
}

/** Colours and shapes: seven of each shape, which stay apart to every eye. */
export class Palette {
  /**
   * @param {number[]} kinds
   * @param {number[]} amounts
   */
  constructor(kinds, amounts) {
    this.kinds = kinds.map(rgb);
    this.amounts = amounts.map(rgb);
  }

  /**
   * The colour of a kind; on dark ground a little lighter, and the neutral one light.
   * @param {number} index
   * @returns {Rgb}
   */
  kind(index) {
    const at = index % this.kinds.length;
    if (!theme.dark) return this.kinds[at];
    return at === this.kinds.length - 1 ? [205, 205, 205] : mix(this.kinds[at], [255, 255, 255], 0.22);
  }

  /** The shape of a kind: another one when colours begin again. */
  shape(/** @type {number} */ index) {
    return Math.floor(index / this.kinds.length) % SHAPES;
  }

  /** @returns {Rgb} */
  get neutral() {
    return theme.dark ? [130, 137, 145] : [150, 152, 155];
  }

  /** The colour of an amount between 0 and 1: much stands out, little is near the ground. */
  amount(/** @type {number} */ share) {
    const [from, to] = theme.dark ? [0.16, 1] : [0.9, 0];
    const at = (from + (to - from) * Math.min(1, Math.max(0, share))) * (this.amounts.length - 1);
    const low = Math.min(Math.floor(at), this.amounts.length - 2);
    return mix(this.amounts[low], this.amounts[low + 1], at - low);
  }

  /** All amounts side by side, as a background. */
  get gradient() {
    const steps = Array.from({ length: 9 }, (_, at) => css(this.amount(at / 8)));
    return `linear-gradient(to right, ${steps.join(", ")})`;
  }
}

/** Disc, square, triangle, diamond. */
const SHAPES = 4;

/**
 * Adds a mark around a point to a path.
 * @param {Path2D} path
 * @param {number} shape
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export function traceShape(path, shape, x, y, r) {
  if (shape === 1) path.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else if (shape === 2) {
    path.moveTo(x, y - 1.2 * r);
    path.lineTo(x + 1.1 * r, y + 0.8 * r);
    path.lineTo(x - 1.1 * r, y + 0.8 * r);
    path.closePath();
  } else if (shape === 3) {
    path.moveTo(x, y - 1.25 * r);
    path.lineTo(x + 1.25 * r, y);
    path.lineTo(x, y + 1.25 * r);
    path.lineTo(x - 1.25 * r, y);
    path.closePath();
  } else {
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  }
}

/**
 * The same mark for a legend.
 * @param {number} shape
 * @param {Rgb} color
 */
export function shapeIcon(shape, color) {
  const marks = [
    () => makeSvg("circle", { cx: 6.5, cy: 6.5, r: 5 }),
    () => makeSvg("rect", { x: 2, y: 2, width: 9, height: 9 }),
    () => makeSvg("polygon", { points: "6.5,0.800 12,11 1,11" }),
    () => makeSvg("polygon", { points: "6.5,0 13,6.500 6.500,13 0,6.500" }),
  ];
  const icon = makeSvg("svg", { viewBox: "0 0 13 13", "aria-hidden": "true" }, marks[shape]());
  icon.style.color = css(color);
  return icon;
}
