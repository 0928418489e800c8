// Beside the map: the graph that is chosen, or those inside the lasso.

import { css, shapeIcon } from "./color.js";
import { byId, make, reducedMotion } from "./dom.js";
import { Portrait, coarsenedNote } from "./draw.js";
import { amount, counted, number, spreadEvenly } from "./numbers.js";

/** @import { Guest, KindAttribute, Neighbor, Rgb, Sketch } from "./types.d.ts" */
/** @import { Page } from "./page.js" */

/** Elements whose colours are told. */
const MOST_ELEMENTS = 12;

export class Panel {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.element = byId("panel");
  }

  /** @param {(Node | string)[]} children */
  show(...children) {
    this.element.replaceChildren(...children);
    this.element.scrollTop = 0;
  }

  empty() {
    const { head } = this.page;
    const what = head.neighborsEach ? "its nearest graphs, its pyramid" : "its pyramid";
    this.show(
      make("h2", {}, "Choose a graph"),
      make("p", { class: "quiet" }, `Click on a point, or find a graph by its id: here you see how it is built, ${what} and what is known about it.`),
      make("h3", {}, "Some graphs to begin with"),
      this.cards(spreadEvenly(head.shown, 6).map((graph) => ({ graph }))),
      ...this.nodeLegend(),
    );
  }

  /** What the colours of nodes say. */
  nodeLegend() {
    const { sketches, palette } = this.page;
    const { colors } = sketches;
    const chip = (/** @type {string} */ name, /** @type {Rgb} */ color) => make("span", { class: "chip" }, shapeIcon(0, color), name);
    const row = (/** @type {HTMLElement[]} */ chips) => make("p", { class: "chips", style: "display:flex;flex-wrap:wrap;gap:2px 12px" }, ...chips);
    if ("elements" in colors) {
      const chips = colors.elements.slice(0, MOST_ELEMENTS).map(({ name }, at) => chip(name, sketches.elementColor(at)));
      if (colors.elements.length > chips.length) chips.push(make("span", { class: "chip" }, `and ${counted(colors.elements.length - chips.length, "other")}`));
      return [make("h3", {}, "Elements"), row(chips)];
    }
    if ("labels" in colors) {
      const chips = colors.labels.map((name, at) => chip(name, palette.kind(at)));
      if (chips.length > 5) chips.push(chip("others", palette.neutral));
      return [make("h3", {}, "Labels of nodes"), row(chips)];
    }
    const [name, low, high] = "attribute" in colors ? [colors.attribute, amount(colors.from), amount(colors.to)] : ["neighbours", "one", "most"];
    const bar = make("span", { style: `display:inline-block;width:110px;height:10px;border-radius:3px;vertical-align:middle;margin:0 8px;background:${palette.gradient}` });
    return [make("h3", {}, `Colour of nodes: ${name}`), make("p", { class: "quiet" }, low, bar, high)];
  }

  /**
   * Small drawings that lead to their graphs; those of another class than `own` are marked.
   * @param {Neighbor[]} list
   * @param {number | null} own
   */
  cards(list, own = null) {
    return make("div", { class: "near" }, ...list.map((neighbor) => this.card(neighbor, own)));
  }

  /**
   * @param {Neighbor} neighbor
   * @param {number | null} own
   */
  card({ graph, distance }, own) {
    const { head, map, sketches } = this.page;
    const far = distance === undefined ? null : make("span", { class: "distance" }, amount(distance));
    if (graph >= head.shown) {
      const [id, label] = head.absent[graph - head.shown];
      return make("div", { class: "absent", "data-id": id }, make("b", { title: id }, id), make("small", {}, label ?? "", far), make("small", {}, "not on this page"));
    }
    const about = this.page.about(graph);
    const differs = own !== null && own !== this.page.kindOf(graph);
    const name = this.page.className(graph);
    return make(
      "button",
      {
        type: "button",
        class: differs ? "other" : "",
        "data-id": head.ids[graph],
        title: about,
        "aria-label": distance === undefined ? about : `${about}, distance ${amount(distance)}`,
        onclick: () => map.choose(graph, { centre: true }),
        onpointerenter: () => map.point(graph),
        onpointerleave: () => map.point(-1),
      },
      new Portrait(sketches, sketches.of(graph), about).canvas,
      make("b", {}, head.ids[graph]),
      make("small", {}, make("span", {}, name ?? counted(this.page.nodes(graph), "node")), far),
    );
  }

  /**
   * A title with a button that closes what is below it.
   * @param {string} title
   * @param {string} label
   */
  title(title, label) {
    const close = make("button", { type: "button", title: "Let go (Esc)", "aria-label": label, onclick: () => this.page.map.letGo() }, "×");
    return make("div", { class: "head" }, make("h2", {}, title), close);
  }

  /**
   * A graph of the map.
   * @param {number} index
   */
  graph(index) {
    const { head, map, sketches } = this.page;
    const sketch = sketches.of(index);
    const nodes = this.page.nodes(index);
    const list = [];
    for (const { name, kinds, of } of map.attributes) {
      const value = of[index];
      if (!kinds && value === head.missing) continue;
      list.push(make("dt", {}, name), make("dd", {}, kinds ? kinds[value] : amount(value)));
    }
    const large = new Portrait(sketches, sketch, this.page.about(index), { attributes: { class: "portrait" } });
    const note = coarsenedNote(sketch, nodes);
    const neighbors = this.page.neighbors(index);
    const kind = this.page.kindOf(index);
    /** @type {Node[]} */
    const parts = [this.title(head.ids[index], "Let go of this graph"), this.page.chip(index), large.canvas];
    if (note) parts.push(make("p", { class: "quiet" }, note));
    const [slide, ...levels] = this.pyramid(sketch, large);
    parts.push(slide);
    if (neighbors.length) {
      const other = kind !== null && neighbors.some(({ graph }) => graph < head.shown && this.page.kindOf(graph) !== kind);
      parts.push(
        make("h3", {}, neighbors.length === 1 ? "The nearest graph" : `The ${["", "", "two", "three", "four", "five", "six"][neighbors.length] ?? neighbors.length} nearest graphs`),
        this.cards(neighbors, kind),
        make("p", { class: "quiet" }, `Distance: ${head.metric}.${other ? " Dashed: of another class." : ""}`),
      );
    }
    parts.push(...levels, make("h3", {}, "About it"), make("dl", { class: "pairs" }, ...list), ...this.nodeLegend());
    this.show(...parts);
    this.page.say(`${this.page.about(index)} is chosen. ${neighbors.length ? `Its nearest graphs: ${neighbors.map(({ graph }) => this.page.idOf(graph)).join(", ")}.` : ""}`);
  }

  /**
   * A slide between the levels of a pyramid, which `large` shows, and the levels side by side.
   * @param {Sketch} sketch
   * @param {Portrait} large
   * @returns {[HTMLElement, ...HTMLElement[]]}
   */
  pyramid(sketch, large) {
    const { sketches } = this.page;
    if (sketch.levels.length < 2) {
      return [make("p", { class: "quiet" }, "Nothing is left to coarsen in it.")];
    }
    const last = sketch.levels.length - 1;
    const name = (/** @type {number} */ depth) => (depth + sketch.base === 0 ? "the graph" : `level ${depth + sketch.base}`);
    const slider = make("input", { type: "range", min: 0, max: last, step: 0.01, value: 0, "aria-label": "Level of coarsening" });
    const said = make("output", {}, counted(sketch.levels[0].n, "node"));
    const show = (/** @type {number} */ depth) => {
      large.show(depth);
      const at = Math.round(depth);
      said.textContent = counted(sketch.levels[at].n, "node");
      slider.setAttribute("aria-valuetext", `${name(at)}, ${said.textContent}`);
      buttons.forEach((button, level) => button.setAttribute("aria-pressed", String(level === at)));
    };
    let running = 0;
    const slide = (/** @type {number} */ to) => {
      cancelAnimationFrame(running);
      const from = Number(slider.value);
      const started = performance.now();
      const time = reducedMotion.matches ? 0 : 450 * Math.max(1, Math.abs(to - from));
      const frame = (/** @type {number} */ now) => {
        const share = time ? Math.min(1, Math.max(0, (now - started) / time)) : 1;
        slider.value = String(from + share * (to - from));
        show(share === 1 ? to : Number(slider.value));
        if (share < 1) running = requestAnimationFrame(frame);
      };
      frame(started);
    };
    slider.addEventListener("input", () => {
      cancelAnimationFrame(running);
      show(Number(slider.value));
    });
    const buttons = sketch.levels.map((level, depth) =>
      make(
        "button",
        { type: "button", "aria-pressed": String(depth === 0), onclick: () => slide(depth) },
        new Portrait(sketches, sketch, `${name(depth)}: ${counted(level.n, "node")}`, { depth }).canvas,
        make("small", {}, name(depth), make("br"), counted(level.n, "node")),
      ),
    );
    return [
      make("div", { class: "slide" }, make("button", { type: "button", title: "Coarsen it step by step", onclick: () => slide(Number(slider.value) > last - 0.5 ? 0 : last) }, "Coarsen"), slider, said),
      make("h3", {}, "Its pyramid"),
      make("div", { class: "levels", tabindex: 0, role: "group", "aria-label": "Levels of the pyramid" }, ...buttons),
    ];
  }

  /**
   * A graph that somebody put on the map, beside its nearest.
   * @param {Guest} guest
   */
  guest({ name, sketch, neighbors }) {
    /** @type {Node[]} */
    const parts = [this.title(name, "Let go of this graph")];
    if (sketch) parts.push(new Portrait(this.page.sketches, sketch, name, { attributes: { class: "portrait" } }).canvas);
    this.show(...parts, make("h3", {}, "Its nearest graphs"), this.cards(neighbors));
    this.page.say(`${name} is on the map. Its nearest graphs: ${neighbors.map(({ graph }) => this.page.idOf(graph)).join(", ")}.`);
  }

  /**
   * How many of some graphs are of which kind.
   * @param {number[]} graphs
   * @param {KindAttribute} attribute
   */
  shares(graphs, { name, kinds, of }) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const graph of graphs) counts.set(of[graph], (counts.get(of[graph]) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const rows = [...counts].sort((a, b) => b[1] - a[1]).flatMap(([kind, count]) => {
      const bar = make("i");
      bar.style.cssText = `width:${(100 * count) / most}%;background:${css(this.page.palette.kind(kind))}`;
      return [make("span", {}, kinds[kind]), bar, make("em", {}, `${number(count)} (${number((100 * count) / graphs.length, 1)} %)`)];
    });
    return [make("h3", {}, `By ${name}`), make("div", { class: "bar" }, ...rows)];
  }

  /**
   * What is inside the lasso.
   * @param {Set<number>} chosen
   */
  set(chosen) {
    const { head, map } = this.page;
    const all = [...chosen];
    const means = map.attributes.filter((attribute) => !attribute.kinds).slice(0, 5).flatMap((attribute) => {
      const values = all.map((graph) => attribute.of[graph]).filter((value) => value !== head.missing);
      if (!values.length) return [];
      return [make("dt", {}, attribute.name), make("dd", {}, amount(values.reduce((a, b) => a + b, 0) / values.length))];
    });
    const listed = all.slice(0, 300);
    const ids = all.map((graph) => head.ids[graph]);
    const copy = make("button", { type: "button", onclick: () => this.page.copy(ids.join("\n"), `${counted(ids.length, "id")} copied`) }, "Copy ids");
    this.show(
      this.title(counted(all.length, "graph"), "Let go of these graphs"),
      ...(map.by.kinds ? this.shares(all, map.by) : []),
      make("h3", {}, "On average"),
      make("dl", { class: "pairs" }, ...means),
      make("h3", {}, "Some of them"),
      this.cards(spreadEvenly(all.length, 6).map((at) => ({ graph: all[at] }))),
      make("h3", {}, all.length > listed.length ? `The first ${listed.length} ids` : "Their ids"),
      make("div", { class: "ids" }, ...listed.map((graph) => make("button", { type: "button", onclick: () => map.choose(graph, { centre: true }) }, head.ids[graph]))),
      make("p", { style: "margin-top:8px" }, copy),
    );
    this.page.say(`${counted(all.length, "graph")} inside the lasso.`);
  }
}
