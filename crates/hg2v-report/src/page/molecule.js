// Molecules as chemists draw them: carbon is a corner, all else a letter, bonds are as many lines
// as they have pairs of electrons.

import { css } from "./color.js";

/** @import { Atom, Point, Sketch } from "./types.d.ts" */
/** @import { Sketches } from "./sketch.js" */

/** A letter's size, of a bond's length and in pixels: smaller ones become dots. */
const LETTER = { share: 0.46, least: 7.5, most: 16 };

/** How far apart the lines of a bond are, of its length, and the least number of pixels. */
const APART = { share: 0.16, least: 1.7 };

/** How much shorter a line inside a ring is at each end, of a bond's length. */
const SHORT = 0.13;

/** Lines of a bond, as bond_lines.rs numbers them: their places across it, the outer ones shortened or dashed. */
const LINES = [
  { across: [0] },
  { across: [-0.5, 0.5] },
  { across: [0, 1], short: true },
  { across: [0, -1], short: true },
  { across: [-1, 0, 1] },
  { across: [0, 1], short: true, dashed: true },
  { across: [0, -1], short: true, dashed: true },
];

/**
 * A text of a label beside its atom, in pixels.
 * @typedef {{ text: string, x: number, y: number, size: number }} Piece
 */

/**
 * An atom's letters, and the box around them, both around the atom.
 * @typedef {{ pieces: Piece[], left: number, right: number, top: number, bottom: number }} Label
 */

/**
 * Draws the first level of a molecule, whose atoms are at `xs` and `ys`, and whose bonds are about
 * `length` pixels long. Letters clear what is behind them, or fill it with `ground`.
 * @param {CanvasRenderingContext2D} context
 * @param {Sketches} sketches
 * @param {Sketch} sketch
 * @param {{ xs: Float64Array, ys: Float64Array, length: number, ground: string | undefined }} drawing
 */
export function drawMolecule(context, sketches, sketch, { xs, ys, length, ground }) {
  const { molecule, codes, levels: [level] } = sketch;
  if (!molecule || !codes) return;
  const size = Math.min(LETTER.most, LETTER.share * length);
  const colors = Array.from(codes, (code) => css(sketches.elementColor(code)));
  const labels = labelsOf(context, sketches, sketch, { xs, ys, size });
  context.lineCap = "round";
  context.lineWidth = Math.min(1.7, Math.max(0.8, 0.045 * length));
  for (let e = 0; e < level.edges.length; e += 2) {
    const [u, v] = [level.edges[e], level.edges[e + 1]];
    const ends = /** @type {[Point, Point]} */ ([[xs[u], ys[u]], [xs[v], ys[v]]]);
    drawBond(context, molecule.lines[e / 2], ends, [labels[u], labels[v]], [colors[u], colors[v]], length);
  }
  if (size < LETTER.least) drawDots(context, sketches, sketch, { xs, ys, length, colors });
  labels.forEach((label, v) => {
    if (label) drawLabel(context, label, [xs[v], ys[v]], colors[v], ground);
  });
}

/**
 * The letters of atoms that have some: none where they would be too small.
 * @param {CanvasRenderingContext2D} context
 * @param {Sketches} sketches
 * @param {Sketch} sketch
 * @param {{ xs: Float64Array, ys: Float64Array, size: number }} drawing
 * @returns {(Label | null)[]}
 */
function labelsOf(context, sketches, { molecule, levels: [level] }, { xs, ys, size }) {
  if (!molecule || size < LETTER.least) return Array.from(xs, () => null);
  /** @type {number[][]} */
  const ways = Array.from(xs, () => []);
  for (let e = 0; e < level.edges.length; e += 2) {
    const [u, v] = [level.edges[e], level.edges[e + 1]];
    const way = Math.atan2(ys[v] - ys[u], xs[v] - xs[u]);
    ways[u].push(way);
    ways[v].push(way + Math.PI);
  }
  return Array.from(molecule.atoms, (place, v) => {
    const atom = sketches.atoms[place];
    return isCorner(atom, ways[v].length) ? null : labelOf(context, atom, ways[v], size);
  });
}

/**
 * Whether an atom is drawn without a letter: carbon, unless there is more to say.
 * @param {Atom} atom
 * @param {number} degree
 */
function isCorner([symbol, , charge, isotope], degree) {
  return symbol === "C" && degree > 0 && charge === 0 && isotope === 0;
}

/**
 * An atom's letters. Hydrogens stand where most room is between the bonds that leave it in the directions
 * `ways`: to the right or to the left of an end, else below or above too.
 * @param {CanvasRenderingContext2D} context
 * @param {Atom} atom
 * @param {number[]} ways
 * @param {number} size
 * @returns {Label}
 */
function labelOf(context, [symbol, hydrogens, charge, isotope], ways, size) {
  const small = 0.72 * size;
  const room = (/** @type {number} */ way) => Math.min(Math.PI, ...ways.map((other) => Math.abs(Math.atan2(Math.sin(way - other), Math.cos(way - other)))));
  const sides = [0, Math.PI, ...(ways.length > 1 && hydrogens ? [Math.PI / 2, -Math.PI / 2] : [])];
  const side = sides.reduce((best, way) => (room(way) > room(best) + 0.05 ? way : best));
  const wide = (/** @type {string} */ text, /** @type {number} */ pixels) => {
    context.font = font(pixels);
    return context.measureText(text).width;
  };
  const half = wide(symbol, size) / 2;
  /** @type {Label} */
  const label = { pieces: [{ text: symbol, x: -half, y: 0, size }], left: -half, right: half, top: -0.42 * size, bottom: 0.42 * size };
  const right = (/** @type {string} */ text, /** @type {number} */ pixels, y = 0) => {
    label.pieces.push({ text, x: label.right, y, size: pixels });
    label.right += wide(text, pixels);
  };
  const left = (/** @type {string} */ text, /** @type {number} */ pixels, y = 0) => {
    label.left -= wide(text, pixels);
    label.pieces.push({ text, x: label.left, y, size: pixels });
  };
  const [raised, lowered] = [-0.34 * size, 0.24 * size];
  const count = hydrogens > 1 ? String(hydrogens) : "";
  const signs = charge ? `${Math.abs(charge) > 1 ? Math.abs(charge) : ""}${charge > 0 ? "+" : "−"}` : "";
  if (side === Math.PI && hydrogens === 0) {
    // A charge stands on the side that is free.
    if (isotope) left(String(isotope), small, raised);
    if (signs) left(signs, small, raised);
  } else {
    if (isotope) left(String(isotope), small, raised);
    if (side === 0 && hydrogens) {
      right("H", size);
      if (count) right(count, small, lowered);
    } else if (side === Math.PI) {
      if (count) left(count, small, lowered);
      left("H", size);
    } else if (hydrogens) {
      const y = side > 0 ? 0.92 * size : -0.92 * size;
      const start = -wide("H", size) / 2;
      label.pieces.push({ text: "H", x: start, y, size });
      if (count) label.pieces.push({ text: count, x: -start, y: y + lowered, size: small });
      if (side > 0) label.bottom += 0.88 * size;
      else label.top -= 0.88 * size;
    }
    if (signs) right(signs, small, raised);
  }
  return label;
}

const font = (/** @type {number} */ size) => `600 ${size.toFixed(1)}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

/**
 * How far from an atom a line in a direction leaves the box of its letters.
 * @param {Label | null} label
 * @param {number} dx
 * @param {number} dy
 */
function leaves(label, dx, dy) {
  if (!label) return 0;
  const across = dx > 0 ? label.right / dx : dx < 0 ? label.left / dx : Infinity;
  const down = dy > 0 ? label.bottom / dy : dy < 0 ? label.top / dy : Infinity;
  return Math.min(across, down) + 1.5;
}

/**
 * The lines of a bond, each half in the colour of its atom.
 * @param {CanvasRenderingContext2D} context
 * @param {number} kind
 * @param {[Point, Point]} ends
 * @param {[Label | null, Label | null]} labels
 * @param {[string, string]} colors
 * @param {number} length
 */
function drawBond(context, kind, [[x, y], [u, v]], labels, colors, length) {
  const own = Math.hypot(u - x, v - y);
  if (own < 1e-6) return;
  const [dx, dy] = [(u - x) / own, (v - y) / own];
  const from = Math.min(leaves(labels[0], dx, dy), 0.45 * own);
  const to = own - Math.min(leaves(labels[1], -dx, -dy), 0.45 * own);
  const apart = APART.share * length;
  // Lines that would run together are one.
  const { across, short, dashed } = apart < APART.least ? LINES[0] : LINES[kind] ?? LINES[0];
  for (const place of across) {
    const inner = short && place !== 0 ? SHORT * length : 0;
    const [start, end] = [Math.max(from, labels[0] ? from : inner), Math.min(to, labels[1] ? to : own - inner)];
    const [ox, oy] = [-dy * place * apart, dx * place * apart];
    const point = (/** @type {number} */ way) => /** @type {Point} */ ([x + way * dx + ox, y + way * dy + oy]);
    const middle = point(Math.min(end, Math.max(start, own / 2)));
    if (dashed && place !== 0) context.setLineDash([0.11 * length, 0.11 * length]);
    line(context, point(start), colors[0] === colors[1] ? point(end) : middle, colors[0]);
    if (colors[0] !== colors[1]) line(context, middle, point(end), colors[1]);
    context.setLineDash([]);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Point} from
 * @param {Point} to
 * @param {string} color
 */
function line(context, from, to, color) {
  context.strokeStyle = color;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/**
 * Where letters would be too small: a dot for each atom that has one.
 * @param {CanvasRenderingContext2D} context
 * @param {Sketches} sketches
 * @param {Sketch} sketch
 * @param {{ xs: Float64Array, ys: Float64Array, length: number, colors: string[] }} drawing
 */
function drawDots(context, sketches, { molecule, levels: [level] }, { xs, ys, length, colors }) {
  const radius = Math.max(1.1, 0.2 * length);
  molecule?.atoms.forEach((place, v) => {
    if (isCorner(sketches.atoms[place], level.degrees[v])) return;
    context.fillStyle = colors[v];
    context.beginPath();
    context.arc(xs[v], ys[v], radius, 0, 2 * Math.PI);
    context.fill();
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Label} label
 * @param {Point} at
 * @param {string} color
 * @param {string | undefined} ground
 */
function drawLabel(context, { pieces, left, right, top, bottom }, [x, y], color, ground) {
  // Bonds of other atoms do not cross letters either.
  context.save();
  if (ground) context.fillStyle = ground;
  else context.globalCompositeOperation = "destination-out";
  context.beginPath();
  context.roundRect(x + left - 0.5, y + top - 0.5, right - left + 1, bottom - top + 1, 3);
  context.fill();
  context.restore();
  context.fillStyle = color;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  for (const piece of pieces) {
    context.font = font(piece.size);
    // Capitals are about 0.72 high.
    context.fillText(piece.text, x + piece.x, y + piece.y + 0.36 * piece.size);
  }
}
