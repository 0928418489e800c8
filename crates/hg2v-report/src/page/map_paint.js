// The map, painted.

import { css, theme, traceShape } from "./color.js";
import { drawGraph, sharp } from "./draw.js";

/** @import { Point, Rgb } from "./types.d.ts" */
/** @import { GraphMap } from "./map.js" */

/** Graphs that stay drawn as small pictures. */
const THUMBNAILS = 800;

/** The colour of graphs that somebody put on the map. */
const GUEST = "#d55e00";

/**
 * Paints points, links, rings and the lasso.
 * @param {GraphMap} map
 */
export function paintMap(map) {
  const { width, height, canvas } = map;
  if (!width) return;
  const context = sharp(canvas, width, height);
  context.clearRect(0, 0, width, height);
  const { radius, now, shown, lassoed, count, view } = map;
  // Graph, x and y of each point, one after the other.
  /** @type {number[]} */
  const seen = [];
  /** @type {number[]} */
  const faint = [];
  const size = map.unit * view.scale;
  const [left, top] = [width / 2 - size * view.x, height / 2 + size * view.y];
  for (let i = 0; i < count; i++) {
    if (!shown[i]) continue;
    const [x, y] = [left + size * now[2 * i], top - size * now[2 * i + 1]];
    if (x < -40 || y < -40 || x > width + 40 || y > height + 40) continue;
    (lassoed && !lassoed.has(i) ? faint : seen).push(i, x, y);
  }
  paintPoints(map, context, faint, radius, true);
  paintPoints(map, context, seen, radius, false);
  const visible = (seen.length + faint.length) / 3;
  if (map.minis || (visible <= 70 && view.scale > 1.5)) paintMinis(map, context, seen);
  paintLinks(map, context);
  for (const guest of map.guests) ring(context, map.pixel(guest.x, guest.y), radius + 3, GUEST, true);
  if (map.pointed >= 0) ring(context, map.screen(map.pointed), radius + 3, theme.ring);
  if (map.chosen >= 0) ring(context, map.screen(map.chosen), radius + 4, theme.ring);
  if (map.trail) paintTrail(context, map.trail);
}

/**
 * Points, a few hundred or thousand at a time, of which those that look alike are one
 * path: that is several times faster than a drawing each, and no kind hides all others.
 * @param {GraphMap} map
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} points
 * @param {number} radius
 * @param {boolean} faint
 */
function paintPoints(map, context, points, radius, faint) {
  const fine = points.length / 3 <= 3000 && !faint;
  const some = 3 * (fine ? 150 : 1250);
  for (let from = 0; from < points.length; from += some) {
    /** @type {Map<number, { path: Path2D, color: Rgb, shape: number }>} */
    const alike = new Map();
    for (let p = from; p < Math.min(points.length, from + some); p += 3) {
      const step = map.steps[points[p]];
      let group = alike.get(step);
      if (!group) {
        group = { path: new Path2D(), ...map.lookOf(step) };
        alike.set(step, group);
      }
      traceShape(group.path, group.shape, points[p + 1], points[p + 2], radius);
    }
    for (const { path, color } of alike.values()) {
      context.fillStyle = css(color, faint ? 0.14 : 0.88);
      context.fill(path);
      if (!fine) continue;
      context.lineWidth = radius > 4 ? 1 : 0.6;
      context.strokeStyle = theme.sheet;
      context.stroke(path);
    }
  }
}

/**
 * Lines to the neighbours of the chosen graph, or of the guest that came last.
 * @param {GraphMap} map
 * @param {CanvasRenderingContext2D} context
 */
function paintLinks(map, context) {
  const { chosen, guest } = map;
  if (chosen < 0 && !guest) return;
  const [x, y] = chosen < 0 && guest ? map.pixel(guest.x, guest.y) : map.screen(chosen);
  const neighbors = chosen < 0 && guest ? guest.neighbors : map.watcher.neighbors(chosen);
  context.strokeStyle = theme.ring;
  context.lineWidth = 1.1;
  for (const { graph } of neighbors) {
    if (graph >= map.count || !map.shown[graph]) continue;
    const [u, v] = map.screen(graph);
    context.globalAlpha = 0.55;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(u, v);
    context.stroke();
    context.globalAlpha = 1;
    ring(context, [u, v], map.radius + 1.5, theme.ring);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Point} at
 * @param {number} radius
 * @param {string} color
 */
function ring(context, [x, y], radius, color, filled = false) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (filled) {
    context.fillStyle = color;
    context.fill();
  }
  context.lineWidth = 3.5;
  context.strokeStyle = theme.sheet;
  context.stroke();
  context.lineWidth = 1.7;
  context.strokeStyle = filled ? theme.ring : color;
  context.stroke();
}

/**
 * What the lasso has caught so far.
 * @param {CanvasRenderingContext2D} context
 * @param {Point[]} trail
 */
function paintTrail(context, trail) {
  if (trail.length < 2) return;
  context.beginPath();
  for (const [x, y] of trail) context.lineTo(x, y);
  context.closePath();
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 1;
  context.setLineDash([5, 4]);
  context.lineWidth = 1.6;
  context.strokeStyle = theme.accent;
  context.stroke();
  context.setLineDash([]);
}

/**
 * Small drawings where there is room for them, earlier graphs first.
 * @param {GraphMap} map
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} seen
 */
function paintMinis(map, context, seen) {
  const size = Math.round(Math.min(104, Math.max(46, 0.55 * Math.sqrt((map.width * map.height) / Math.max(1, seen.length / 3)))));
  /** @type {Map<string, Point[]>} */
  const taken = new Map();
  const cell = (/** @type {number} */ x, /** @type {number} */ y) => `${Math.floor(x / size)} ${Math.floor(y / size)}`;
  const free = (/** @type {number} */ x, /** @type {number} */ y) => {
    for (let dx = -1; dx <= 1; dx++)
      for (let dy = -1; dy <= 1; dy++)
        for (const [u, v] of taken.get(cell(x + dx * size, y + dy * size)) ?? [])
          if (Math.abs(u - x) < size + 3 && Math.abs(v - y) < size + 3) return false;
    return true;
  };
  for (let p = 0; p < seen.length; p += 3) {
    const [i, x, y] = [seen[p], seen[p + 1], seen[p + 2]];
    if (!free(x, y)) continue;
    const key = cell(x, y);
    taken.set(key, [...(taken.get(key) ?? []), [x, y]]);
    context.drawImage(thumbnail(map, i, size), x - size / 2, y - size / 2, size, size);
  }
}

/**
 * @param {GraphMap} map
 * @param {number} index
 * @param {number} size
 */
function thumbnail(map, index, size) {
  const key = `${index} ${size}`;
  const known = map.thumbnails.get(key);
  if (known) return known;
  const image = document.createElement("canvas");
  const context = sharp(image, size, size);
  context.beginPath();
  context.roundRect(0.75, 0.75, size - 1.5, size - 1.5, 7);
  context.fillStyle = theme.sheet;
  context.globalAlpha = 0.94;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = css(map.lookOf(map.steps[index]).color);
  context.stroke();
  drawGraph(context, map.sketches, map.sketches.of(index), { width: size, height: size, pad: 6, ground: theme.sheet });
  if (map.thumbnails.size > THUMBNAILS) map.thumbnails.clear();
  map.thumbnails.set(key, image);
  return image;
}
