// The page: everything put together.

import { Palette, isDark, readTheme, shapeIcon } from "./color.js";
import { byId, make } from "./dom.js";
import { drawGraph, drawPortraits, sharp } from "./draw.js";
import { drawData, drawRun } from "./facts.js";
import { listenToFinder } from "./finder.js";
import { drawLegend } from "./legend.js";
import { Live } from "./live.js";
import { GraphMap } from "./map.js";
import { amount, counted, number } from "./numbers.js";
import { attributesOf } from "./pack.js";
import { Panel } from "./panel.js";
import { drawAccuracy, drawTraining } from "./results.js";
import { Sketches } from "./sketch.js";

/** @import { Neighbor, Pack, Point } from "./types.d.ts" */

/** The size of the drawing beside the pointer. */
const TIP = { width: 186, height: 150 };

/** Projections as people write them. */
const PROJECTIONS = new Map([["pca", "PCA"], ["tsne", "t-SNE"], ["umap", "UMAP"]]);

export class Page {
  /** @param {Pack} pack */
  constructor(pack) {
    const { head, arrays } = pack;
    this.head = head;
    this.arrays = arrays;
    readTheme();
    this.palette = new Palette(head.kindColors, head.amountColors);
    this.sketches = new Sketches(pack, this.palette);
    this.attributes = attributesOf(pack);
    this.classes = this.attribute("class");
    this.sizes = this.attribute("nodes");
    this.edges = this.attribute("edges");
    this.panel = new Panel(this);
    this.map = new GraphMap(pack, this.attributes, this.sketches, this.palette, {
      pointed: (index, at, aloud) => this.pointed(index, at, aloud),
      chosen: () => this.showChosen(),
      lassoed: () => this.showChosen(),
      welcomed: () => this.showChosen(),
      neighbors: (index) => this.neighbors(index),
      tool: (tool) => byId("lasso").setAttribute("aria-pressed", String(tool === "lasso")),
      painted: () => this.corner(),
    });
    this.panel.empty();
    this.lede();
    this.tools();
    this.legend();
    this.sections();
    this.keys();
    if (head.live) new Live(this);
  }

  // What is known of a graph.

  /** @param {string} name */
  attribute(name) {
    return this.attributes.find((attribute) => attribute.name === name) ?? null;
  }

  /** @param {number} graph */
  idOf(graph) {
    return graph < this.head.shown ? this.head.ids[graph] : this.head.absent[graph - this.head.shown][0];
  }

  /** @param {number} graph */
  nodes(graph) {
    return this.sizes?.of[graph] ?? 0;
  }

  /**
   * The class of a graph as a kind; null where classes are amounts, or none.
   * @param {number} graph
   */
  kindOf(graph) {
    return this.classes?.kinds ? this.classes.of[graph] : null;
  }

  /** @param {number} graph */
  className(graph) {
    if (!this.classes) return null;
    const value = this.classes.of[graph];
    return this.classes.kinds ? this.classes.kinds[value] : value === this.head.missing ? null : amount(value);
  }

  /** @param {number} graph */
  size(graph) {
    return `${counted(this.nodes(graph), "node")}, ${counted(this.edges?.of[graph] ?? 0, "edge")}`;
  }

  /** @param {number} graph */
  about(graph) {
    const name = this.className(graph);
    return `${this.head.ids[graph]}${name === null ? "" : `, class ${name}`}, ${this.size(graph)}`;
  }

  /** @param {number} graph */
  chip(graph) {
    const name = this.className(graph);
    if (name === null) return make("p", { class: "chip" }, this.size(graph));
    const kind = this.kindOf(graph);
    const icon = kind === null ? null : shapeIcon(this.palette.shape(kind), this.palette.kind(kind));
    return make("p", { class: "chip" }, icon, `class ${name} · ${this.size(graph)}`);
  }

  /**
   * @param {number} graph
   * @returns {Neighbor[]}
   */
  neighbors(graph) {
    const { neighborsEach, nobody } = this.head;
    const { neighbors, distances } = this.arrays;
    const all = [];
    for (let at = graph * neighborsEach; at < (graph + 1) * neighborsEach; at++) {
      if (neighbors[at] !== nobody) all.push({ graph: neighbors[at], distance: distances[at] });
    }
    return all;
  }

  // Above and on the map.

  lede() {
    const { head } = this;
    const classes = this.classes?.kinds ? `${this.classes.kinds.length} classes` : null;
    byId("lede").textContent = [counted(head.graphs, "graph"), classes, head.dim ? `vectors of ${number(head.dim)} numbers` : null].filter(Boolean).join(" · ");
    const notes = [...head.notes];
    if (head.shown < head.graphs) notes.unshift(`This page shows ${number(head.shown)} of ${number(head.graphs)} graphs, drawn at random so that it stays small; neighbours are found among all of them.`);
    for (const text of notes) document.querySelector("main")?.before(make("p", { class: "note" }, text));
    byId("colophon").textContent = head.live ? `Served by hg2v ${head.version}.` : `Made by hg2v ${head.version}. Everything is in this file; it asks for nothing.`;
  }

  corner() {
    const { map, head } = this;
    const filtered = map.shown.reduce((sum, own) => sum + own, 0);
    const parts = [filtered < head.shown ? `${number(filtered)} of ${counted(head.shown, "graph")}` : counted(head.shown, "graph")];
    if (map.lassoed) parts.push(`${number(map.lassoed.size)} in the lasso`);
    byId("corner").textContent = parts.join(" · ");
  }

  legend() {
    drawLegend(this.map, (text) => this.say(text));
  }

  tools() {
    const { head, map } = this;
    const color = byId("color");
    this.attributes.forEach(({ name }, at) => color.append(make("option", { value: at }, name)));
    color.addEventListener("change", () => {
      map.color(Number(color.value));
      this.legend();
    });
    const projection = byId("projection");
    head.projections.forEach((name, at) => projection.append(make("option", { value: at }, PROJECTIONS.get(name) ?? name)));
    byId("projection-field").hidden = head.projections.length < 2;
    projection.addEventListener("change", () => map.project(Number(projection.value)));
    byId("lasso").addEventListener("click", () => this.lasso());
    byId("minis").addEventListener("click", () => this.minis());
    byId("zoom-in").addEventListener("click", () => map.zoom(1.5));
    byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
    byId("fit").addEventListener("click", () => map.fit());
    byId("theme").addEventListener("click", () => {
      document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
      this.repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    addEventListener("resize", () => drawTraining(head, this.palette));
    addEventListener("beforeprint", () => this.repaintForPaper());
    addEventListener("afterprint", () => this.repaint());
    const about = (/** @type {number} */ graph) => this.about(graph);
    listenToFinder(head.ids, about, (graph) => map.choose(graph, { centre: true }));
  }

  lasso() {
    this.map.use(this.map.tool === "lasso" ? "move" : "lasso");
  }

  minis() {
    this.map.minis = !this.map.minis;
    byId("minis").setAttribute("aria-pressed", String(this.map.minis));
    this.map.draw();
  }

  /** Draws everything again in the colours of the theme. */
  repaint() {
    readTheme();
    this.map.thumbnails.clear();
    this.map.paint();
    this.legend();
    this.sections();
    this.showChosen();
  }

  /** Paper is light, and does not wait for what is drawn later. */
  repaintForPaper() {
    const { dataset } = document.documentElement;
    const chosen = dataset["theme"];
    dataset["theme"] = "light";
    this.repaint();
    drawPortraits();
    if (chosen) dataset["theme"] = chosen;
    else delete dataset["theme"];
  }

  /** What is chosen on the map, beside it. */
  showChosen() {
    const { chosen, lassoed, guest } = this.map;
    if (chosen >= 0) this.panel.graph(chosen);
    else if (lassoed) this.panel.set(lassoed);
    else if (guest) this.panel.guest(guest);
    else this.panel.empty();
  }

  /**
   * The graph that is pointed at, drawn beside it.
   * @param {number} index
   * @param {Point | null} at
   * @param {boolean} aloud
   */
  pointed(index, at, aloud) {
    const tip = byId("tip");
    tip.hidden = !at;
    if (!at) return;
    const { clientWidth: width, clientHeight: height } = byId("stage");
    const name = this.className(index);
    const sketch = this.sketches.of(index);
    const context = sharp(byId("tip-drawing"), TIP.width, TIP.height);
    context.clearRect(0, 0, TIP.width, TIP.height);
    drawGraph(context, this.sketches, sketch, TIP);
    const part = sketch.cut ? ", drawn in part" : sketch.base ? ", drawn coarsened" : "";
    byId("tip-words").replaceChildren(make("b", {}, this.head.ids[index]), name === null ? "" : ` · class ${name}`, make("br"), `${this.size(index)}${part}`);
    const [w, h] = [204, tip.offsetHeight];
    tip.style.left = `${Math.max(4, at[0] + 18 + w < width ? at[0] + 18 : at[0] - 18 - w)}px`;
    tip.style.top = `${Math.max(4, Math.min(height - h - 4, at[1] - h / 2))}px`;
    if (aloud) this.say(this.about(index));
  }

  /**
   * Tells those who do not see the page.
   * @param {string} text
   */
  say(text) {
    byId("status").textContent = text;
  }

  /**
   * @param {string} text
   * @param {string} done
   */
  async copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not where the page is neither a file nor served over TLS.
      const area = document.body.appendChild(make("textarea", { class: "unseen" }));
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.say(done);
  }

  // Below the map.

  sections() {
    drawTraining(this.head, this.palette);
    drawAccuracy(this.head, this.palette);
    drawData(this.head, this.attributes, this.palette);
    drawRun(this.head);
    for (const name of /** @type {const} */ (["training", "accuracy"])) {
      for (const link of document.querySelectorAll(`nav [href="#${name}"]`)) link.toggleAttribute("hidden", byId(name).hasAttribute("hidden"));
    }
  }

  keys() {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === "/") byId("search").focus();
      else if (key === "escape") this.map.letGo();
      else if (key === "l") this.lasso();
      else if (key === "g") this.minis();
      else return;
      event.preventDefault();
    });
  }
}

/**
 * Whether keys are for a field.
 * @param {EventTarget | null} target
 */
function isTyped(target) {
  if (target instanceof HTMLInputElement) return target.type !== "range";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
