// Graphs, drawn.

import { css, theme } from "./color.js";
import { make } from "./dom.js";
import { drawMolecule } from "./molecule.js";
import { number } from "./numbers.js";

/** @import { Attributes, Range, Rgb, Sketch } from "./types.d.ts" */
/** @import { Sketches } from "./sketch.js" */

/**
 * Makes a canvas as sharp as the screen, and gives its context in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function sharp(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas to draw on");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * The colours of a level: nodes that are gathered into others give them their mean.
 * @param {Sketches} sketches
 * @param {Sketch} sketch
 * @param {number} depth
 * @returns {Rgb[]}
 */
function levelColors(sketches, sketch, depth) {
  const key = `${theme.dark} ${depth}`;
  const known = sketch.painted.get(key);
  if (known) return known;
  const below = sketch.levels[depth - 1];
  const colors = below ? meanColors(levelColors(sketches, sketch, depth - 1), below, sketch.levels[depth].n) : Array.from({ length: sketch.levels[0].n }, (_, v) => sketches.color(sketch, v));
  sketch.painted.set(key, colors);
  return colors;
}

/**
 * @param {Rgb[]} colors
 * @param {Sketch["levels"][0]} below
 * @param {number} count
 * @returns {Rgb[]}
 */
function meanColors(colors, { parents, sizes }, count) {
  const sums = Array.from({ length: count }, () => [0, 0, 0, 0]);
  parents?.forEach((parent, v) => {
    const sum = sums[parent];
    for (let c = 0; c < 3; c++) sum[c] += sizes[v] * colors[v][c];
    sum[3] += sizes[v];
  });
  return sums.map(([r, g, b, n]) => [Math.round(r / n), Math.round(g / n), Math.round(b / n)]);
}

/** How far on their way atoms are nodes like any. */
const FADED = 0.3;

/**
 * Draws a graph into a box. `depth` is a level of its pyramid; between two levels, nodes are
 * on their way to their super-node. A molecule is drawn as one until its atoms have left. `ground` is
 * what the box is filled with, where it is.
 * @param {CanvasRenderingContext2D} context
 * @param {Sketches} sketches
 * @param {Sketch} sketch
 * @param {{ width: number, height: number, pad?: number, depth?: number, ground?: string }} box
 */
export function drawGraph(context, sketches, sketch, { width, height, pad = 8, depth = 0, ground }) {
  const low = Math.min(Math.floor(depth), sketch.levels.length - 1);
  const now = sketch.levels[low];
  if (now.n === 0) return;
  const way = low < sketch.levels.length - 1 ? depth - low : 0;
  const span = (/** @type {Range} */ [from, to]) => Math.max(to - from, 2 * sketch.edgeLength);
  const middle = (/** @type {Range} */ [from, to]) => (from + to) / 2;
  // Small graphs are not blown up to fill a large box.
  const scale = Math.min((width - 2 * pad) / span(sketch.x), (height - 2 * pad) / span(sketch.y), 46 / sketch.edgeLength);
  /**
   * @param {Float64Array} own
   * @param {Float64Array | undefined} above
   */
  const along = (own, above) => Float64Array.from(own, (value, v) => (above && now.parents ? value + way * (above[now.parents[v]] - value) : value));
  const next = way > 0 ? sketch.levels[low + 1] : undefined;
  const xs = along(now.x, next?.x).map((value) => width / 2 + scale * (value - middle(sketch.x)));
  const ys = along(now.y, next?.y).map((value) => height / 2 + scale * (value - middle(sketch.y)));

  // A molecule fades into nodes and edges.
  const fresh = low === 0 && sketch.molecule ? Math.min(1, way / FADED) : 1;
  if (sketch.molecule && fresh < 1) {
    context.globalAlpha = 1 - fresh;
    drawMolecule(context, sketches, sketch, { xs, ys, length: scale * sketch.edgeLength, ground });
    context.globalAlpha = 1;
    if (fresh === 0) return;
  }

  // Dense graphs would be black.
  const count = now.edges.length / 2;
  const opacity = Math.min(0.75, Math.max(0.1, 70 / Math.max(1, count))) * (1 - 0.6 * way) * fresh;
  context.strokeStyle = theme.edge;
  context.lineCap = "round";
  const heaviest = now.weights ? now.weights.reduce((a, b) => Math.max(a, b), 1) : 1;
  const base = Math.min(1.3, Math.max(0.5, 0.09 * scale * sketch.edgeLength));
  /** @type {Map<number, Path2D>} */
  const traced = new Map();
  for (let e = 0; e < now.edges.length; e += 2) {
    const share = now.weights ? Math.round((4 * (now.weights[e / 2] - 1)) / heaviest) : 0;
    let path = traced.get(share);
    if (!path) {
      path = new Path2D();
      traced.set(share, path);
    }
    path.moveTo(xs[now.edges[e]], ys[now.edges[e]]);
    path.lineTo(xs[now.edges[e + 1]], ys[now.edges[e + 1]]);
  }
  for (const [share, path] of traced) {
    context.globalAlpha = opacity;
    context.lineWidth = base + 0.55 * share;
    context.stroke(path);
  }
  context.globalAlpha = 1;

  const colors = levelColors(sketches, sketch, low);
  const unit = Math.min(5.5, Math.max(0.9, 0.34 * scale * sketch.edgeLength));
  // Super-nodes are as large as what is pooled into them, as far as there is room.
  const largest = now.sizes.reduce((a, b) => Math.max(a, b), 1);
  const room = Math.min(1, (0.2 * Math.min(width, height)) / (unit * Math.sqrt(largest)));
  const plain = low === 0 && sketch.base === 0;
  const byDegree = !sketches.hasCoordinates && now.largestDegree > 0;
  const order = Array.from(xs.keys());
  if (!plain) order.sort((a, b) => now.sizes[b] - now.sizes[a]);
  for (const v of order) {
    const lively = byDegree ? 0.72 + 0.5 * Math.sqrt(now.degrees[v] / now.largestDegree) : 1;
    const radius = plain ? unit * lively : Math.max(unit, unit * room * Math.sqrt(now.sizes[v]));
    context.beginPath();
    context.arc(xs[v], ys[v], radius, 0, 2 * Math.PI);
    context.fillStyle = css(colors[v], fresh * (plain ? 1 : 0.92));
    context.fill();
    if (radius > 2.4 && fresh === 1) {
      context.lineWidth = Math.min(1, radius / 4);
      context.strokeStyle = theme.sheet;
      context.stroke();
    }
  }
}

/** A canvas with a graph, drawn again when its size changes. */
export class Portrait {
  /**
   * @param {Sketches} sketches
   * @param {Sketch} sketch
   * @param {string} label
   * @param {{ depth?: number, attributes?: Attributes }} options
   */
  constructor(sketches, sketch, label, { depth = 0, attributes = {} } = {}) {
    this.sketches = sketches;
    this.sketch = sketch;
    this.depth = depth;
    this.canvas = make("canvas", { role: "img", "aria-label": label, ...attributes });
    portraits.set(this.canvas, this);
    resized.observe(this.canvas);
  }

  /** Shows another level, or something between two. */
  show(/** @type {number} */ depth) {
    this.depth = depth;
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const context = sharp(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    drawGraph(context, this.sketches, this.sketch, { width, height, pad: Math.min(16, width / 9), depth: this.depth });
  }
}

/** @type {WeakMap<Element, Portrait>} */
const portraits = new WeakMap();
const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => portraits.get(target)?.draw()));

/** Draws all portraits at once, as for paper, which does not wait. */
export function drawPortraits() {
  document.querySelectorAll("canvas").forEach((canvas) => portraits.get(canvas)?.draw());
}

/**
 * What is drawn, where it is not the graph itself.
 * @param {Sketch} sketch
 * @param {number} nodes
 */
export function coarsenedNote(sketch, nodes) {
  const { n, edges } = sketch.levels[0];
  if (sketch.cut && n < nodes) return `Too large to be drawn whole: the ${number(n)} best-connected of ${number(nodes)} nodes.`;
  if (sketch.cut) return `It has too many edges to draw: these are ${number(edges.length / 2)} of them.`;
  if (sketch.base > 0) {
    const times = sketch.base === 1 ? "once" : `${sketch.base} times`;
    return `Too large to be drawn whole: coarsened ${times}, from ${number(nodes)} nodes to ${number(n)}.`;
  }
  return null;
}
