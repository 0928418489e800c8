// Charts: lines and histograms.

import { css } from "./color.js";
import { make, makeSvg } from "./dom.js";
import { amount, bounds, number } from "./numbers.js";

/** @import { Palette } from "./color.js" */

/**
 * @typedef {{ name: string, ys: (number | null)[] }} Line null where it has no value
 */

/**
 * Round steps that divide a range into about `wanted` parts.
 * @param {number} from
 * @param {number} to
 */
function ticks(from, to, wanted = 4) {
  const raw = (to - from) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= raw * 0.999) ?? raw;
  const all = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + 1e-9 * step; at += step) all.push(Number(at.toPrecision(12)));
  return all;
}

/**
 * Lines over a common x, each named at its end.
 * @param {{ xs: number[], lines: Line[], xName: string, yName: string, label: string, palette: Palette, width: number }} chart
 */
export function lineChart({ xs, lines, xName, yName, label, palette, width }) {
  const [height, left, right, top, bottom] = [Math.min(270, 0.62 * width), 54, 64, 20, 36];
  const values = lines.flatMap(({ ys }) => ys).filter((y) => y !== null);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const pad = 0.06 * (high - low);
  [low, high] = [low - pad, high + pad];
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const x = (/** @type {number} */ value) => left + ((width - left - right) * (value - first)) / (last - first || 1);
  const y = (/** @type {number} */ value) => top + ((height - top - bottom) * (high - value)) / (high - low);
  const parts = [];
  for (const tick of ticks(low, high)) {
    parts.push(makeSvg("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), makeSvg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, amount(tick)));
  }
  for (const tick of ticks(first, last, 8).filter(Number.isInteger)) parts.push(makeSvg("text", { x: x(tick), y: height - bottom + 17, "text-anchor": "middle" }, number(tick)));
  parts.push(makeSvg("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, xName), makeSvg("text", { x: 0, y: 11, "text-anchor": "start" }, yName));
  // Names at the ends, moved apart where lines end together.
  const ends = lines.map(({ ys }, at) => ({ at, y: y(ys.findLast((value) => value !== null) ?? low) })).sort((a, b) => a.y - b.y);
  ends.forEach((end, rank) => (end.y = rank ? Math.max(end.y, ends[rank - 1].y + 16) : end.y));
  for (const { at, y: place } of ends) {
    const { name, ys } = lines[at];
    const color = css(palette.kind(at));
    const points = ys.map((value, i) => (value === null ? null : `${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
    parts.push(
      makeSvg("polyline", { points: points.join(" "), fill: "none", stroke: color, "stroke-width": 2.2, "stroke-linejoin": "round", "stroke-linecap": "round" }),
      ...ys.map((value, i) => (value === null ? null : makeSvg("circle", { cx: x(xs[i]), cy: y(value), r: xs.length > 40 ? 0 : 3, fill: color }, makeSvg("title", {}, `${name}: ${amount(value)}`)))).filter(Boolean),
      makeSvg("text", { x: width - right + 10, y: place + 4, class: "strong", style: `fill:${color}` }, name),
    );
  }
  return makeSvg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);
}

/**
 * How many graphs have how much of something.
 * @param {number[]} values
 * @param {string} name
 * @param {string} color
 */
export function histogram(values, name, color) {
  const [width, height, bottom] = [180, 78, 18];
  const { from, to } = bounds(values);
  const bins = Math.max(1, Math.min(30, to > from && values.every(Number.isInteger) ? to - from + 1 : 30));
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, to > from ? Math.floor((bins * (value - from)) / (to - from)) : 0)]++;
  const most = Math.max(...counts, 1);
  const each = width / bins;
  const bars = counts.map((count, at) => {
    const tall = count ? Math.max(1.5, ((height - bottom - 4) * count) / most) : 0;
    return makeSvg("rect", { x: at * each, y: height - bottom - tall, width: Math.max(1, each - 1), height: tall, rx: 1.5, fill: color });
  });
  const text = (/** @type {number} */ x, /** @type {string} */ anchor, /** @type {string} */ words) => makeSvg("text", { x, y: height - 5, "text-anchor": anchor }, words);
  const label = `${name}: from ${amount(from)} to ${amount(to)}`;
  return make("figure", {}, make("h3", {}, name), makeSvg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, makeSvg("line", { class: "axis", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }), ...bars, text(0, "start", amount(from)), text(width, "end", amount(to))));
}
