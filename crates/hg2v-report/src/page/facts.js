// What the data is, and what was run.

const tile = (value, name) => make("div", {}, make("b", {}, value), make("span", {}, name));
const pairs = (list) => make("dl", { class: "pairs" }, ...list.filter(([, value]) => value !== null && value !== undefined && value !== "").flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));

function drawData({ head, map, palette }) {
  const { summary } = head;
  const parts = [];
  if (summary) {
    const spread = (of) => (of ? `${amount(of.mean)} (${amount(of.min)} to ${amount(of.max)})` : null);
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
        ["edge labels", summary.edge_labels && `${number(summary.edge_labels.distinct)} different (not used)`],
        ["weights", summary.weights && `${amount(summary.weights.min)} to ${amount(summary.weights.max)}`],
        ["duplicates", summary.duplicates && summary.duplicates.groups ? `${counted(summary.duplicates.graphs, "graph")} in ${counted(summary.duplicates.groups, "group")}` : "none"],
        ["look-alikes", summary.wl_equivalent?.groups ? `${counted(summary.wl_equivalent.graphs, "graph")} that Weisfeiler–Lehman cannot tell from another` : null],
      ]));
    const odd = problems(summary);
    if (odd.length) parts.push(make("h3", {}, "Worth knowing"), make("ul", {}, ...odd.map((text) => make("li", { class: "warn" }, text))));
  }
  const charts = map.attributes.filter(({ name }) => ["nodes", "edges", "density"].includes(name)).map(({ name, of }) => {
    const values = [...of].filter((value) => value !== head.missing);
    return values.some((value) => value !== values[0]) ? histogram(values, `${name[0].toUpperCase()}${name.slice(1)}`, css(palette.kind(0))) : null;
  });
  parts.push(make("div", { class: "small" }, ...charts.filter(Boolean)));
  $("facts").replaceChildren(...parts);
}

/** What had to be resolved, or is odd. */
function problems({ findings, empty_graphs: empty, edgeless_graphs: edgeless, ignored, isolated_nodes: isolated }) {
  const all = [
    [empty, "graph without nodes", "graphs without nodes"],
    [edgeless - empty, "graph without edges", "graphs without edges"],
    [isolated.nodes, "node without neighbours", "nodes without neighbours"],
    [findings.self_loops, "self-loop left out", "self-loops left out"],
    [findings.repeated_edges, "repeated edge merged", "repeated edges merged"],
    [findings.zero_weights, "edge of weight zero left out", "edges of weight zero left out"],
    [findings.negative_weights, "negative weight", "negative weights"],
    [findings.directed_graphs, "directed graph read as undirected", "directed graphs read as undirected"],
  ];
  return [...all.filter(([count]) => count > 0).map(([count, one, many]) => `${number(count)} ${count === 1 ? one : many}`), ...ignored];
}

function drawRun({ head }) {
  const { config, run } = head;
  const parts = [];
  if (config) {
    const { architecture: a, recipe: r, preparation: p, data } = config;
    const words = (value) => (typeof value === "string" ? value.replaceAll("-", " ") : Array.isArray(value) ? value.map(words).join(", ") : value === true ? "yes" : value === false ? "no" : value === null ? "none" : value && typeof value === "object" ? Object.entries(value).map(([key, own]) => `${key.replaceAll("-", " ")} ${words(own)}`).join(", ") : String(value));
    const rest = (object, known) => Object.entries(object).filter(([key]) => !known.includes(key)).map(([key, value]) => [key.replaceAll("_", " "), words(value)]);
    const block = (title, list) => make("div", {}, make("h3", {}, title), pairs(list));
    parts.push(
      block("Trained on", [
        ["graphs", run?.data ?? null],
        ["how many", `${counted(data.graphs, "graph")}, ${counted(data.nodes, "node")}`],
        ["where", run && `${run.device}, ${counted(run.threads, "thread")}`],
        ["training", run && `${amount(run.training_seconds)} s`],
        ["in all", run && `${amount(run.whole_seconds)} s, with reading and coarsening`],
        ["hg2v", config.hg2v],
        ["seed", String(r.seed)],
      ]),
      block("Network", [["dimension d", String(a.dim)], ["hops a", String(a.hops)], ["levels L", String(a.levels)], ...rest(a, ["dim", "hops", "levels"]), ["numbers a graph", head.dim ? number(head.dim) : null]]),
      block("Training", rest(r, ["seed"])),
      block("Coarsening", [...rest(p.coarsening, ["seed"]), ["weights", words(p.weights)]]));
  }
  $("settings").replaceChildren(make("div", { class: "columns" }, ...parts));
  $("run").hidden = !parts.length;
}
