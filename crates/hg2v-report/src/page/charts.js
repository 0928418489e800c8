// Charts: losses, accuracies, confusions, sizes.

/** Round steps that divide a range into about `wanted` parts. */
function ticks(from, to, wanted = 4) {
  const raw = (to - from) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= raw * 0.999);
  const all = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + 1e-9 * step; at += step) all.push(Number(at.toPrecision(12)));
  return all;
}

/** Lines over a common x, each named at its end. */
function lineChart({ xs, lines, xName, yName, label, palette, width }) {
  const [height, left, right, top, bottom] = [Math.min(270, 0.62 * width), 54, 64, 20, 36];
  const values = lines.flatMap(({ ys }) => ys).filter((y) => y !== null);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const pad = 0.06 * (high - low);
  [low, high] = [low - pad, high + pad];
  const [first, last] = [xs[0], xs.at(-1)];
  const x = (value) => left + ((width - left - right) * (value - first)) / (last - first || 1);
  const y = (value) => top + ((height - top - bottom) * (high - value)) / (high - low);
  const parts = [];
  for (const tick of ticks(low, high)) {
    parts.push(make("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), make("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, amount(tick)));
  }
  for (const tick of ticks(first, last, 8).filter(Number.isInteger)) parts.push(make("text", { x: x(tick), y: height - bottom + 17, "text-anchor": "middle" }, number(tick)));
  parts.push(make("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, xName), make("text", { x: 0, y: 11, "text-anchor": "start" }, yName));
  // Names at the ends, moved apart where lines end together.
  const ends = lines.map(({ ys }, at) => ({ at, y: y(ys.findLast((value) => value !== null)) })).sort((a, b) => a.y - b.y);
  ends.forEach((end, rank) => (end.y = rank ? Math.max(end.y, ends[rank - 1].y + 16) : end.y));
  for (const { at, y: place } of ends) {
    const { name, ys } = lines[at];
    const color = css(palette.kind(at));
    const points = ys.map((value, i) => (value === null ? null : `${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
    parts.push(
      make("polyline", { points: points.join(" "), fill: "none", stroke: color, "stroke-width": 2.2, "stroke-linejoin": "round", "stroke-linecap": "round" }),
      ...ys.map((value, i) => (value === null ? null : make("circle", { cx: x(xs[i]), cy: y(value), r: xs.length > 40 ? 0 : 3, fill: color }, make("title", {}, `${name}: ${amount(value)}`)))).filter(Boolean),
      make("text", { x: width - right + 10, y: place + 4, class: "strong", style: `fill:${color}` }, name),
    );
  }
  return make("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);
}

/** How many graphs have how much of something. */
function histogram(values, name, color) {
  const [width, height, bottom] = [180, 78, 18];
  const { from, to } = bounds(values, NaN);
  const bins = Math.max(1, Math.min(30, to > from && values.every(Number.isInteger) ? to - from + 1 : 30));
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, to > from ? Math.floor((bins * (value - from)) / (to - from)) : 0)]++;
  const most = Math.max(...counts, 1);
  const each = width / bins;
  const bars = counts.map((count, at) => {
    const tall = count ? Math.max(1.5, ((height - bottom - 4) * count) / most) : 0;
    return make("rect", { x: at * each, y: height - bottom - tall, width: Math.max(1, each - 1), height: tall, rx: 1.5, fill: color });
  });
  const text = (x, anchor, words) => make("text", { x, y: height - 5, "text-anchor": anchor }, words);
  const label = `${name}: from ${amount(from)} to ${amount(to)}`;
  return make("figure", {}, make("h3", {}, name), make("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, make("line", { class: "axis", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }), ...bars, text(0, "start", amount(from)), text(width, "end", amount(to))));
}

/** The loss of each level, epoch by epoch. */
function drawTraining({ log, config, run }, palette) {
  if (!log.length) return;
  $("training").hidden = false;
  const levels = Math.max(...log.map(({ levels }) => levels.length));
  const total = ({ positive, negative }) => positive + negative;
  const lines = Array.from({ length: levels }, (_, at) => ({
    name: `level ${at + 1}`,
    ys: log.map(({ levels }) => (levels[at] ? total(levels[at]) : null)),
  }));
  const last = log.at(-1);
  const time = run?.training_seconds ?? last.seconds;
  const rates = log.length > 1 ? `, the learning rate falling from ${amount(log[0].rate)} to ${amount(last.rate)}` : "";
  const what = `${counted(last.epoch, "epoch")} in ${amount(time)} s${rates}.`;
  $("loss").replaceChildren(
    make("p", { class: "quiet", style: "max-width:70ch;margin-bottom:10px" }, `How well a node's neighbourhood is told from others by its super-node, without labels: the loss of each level, averaged over an epoch. ${what}`),
    lineChart({ width: Math.min(760, Math.max(280, $("loss").clientWidth)), xs: log.map(({ epoch }) => epoch), lines, xName: "epoch", yName: "loss", palette, label: `Loss of ${counted(levels, "level")} over ${counted(log.length, "epoch")}: ${lines.map(({ name, ys }) => `${name} from ${amount(ys[0])} to ${amount(ys.at(-1))}`).join(", ")}` }),
  );
}

const MODES = {
  inductive: "80/20 splits, the model trained on the 80 alone, without labels",
  transductive: "80/20 splits, the model trained on all graphs, without labels",
  tenfold: "folds, the model trained on all graphs, without labels",
};

const percent = ({ mean, std }) => `${(100 * mean).toFixed(1)} ± ${(100 * std).toFixed(1)}`;

/** Accuracies with their spread, beside controls, and who was taken for whom. */
function drawAccuracy({ evaluation }, palette) {
  if (!evaluation) return;
  $("accuracy").hidden = false;
  const { methods, majority, mode, splits, graphs, classes, seed } = evaluation;
  const tests = methods.flatMap(({ result }) => result.splits.map(({ test }) => test));
  const low = Math.max(0, Math.min(...tests, majority) - 0.04);
  const high = Math.min(1, Math.max(...tests, majority) + 0.03);
  const width = 300;
  const x = (value) => (width * (value - low)) / (high - low || 1);
  const plot = ({ result }, at) => {
    const color = css(palette.kind(at));
    const { mean, std } = result.test;
    return make("svg", { viewBox: `-6 0 ${width + 12} 26`, width: 210, height: 20, role: "img", "aria-label": `accuracy of ${result.splits.length} splits` },
      make("line", { class: "axis", x1: 0, x2: width, y1: 13, y2: 13, stroke: "var(--line)" }),
      make("line", { x1: x(majority), x2: x(majority), y1: 2, y2: 24, stroke: "var(--soft)", "stroke-dasharray": "2 3" }),
      make("line", { x1: x(Math.max(low, mean - std)), x2: x(Math.min(high, mean + std)), y1: 13, y2: 13, stroke: color, "stroke-width": 5, "stroke-opacity": 0.35, "stroke-linecap": "round" }),
      ...result.splits.map(({ test }) => make("circle", { cx: x(test), cy: 13, r: 3, fill: color, "fill-opacity": 0.45 })),
      make("circle", { cx: x(mean), cy: 13, r: 5, fill: color, stroke: "var(--sheet)", "stroke-width": 1.5 }));
  };
  const row = (method, at) => {
    const { name, result } = method;
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, percent(result.test)), make("td", { class: "number" }, percent(result.validation)), make("td", {}, plot(method, at)), make("td", { class: "number" }, result.dim ? number(result.dim) : "–"));
  };
  const further = methods.flatMap(({ name, result }) => (result.also ?? []).map(({ classifier, test, validation }) =>
    make("tr", {}, make("td", {}, `${name}, ${String(classifier).replaceAll("-", " ")}`), make("td", { class: "number" }, percent(test)), make("td", { class: "number" }, percent(validation)))));
  const table = make("table", {},
    make("thead", {}, make("tr", {}, ...["method", "test, %", "validation, %", "", "dim"].map((name, at) => make("th", { scope: "col", class: at && at !== 3 ? "number" : null }, name)))),
    make("tbody", {}, ...methods.map(row), ...further, make("tr", {}, make("td", {}, "largest class"), make("td", { class: "number" }, (100 * majority).toFixed(1)))));
  const protocol = `${counted(graphs, "graph")}, ${classes.length} classes; mean ± deviation over ${splits} ${MODES[mode] ?? mode}; a C-SVM, settings chosen by 5-fold cross-validation inside the training part; seed ${seed}. Small discs: single splits. Dotted: the largest class.`;
  const holder = make("div");
  const judged = methods.filter(({ confusion }) => confusion);
  const parts = [make("div", {}, make("div", { class: "scroll" }, table), make("p", { class: "quiet", style: "max-width:66ch;margin-top:8px" }, protocol))];
  if (judged.length) {
    const choice = make("select", { "aria-label": "Method", onchange: () => holder.replaceChildren(confusionTable(judged[choice.selectedIndex], classes, palette)) }, ...judged.map(({ name }) => make("option", {}, name)));
    holder.append(confusionTable(judged[0], classes, palette));
    parts.push(make("div", {}, make("h3", { style: "margin-top:0" }, "Who is taken for whom"), make("p", { class: "field", style: "margin-bottom:8px" }, choice), holder));
  }
  $("scores").replaceChildren(make("div", { class: "two" }, ...parts));
}

/** Rows are true classes, columns what they were taken for; shares of a row. */
function confusionTable({ name, confusion }, classes, palette) {
  const names = confusion.classes.map((at) => String(classes[at]));
  const cell = (count, whole, same) => {
    const share = whole ? count / whole : 0;
    const color = palette.kind(same ? 0 : 1);
    const style = `background:${css(color, share ? 0.08 + 0.86 * share : 0)};color:${share > 0.55 && !theme.dark ? "#fff" : "inherit"}`;
    return make("td", { style, title: `${number(count)} of ${number(whole)}` }, count ? number(100 * share, share < 0.1 ? 1 : 0) : "·");
  };
  const rows = confusion.counts.map((counts, at) => {
    const whole = counts.reduce((a, b) => a + b, 0);
    return make("tr", {}, make("th", { scope: "row", title: names[at] }, names[at]), ...counts.map((count, other) => cell(count, whole, other === at)));
  });
  return make("div", { class: "scroll" },
    make("table", { class: "confusion" }, make("caption", { class: "unseen" }, `Confusion of ${name}, percent of each true class`), make("thead", {}, make("tr", {}, make("th", {}, ""), ...names.map((n) => make("th", { scope: "col" }, n)))), make("tbody", {}, ...rows)),
    make("p", { class: "quiet", style: "margin-top:6px" }, "Rows: the true class. Columns: what it was taken for, in percent of the row, over the test parts of all splits."));
}
