// What the data is, and what was run.

import { histogram } from "./charts.js";
import { css } from "./color.js";
import { byId, make } from "./dom.js";
import { amount, counted, number } from "./numbers.js";

/** @import { Attribute, Head, Settings, Spread, Summary } from "./types.d.ts" */
/** @import { Palette } from "./color.js" */

const tile = (/** @type {string} */ value, /** @type {string} */ name) => make("div", {}, make("b", {}, value), make("span", {}, name));
/**
 * Names and what they stand for; those that stand for nothing are left out.
 * @param {[string, string | null][]} list
 */
function pairs(list) {
  const known = list.flatMap(([name, value]) => (value ? [make("dt", {}, name), make("dd", {}, value)] : []));
  return make("dl", { class: "pairs" }, ...known);
}

/**
 * @param {Head} head
 * @param {Attribute[]} attributes
 * @param {Palette} palette
 */
export function drawData({ summary, missing }, attributes, palette) {
  /** @type {Node[]} */
  const parts = [];
  if (summary) {
    const spread = (/** @type {Spread | null} */ of) => (of ? `${amount(of.mean)} (${amount(of.min)} to ${amount(of.max)})` : null);
    parts.push(
      make("div", { class: "tiles" },
        tile(number(summary.graphs), "graphs"),
        tile(number(summary.nodes), "nodes"),
        tile(number(summary.edges), "edges"),
        summary.classes && tile(number(summary.classes.distinct), "classes"),
        tile(amount(summary.mean_density), "mean density")),
      pairs([
        ["nodes a graph", spread(summary.nodes_per_graph)],
        ["edges a graph", spread(summary.edges_per_graph)],
        ["neighbours a node", spread(summary.degree)],
        ["components", `${number(summary.components.total)}${summary.components.disconnected_graphs ? `, ${counted(summary.components.disconnected_graphs, "graph")} in several` : ""}`],
        ["node attributes", summary.attributes && `${summary.attributes.dim} a node`],
        ["node labels", summary.node_labels && `${number(summary.node_labels.distinct)} different`],
        ["edge labels", summary.edge_labels && `${number(summary.edge_labels.distinct)} different`],
        ["edge attributes", summary.edge_attributes && `${summary.edge_attributes.dim} an edge`],
        ["direction", summary.findings.directed_graphs ? `${counted(summary.findings.directed_graphs, "graph")} directed` : null],
        ["weights", summary.weights && `${amount(summary.weights.min)} to ${amount(summary.weights.max)}`],
        ["as features", summary.features.plan || null],
        ["duplicates", summary.duplicates && summary.duplicates.groups ? `${counted(summary.duplicates.graphs, "graph")} in ${counted(summary.duplicates.groups, "group")}` : "none"],
        ["look-alikes", summary.wl_equivalent?.groups ? `${counted(summary.wl_equivalent.graphs, "graph")} that Weisfeiler–Lehman cannot tell from another` : null],
      ]));
    const odd = problems(summary);
    if (odd.length) parts.push(make("h3", {}, "Worth knowing"), make("ul", {}, ...odd.map((text) => make("li", { class: "warn" }, text))));
  }
  const charts = attributes.filter(({ name }) => ["nodes", "edges", "density"].includes(name)).map(({ name, of }) => {
    const values = [...of].filter((value) => value !== missing);
    return values.some((value) => value !== values[0]) ? histogram(values, `${name[0].toUpperCase()}${name.slice(1)}`, css(palette.kind(0))) : null;
  });
  parts.push(make("div", { class: "small" }, ...charts));
  byId("facts").replaceChildren(...parts);
}

/**
 * What had to be resolved, or is odd.
 * @param {Summary} summary
 */
function problems({ findings, empty_graphs: empty, edgeless_graphs: edgeless, ignored, isolated_nodes: isolated }) {
  /** @type {[number, string, string][]} */
  const all = [
    [empty, "graph without nodes", "graphs without nodes"],
    [edgeless - empty, "graph without edges", "graphs without edges"],
    [isolated.nodes, "node without neighbours", "nodes without neighbours"],
    [findings.self_loops, "self-loop left out", "self-loops left out"],
    [findings.repeated_edges, "repeated edge merged", "repeated edges merged"],
    [findings.parallel_edges, "parallel edge of another kind or direction", "parallel edges of other kinds or directions"],
    [findings.zero_weights, "edge of weight zero left out", "edges of weight zero left out"],
    [findings.negative_weights, "negative weight", "negative weights"],
  ];
  return [...all.filter(([count]) => count > 0).map(([count, one, many]) => `${number(count)} ${count === 1 ? one : many}`), ...ignored];
}

/**
 * A setting in words: names are written with hyphens, and settings may have settings.
 * @param {unknown} value
 * @returns {string}
 */
function words(value) {
  if (typeof value === "string") return value.replaceAll("-", " ");
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null) return "none";
  if (typeof value === "object") return Object.entries(value).map(([key, own]) => `${key.replaceAll("-", " ")} ${words(own)}`).join(", ");
  return String(value);
}

/** @type {Record<string, string>} */
const LETTERS = { dim: "dimension d", hops: "hops a", levels: "levels L" };

/**
 * Settings by their names in words.
 * @param {Settings} settings
 * @returns {[string, string][]}
 */
const named = (settings) =>
  Object.entries(settings).map(([key, value]) => [LETTERS[key] ?? key.replaceAll("_", " "), words(value)]);

/** @param {Head} head */
export function drawRun({ config, run, dim }) {
  byId("run").hidden = !config;
  if (!config) return;
  const { data, method, seed, settings } = config;
  const block = (/** @type {string} */ title, /** @type {[string, string | null][]} */ list) => make("div", {}, make("h3", {}, title), pairs(list));
  const blocks = [
    block("Trained on", [
      ["graphs", run && run.data],
      ["how many", `${counted(data.graphs, "graph")}, ${counted(data.nodes, "node")}`],
      ["where", run && `${run.device}, ${counted(run.threads, "thread")}`],
      ["training", run && `${amount(run.training_seconds)} s`],
      ["in all", run && `${amount(run.whole_seconds)} s, with reading and coarsening`],
      ["method", method],
      ["numbers a graph", dim ? number(dim) : null],
      ["hg2v", config.hg2v],
      ["seed", seed === null ? null : String(seed)],
    ]),
    ...Object.entries(settings).map(([title, own]) => block(title, named(own))),
  ];
  byId("settings").replaceChildren(make("div", { class: "columns" }, ...blocks));
}
