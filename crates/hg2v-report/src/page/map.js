// The map: every graph a point.

import { byId, reducedMotion } from "./dom.js";
import { contains, spiral } from "./geometry.js";
import { listenToKeys, listenToPointers } from "./map_input.js";
import { paintMap } from "./map_paint.js";

/** @import { Attribute, Guest, MapWatcher, Pack, Point, Rgb, Tool, View } from "./types.d.ts" */
/** @import { Palette } from "./color.js" */
/** @import { Sketches } from "./sketch.js" */

/** Steps of an amount that have a colour of their own, and the step of graphs that have none. */
const STEPS = 64;

/** Points on a canvas, and what is done with them. Tells its watcher what is chosen. */
export class GraphMap {
  /**
   * @param {Pack} pack
   * @param {Attribute[]} attributes
   * @param {Sketches} sketches
   * @param {Palette} palette
   * @param {MapWatcher} watcher
   */
  constructor({ head, arrays }, attributes, sketches, palette, watcher) {
    this.missing = head.missing;
    this.attributes = attributes;
    this.sketches = sketches;
    this.palette = palette;
    this.watcher = watcher;
    this.count = head.shown;
    /** The places of each projection, and those of this moment. */
    this.places = head.projections.map((_, at) => arrays[`place ${at}`]);
    if (!this.places.length) this.places = [spiral(this.count)];
    this.now = Float32Array.from(this.places[0]);
    /** What points are coloured by, and the step of each. */
    this.by = attributes[0];
    this.steps = new Uint8Array(this.count);
    /** Which graphs are not filtered out, and which kinds are. */
    this.shown = new Uint8Array(this.count).fill(1);
    /** @type {Set<number>} */
    this.off = new Set();
    this.chosen = -1;
    this.pointed = -1;
    /** @type {Set<number> | null} */
    this.lassoed = null;
    /** @type {Point[] | null} */
    this.trail = null;
    this.minis = false;
    /** @type {Tool} */
    this.tool = "move";
    /** @type {Guest[]} */
    this.guests = [];
    /** @type {Guest | null} */
    this.guest = null;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.thumbnails = new Map();
    this.canvas = byId("map");
    this.width = 0;
    this.height = 0;
    /** @type {View} */
    this.view = { scale: 1, x: 0, y: 0 };
    /** The next frame of a movement, and the one in which something has changed. */
    this.moving = 0;
    this.asked = 0;
    listenToPointers(this);
    listenToKeys(this);
    this.color(0);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  // Places.

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const first = !this.width;
    [this.width, this.height] = [width, height];
    if (first) this.fit(false);
    this.draw();
  }

  /** Pixels a unit of the map, before any zoom. */
  get unit() {
    return 0.44 * Math.min(this.width, this.height * 1.3);
  }

  /**
   * Where a graph is on the screen.
   * @param {number} index
   */
  screen(index) {
    return this.pixel(this.now[2 * index], this.now[2 * index + 1]);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {Point}
   */
  pixel(x, y) {
    const size = this.unit * this.view.scale;
    return [this.width / 2 + size * (x - this.view.x), this.height / 2 - size * (y - this.view.y)];
  }

  /** Shows everything that is not filtered out. */
  fit(smooth = true) {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.count; i++) {
      if (!this.shown[i]) continue;
      left = Math.min(left, this.now[2 * i]);
      right = Math.max(right, this.now[2 * i]);
      low = Math.min(low, this.now[2 * i + 1]);
      high = Math.max(high, this.now[2 * i + 1]);
    }
    if (left > right) return;
    const room = 0.88;
    const legend = byId("legend");
    const covered = getComputedStyle(legend).position === "absolute" ? legend.offsetLeft + legend.offsetWidth : 0;
    const scale = Math.min(
      (room * (this.width - covered)) / (this.unit * Math.max(right - left, 0.05)),
      (room * this.height) / (this.unit * Math.max(high - low, 0.05)),
      8,
    );
    // In the middle of what the legend leaves free.
    const aside = covered / 2 / (this.unit * scale);
    this.go({ scale, x: (left + right) / 2 - aside, y: (low + high) / 2 }, smooth);
  }

  /**
   * Moves to another view, at once or smoothly.
   * @param {View} view
   */
  go(view, smooth = true) {
    const from = { ...this.view };
    this.animate(smooth ? 260 : 0, (t) => {
      for (const key of /** @type {const} */ (["scale", "x", "y"])) this.view[key] = from[key] + t * (view[key] - from[key]);
    });
  }

  /**
   * Calls `step` with shares of the way, until it is gone.
   * @param {number} duration
   * @param {(share: number) => void} step
   */
  animate(duration, step, end = () => {}) {
    cancelAnimationFrame(this.moving);
    const started = performance.now();
    const frame = (/** @type {number} */ time) => {
      const share = duration && !reducedMotion.matches ? Math.min(1, Math.max(0, (time - started) / duration)) : 1;
      step(share * share * (3 - 2 * share));
      this.paint();
      if (share < 1) this.moving = requestAnimationFrame(frame);
      else end();
    };
    frame(started);
  }

  /** @param {number} factor */
  zoom(factor, x = this.width / 2, y = this.height / 2, smooth = true) {
    const size = this.unit * this.view.scale;
    const at = [this.view.x + (x - this.width / 2) / size, this.view.y - (y - this.height / 2) / size];
    const scale = Math.min(400, Math.max(0.2, this.view.scale * factor));
    const kept = this.view.scale / scale;
    this.go({ scale, x: at[0] + (this.view.x - at[0]) * kept, y: at[1] + (this.view.y - at[1]) * kept }, smooth);
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  move(dx, dy) {
    const size = this.unit * this.view.scale;
    this.view.x -= dx / size;
    this.view.y += dy / size;
    this.draw();
  }

  /**
   * Takes the places of another projection.
   * @param {number} at
   */
  project(at) {
    const from = Float32Array.from(this.now);
    const to = this.places[at];
    this.animate(
      700,
      (t) => {
        for (let i = 0; i < to.length; i++) this.now[i] = from[i] + t * (to[i] - from[i]);
      },
      () => this.fit(),
    );
  }

  // Colours.

  /**
   * Colours points by another attribute.
   * @param {number} at
   */
  color(at) {
    this.by = this.attributes[at];
    this.steps = Uint8Array.from({ length: this.count }, (_, i) => this.stepOf(i));
    this.off.clear();
    this.filter();
    this.thumbnails.clear();
    this.draw();
  }

  /**
   * The kind of a graph, or the step of its amount.
   * @param {number} index
   */
  stepOf(index) {
    const { by } = this;
    if (by.kinds) return by.of[index];
    if (by.of[index] === this.missing) return STEPS;
    return by.to > by.from ? Math.round(((STEPS - 1) * (by.of[index] - by.from)) / (by.to - by.from)) : 31;
  }

  /**
   * The colour and shape that such graphs have.
   * @param {number} step
   * @returns {{ color: Rgb, shape: number }}
   */
  lookOf(step) {
    const { by, palette } = this;
    if (by.kinds) return { color: palette.kind(step), shape: palette.shape(step) };
    return { color: step === STEPS ? palette.neutral : palette.amount(step / (STEPS - 1)), shape: 0 };
  }

  /** Kinds that are switched off are not drawn, and cannot be found by pointing. */
  filter() {
    const { by } = this;
    for (let i = 0; i < this.count; i++) this.shown[i] = by.kinds && this.off.has(by.of[i]) ? 0 : 1;
    if (this.pointed >= 0 && !this.shown[this.pointed]) this.point(-1);
  }

  /**
   * Switches a kind off or on, or all others off; never all of them.
   * @param {number} kind
   */
  toggle(kind, alone = false) {
    const all = (this.by.kinds ?? []).map((_, at) => at);
    if (alone) this.off = new Set(all.filter((other) => other !== kind));
    else if (!this.off.delete(kind)) this.off.add(kind);
    if (this.off.size === all.length) this.off.clear();
    this.filter();
    this.draw();
  }

  showAll() {
    this.off.clear();
    this.filter();
    this.draw();
  }

  // Drawing.

  /** Paints in the next frame, once, however often it is asked for. */
  draw() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  paint() {
    paintMap(this);
    this.watcher.painted();
  }

  get radius() {
    const room = Math.min(1.15, Math.sqrt((this.width * this.height) / 6e5));
    const plain = room * Math.min(6, Math.max(2.3, 112 / Math.sqrt(this.count + 60)));
    return Math.round(2 * Math.min(9, plain * Math.max(0.8, this.view.scale ** 0.3))) / 2;
  }

  // Choosing.

  /**
   * The shown graph nearest to a place on the screen, no farther than `reach`; −1 where there is none.
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   */
  nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    for (let i = 0; i < this.count; i++) {
      if (!this.shown[i]) continue;
      const [u, v] = this.screen(i);
      const apart = (u - x) ** 2 + (v - y) ** 2;
      if (apart < least) [best, least] = [i, apart];
    }
    return best;
  }

  /** @param {number} index */
  point(index, aloud = false) {
    if (index === this.pointed) return;
    this.pointed = index;
    this.watcher.pointed(index, index >= 0 ? this.screen(index) : null, aloud);
    this.draw();
  }

  /** @param {number} index */
  choose(index, { centre = false } = {}) {
    this.chosen = index;
    this.lassoed = null;
    if (index >= 0 && !this.shown[index]) {
      this.off.clear();
      this.filter();
    }
    this.watcher.chosen(index);
    if (index >= 0 && centre) {
      const [x, y] = this.screen(index);
      const inside = x > 40 && y > 40 && x < this.width - 40 && y < this.height - 40;
      if (!inside) this.go({ ...this.view, x: this.now[2 * index], y: this.now[2 * index + 1] });
    }
    this.draw();
  }

  /**
   * Chooses all shown graphs inside a polygon on the screen.
   * @param {Point[]} polygon
   */
  encircle(polygon) {
    /** @type {Set<number>} */
    const inside = new Set();
    for (let i = 0; i < this.count; i++) {
      if (this.shown[i] && contains(polygon, this.screen(i))) inside.add(i);
    }
    this.chosen = -1;
    this.lassoed = inside.size ? inside : null;
    this.watcher.lassoed(this.lassoed);
    this.draw();
  }

  /**
   * Puts a new graph on the map, and shows it; the oldest go where there are too many.
   * @param {Guest} guest
   * @param {number} most
   */
  welcome(guest, most) {
    this.guests = [...this.guests, guest].slice(-most);
    this.guest = guest;
    this.chosen = -1;
    this.lassoed = null;
    this.watcher.welcomed(guest);
    this.draw();
  }

  letGo() {
    this.trail = null;
    this.lassoed = null;
    this.guest = null;
    this.point(-1);
    this.choose(-1);
  }

  /** @param {Tool} tool */
  use(tool) {
    this.tool = tool;
    this.canvas.classList.toggle("lassoing", tool === "lasso");
    this.watcher.tool(tool);
  }

  /**
   * From graph to graph: the nearest within 45° of a direction.
   * @param {number} dx
   * @param {number} dy
   */
  step(dx, dy) {
    const from = this.pointed >= 0 ? this.pointed : this.chosen;
    if (from < 0) {
      this.point(this.nearest(this.width / 2, this.height / 2, Infinity), true);
      return;
    }
    const [x, y] = this.screen(from);
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < this.count; i++) {
      if (i === from || !this.shown[i]) continue;
      const [u, v] = this.screen(i);
      const ahead = (u - x) * dx + (v - y) * dy;
      const aside = Math.abs((u - x) * dy - (v - y) * dx);
      if (ahead <= 0.01 || aside > ahead) continue;
      const cost = ahead + 2 * aside;
      if (cost < least) [best, least] = [i, cost];
    }
    if (best < 0) return;
    const [u, v] = this.screen(best);
    if (u < 20 || v < 20 || u > this.width - 20 || v > this.height - 20) this.move(x - u, y - v);
    this.point(best, true);
  }
}
