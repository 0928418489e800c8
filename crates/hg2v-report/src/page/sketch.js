// Graphs and their pyramids, unpacked from their sketches: see sketch.rs.

import { rgb, theme } from "./color.js";

/** @import { Atom, Level, NodeColors, Pack, Range, Rgb, Sketch } from "./types.d.ts" */
/** @import { Palette } from "./color.js" */

/** Sketches that are kept unpacked. */
const KEPT = 2000;

/** The sketches of all graphs; each is unpacked when it is first wanted. */
export class Sketches {
  /**
   * @param {Pack} pack
   * @param {Palette} palette
   */
  constructor({ head, arrays }, palette) {
    this.bytes = arrays.sketches;
    this.starts = arrays["sketch starts"];
    this.colors = head.nodeColors;
    this.atoms = head.atoms;
    this.hasCoordinates = head.hasCoordinates;
    this.palette = palette;
    /** @type {Map<number, Sketch>} */
    this.known = new Map();
  }

  /** @param {number} index */
  of(index) {
    let sketch = this.known.get(index);
    if (!sketch) {
      const bytes = this.bytes.subarray(this.starts[index], this.starts[index + 1]);
      sketch = withLetters(readSketch(bytes, this.colors), this.atoms);
      // The oldest go first.
      for (const oldest of this.known.keys()) {
        if (this.known.size < KEPT) break;
        this.known.delete(oldest);
      }
      this.known.set(index, sketch);
    }
    return sketch;
  }

  /**
   * The colour of a node of the first level.
   * @param {Sketch} sketch
   * @param {number} node
   * @returns {Rgb}
   */
  color({ codes, levels, isGuest }, node) {
    const { palette, colors } = this;
    if (isGuest) return palette.kind(0);
    if (!codes || "degree" in colors) {
      const { degrees, largestDegree } = levels[0];
      return palette.amount(largestDegree > 1 ? Math.log(Math.max(1, degrees[node])) / Math.log(largestDegree) : 0.3);
    }
    if ("elements" in colors) return this.elementColor(codes[node]);
    if ("attribute" in colors) return palette.amount(codes[node] / 254);
    return codes[node] === colors.other ? palette.neutral : palette.kind(codes[node]);
  }

  /**
   * The colour of an element by its place among those of the page.
   * @param {number} element
   * @returns {Rgb}
   */
  elementColor(element) {
    const known = "elements" in this.colors ? this.colors.elements[element] : undefined;
    if (!known) return this.palette.neutral;
    return rgb(theme.dark ? known.dark : known.light);
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {NodeColors} colors
 * @returns {Sketch}
 */
function readSketch(bytes, colors) {
  let at = 0;
  const next = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const edges = (/** @type {number} */ count) => {
    const ends = new Uint32Array(2 * count);
    for (let i = 0, u = 0; i < count; i++) {
      u += next();
      ends[2 * i] = u;
      ends[2 * i + 1] = u + next();
    }
    return ends;
  };
  const base = next();
  const cut = next() === 1;
  const n = next();
  const m = next();
  const wide = bytes[at++] === 1;
  const place = () => (wide ? bytes[at++] + 256 * bytes[at++] : bytes[at++]);
  const x = Float64Array.from({ length: n }, place);
  const y = Float64Array.from({ length: n }, place);
  const codes = "degree" in colors ? null : bytes.subarray(at, (at += n));
  const sizes = Float64Array.from({ length: n }, () => (base > 0 ? next() : 1));
  /** @type {[Level, ...Level[]]} */
  const levels = [makeLevel(x, y, sizes, edges(m), null)];
  const isMolecule = "elements" in colors && base === 0 && !cut;
  const molecule = isMolecule ? { atoms: Uint32Array.from({ length: n }, next), lines: bytes.subarray(at, (at += m)) } : null;
  let below = levels[0];
  for (let left = next(); left > 0; left--) {
    const count = next();
    below.parents = Uint32Array.from({ length: below.n }, next);
    const told = next();
    const pooled = pool(below, below.parents, count);
    below = told > 0 ? makeLevel(pooled.x, pooled.y, pooled.sizes, edges(told - 1), null) : pooled;
    levels.push(below);
  }
  return makeSketch(levels, { base, cut, codes, molecule, isGuest: false });
}

/**
 * Leaves room around a molecule for letters that stand at its border: there they grow outwards.
 * @param {Sketch} sketch
 * @param {Atom[]} atoms
 * @returns {Sketch}
 */
function withLetters(sketch, atoms) {
  const { molecule, edgeLength, levels: [level] } = sketch;
  if (!molecule) return sketch;
  const [left, right, high, low] = [level.x.slice(), level.x.slice(), level.y.slice(), level.y.slice()];
  molecule.atoms.forEach((place, v) => {
    const [symbol, hydrogens, charge, isotope] = atoms[place];
    if (symbol === "C" && !charge && !isotope) return;
    // Letters are about a third of a bond wide.
    const letters = symbol.length + Math.min(hydrogens, 2) + (charge ? 1 : 0) + (isotope ? 1 : 0);
    const [wide, tall] = [edgeLength * (0.33 * letters - 0.1), edgeLength * (hydrogens && level.degrees[v] > 1 ? 0.6 : 0.22)];
    right[v] += wide;
    left[v] -= wide;
    low[v] += tall;
    high[v] -= tall;
  });
  const both = (/** @type {Float64Array} */ from, /** @type {Float64Array} */ to) => /** @type {Range} */ ([range(from)[0], range(to)[1]]);
  return { ...sketch, x: both(left, right), y: both(high, low) };
}

/**
 * @param {Float64Array} x
 * @param {Float64Array} y
 * @param {Float64Array} sizes
 * @param {Uint32Array} edges
 * @param {Float64Array | null} weights
 * @returns {Level}
 */
export function makeLevel(x, y, sizes, edges, weights) {
  const degrees = new Uint32Array(x.length);
  for (const end of edges) degrees[end]++;
  const largestDegree = degrees.reduce((a, b) => Math.max(a, b), 0);
  return { n: x.length, x, y, sizes, edges, weights, degrees, largestDegree, parents: null };
}

/**
 * The level above, whose super-nodes stand in the middle of what is pooled into them.
 * @param {Level} below
 * @param {Uint32Array} parents
 * @param {number} count
 */
function pool(below, parents, count) {
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const sizes = new Float64Array(count);
  for (let v = 0; v < below.n; v++) {
    const size = below.sizes[v];
    x[parents[v]] += size * below.x[v];
    y[parents[v]] += size * below.y[v];
    sizes[parents[v]] += size;
  }
  for (let s = 0; s < count; s++) {
    x[s] /= sizes[s];
    y[s] /= sizes[s];
  }
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let e = 0; e < below.edges.length; e += 2) {
    const [a, b] = [parents[below.edges[e]], parents[below.edges[e + 1]]];
    if (a === b) continue;
    const key = Math.min(a, b) * count + Math.max(a, b);
    found.set(key, (found.get(key) ?? 0) + (below.weights ? below.weights[e / 2] : 1));
  }
  const edges = new Uint32Array(2 * found.size);
  const weights = new Float64Array(found.size);
  let at = 0;
  for (const [key, weight] of found) {
    edges[2 * at] = Math.floor(key / count);
    edges[2 * at + 1] = key % count;
    weights[at++] = weight;
  }
  return makeLevel(x, y, sizes, edges, weights);
}

/**
 * Levels, with what all drawings of them share.
 * @param {[Level, ...Level[]]} levels
 * @param {Pick<Sketch, "base" | "cut" | "codes" | "molecule" | "isGuest">} known
 * @returns {Sketch}
 */
export function makeSketch(levels, known) {
  const { x, y, edges, n } = levels[0];
  const lengths = [];
  for (let e = 0; e < edges.length; e += 2) {
    lengths.push(Math.hypot(x[edges[e]] - x[edges[e + 1]], y[edges[e]] - y[edges[e + 1]]));
  }
  lengths.sort((a, b) => a - b);
  const [across, down] = [range(x), range(y)];
  const span = Math.max(across[1] - across[0], down[1] - down[0]);
  const edgeLength = lengths[lengths.length >> 1] || span / Math.max(1, Math.sqrt(n)) || 1;
  return { ...known, levels, x: across, y: down, edgeLength, painted: new Map() };
}

/** @returns {Range} */
function range(/** @type {Float64Array} */ values) {
  if (!values.length) return [0, 0];
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}
