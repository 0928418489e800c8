// Graphs that come as JSON, laid out here.

import { makeLevel, makeSketch } from "./sketch.js";

/** @import { Point, Sketch } from "./types.d.ts" */

/**
 * A line of JSONL, of which only what is drawn matters: see docs/formats.md.
 * @typedef {{
 *   id?: unknown, nodes?: unknown[], n?: number, edges?: [unknown, unknown, ...unknown[]][],
 *   x?: number[][], node_labels?: unknown[],
 * }} JsonGraph
 */

/** The largest graph that is drawn, as sketch.rs has it. */
const MOST_NODES = 600;
const MOST_EDGES = 3000;

/**
 * A sketch of a graph: by its coordinates where graphs of this page have them, else by springs;
 * null where it is too large, or nothing.
 * @param {JsonGraph} graph
 * @param {boolean} hasCoordinates
 * @returns {Sketch | null}
 */
export function sketchOfJson(graph, hasCoordinates) {
  const { n, edges } = numbered(graph);
  if (!n || n > MOST_NODES || edges.length > MOST_EDGES) return null;
  const { x } = graph;
  const known = hasCoordinates && x?.length === n && x.every((row) => row.length >= 2);
  const [px, py] = known ? coordinates(x) : springs(n, edges);
  const level = makeLevel(px, py, new Float64Array(n).fill(1), Uint32Array.from(edges.flat()), null);
  return makeSketch([level], { base: 0, cut: false, codes: null, molecule: null, isGuest: true });
}

/**
 * Nodes as numbers: places in the list of their names, or, without one, those numbers that they are.
 * @param {JsonGraph} graph
 * @returns {{ n: number, edges: Point[] }}
 */
function numbered({ nodes, n = 0, edges = [], x = [], node_labels: labels = [] }) {
  const places = nodes && new Map(nodes.map((name, at) => [JSON.stringify(name), at]));
  const place = (/** @type {unknown} */ name) => (places ? places.get(JSON.stringify(name)) ?? NaN : Number(name));
  const pairs = edges.map(([u, v]) => /** @type {Point} */ ([place(u), place(v)]));
  const highest = pairs.flat().reduce((a, b) => Math.max(a, b), -1);
  const count = nodes?.length ?? Math.max(n, x.length, labels.length, highest + 1);
  return { n: count, edges: pairs.filter(([u, v]) => u !== v) };
}

/**
 * Row and column of three attributes, else x and y, which grows upwards: as places.rs has it.
 * @param {number[][]} x
 * @returns {[Float64Array, Float64Array]}
 */
function coordinates(x) {
  const picture = x[0].length === 3;
  return [Float64Array.from(x, (row) => (picture ? row[1] : row[0])), Float64Array.from(x, (row) => (picture ? row[0] : -row[1]))];
}

/**
 * Fruchterman and Reingold's springs, always from the same circle.
 * @param {number} n
 * @param {Point[]} edges
 * @returns {[Float64Array, Float64Array]}
 */
function springs(n, edges) {
  const px = Float64Array.from({ length: n }, (_, v) => Math.sqrt(n) * Math.cos((2 * Math.PI * v) / n));
  const py = Float64Array.from({ length: n }, (_, v) => Math.sqrt(n) * Math.sin((2 * Math.PI * v) / n));
  const rounds = n > 200 ? 80 : 200;
  for (let round = 0; round < rounds; round++) {
    const [fx, fy] = [new Float64Array(n), new Float64Array(n)];
    for (let u = 0; u < n; u++) {
      for (let v = 0; v < u; v++) {
        const [dx, dy] = [px[u] - px[v], py[u] - py[v]];
        const push = 1 / Math.max(0.01, dx * dx + dy * dy);
        fx[u] += push * dx;
        fy[u] += push * dy;
        fx[v] -= push * dx;
        fy[v] -= push * dy;
      }
    }
    for (const [u, v] of edges) {
      const [dx, dy] = [px[u] - px[v], py[u] - py[v]];
      const pull = Math.hypot(dx, dy);
      fx[u] -= pull * dx;
      fy[u] -= pull * dy;
      fx[v] += pull * dx;
      fy[v] += pull * dy;
    }
    const most = 0.8 * (1 - round / rounds) + 0.01;
    for (let v = 0; v < n; v++) {
      // A little towards the middle, so that parts do not drift away.
      fx[v] -= 0.05 * px[v];
      fy[v] -= 0.05 * py[v];
      const force = Math.hypot(fx[v], fy[v]) || 1;
      px[v] += (fx[v] / force) * Math.min(force, most);
      py[v] += (fy[v] / force) * Math.min(force, most);
    }
  }
  return [px, py];
}
