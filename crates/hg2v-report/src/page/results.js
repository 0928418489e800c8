// What training and evaluation gave.

import { lineChart } from "./charts.js";
import { css, theme } from "./color.js";
import { byId, make, makeSvg } from "./dom.js";
import { amount, counted, number } from "./numbers.js";

/** @import { Confusion, Evaluation, Head, Judgement, LogLine, Score } from "./types.d.ts" */
/** @import { Palette } from "./color.js" */

/**
 * The loss of each level, epoch by epoch.
 * @param {Head} head
 * @param {Palette} palette
 */
export function drawTraining({ log, run }, palette) {
  const last = log.at(-1);
  if (!last) return;
  byId("training").hidden = false;
  const depth = Math.max(...log.map(({ levels }) => levels?.length ?? 0));
  const total = (/** @type {LogLine} */ { levels }, /** @type {number} */ at) => (levels?.[at] ? levels[at].positive + levels[at].negative : null);
  const levels = Array.from({ length: depth }, (_, at) => ({ name: `level ${at + 1}`, ys: log.map((line) => total(line, at)) }));
  const lines = depth ? levels : [{ name: "loss", ys: log.map(({ loss }) => loss) }];
  const time = run?.training_seconds ?? last.seconds;
  const [first] = log;
  const rates = log.length > 1 && first.lr && last.lr ? `, the learning rate falling from ${amount(first.lr)} to ${amount(last.lr)}` : "";
  const meaning = depth ? "How well a node's neighbourhood is told from others by its super-node, without labels: the loss of each level, averaged over an epoch." : "What training made smaller, without labels: the loss, averaged over an epoch.";
  const what = `${counted(last.epoch, "epoch")} in ${amount(time)} s${rates}.`;
  byId("loss").replaceChildren(
    make("p", { class: "quiet", style: "max-width:70ch;margin-bottom:10px" }, `${meaning} ${what}`),
    lineChart({ width: Math.min(760, Math.max(280, byId("loss").clientWidth)), xs: log.map(({ epoch }) => epoch), lines, xName: "epoch", yName: "loss", palette, label: `Loss${depth ? ` of ${counted(depth, "level")}` : ""} over ${counted(log.length, "epoch")}: ${lines.map(({ name, ys }) => `${name} from ${amount(ys[0])} to ${amount(ys.at(-1))}`).join(", ")}` }),
  );
}

/** @type {Record<string, string>} */
const MODES = {
  inductive: "80/20 splits, the model trained on the 80 alone, without labels",
  transductive: "80/20 splits, the model trained on all graphs, without labels",
  tenfold: "folds, the model trained on all graphs, without labels",
};

const percent = (/** @type {Score} */ { mean, std }) => `${(100 * mean).toFixed(1)} ± ${(100 * std).toFixed(1)}`;

const spread = (/** @type {Score} */ { mean, std }) => `${mean.toPrecision(3)} ± ${std.toPrecision(2)}`;

/**
 * Accuracies, or errors of numbers, with their spread, beside controls, and who was taken for whom.
 * @param {Head} head
 * @param {Palette} palette
 */
export function drawAccuracy({ evaluation }, palette) {
  if (!evaluation) return;
  byId("accuracy").hidden = false;
  const { methods, mode, splits, classes, seed, mean: middle } = evaluation;
  const graphs = evaluation.known || evaluation.graphs;
  const numbers = evaluation.task === "numbers";
  const shown = numbers ? spread : percent;
  // What needs no method: the largest class, or the mean.
  const majority = (numbers ? middle?.rmse.mean : evaluation.majority) ?? 0;
  const tests = methods.flatMap(({ result }) => result.splits.map(({ test }) => test));
  const margin = numbers ? 0.04 * Math.max(...tests, majority) : 0.04;
  const low = Math.max(0, Math.min(...tests, majority) - margin);
  const high = Math.min(numbers ? Infinity : 1, Math.max(...tests, majority) + 0.75 * margin);
  const width = 300;
  const x = (/** @type {number} */ value) => (width * (value - low)) / (high - low || 1);
  const plot = (/** @type {Judgement} */ { result }, /** @type {number} */ at) => {
    const color = css(palette.kind(at));
    const { mean, std } = result.test;
    return makeSvg("svg", { viewBox: `-6 0 ${width + 12} 26`, width: 210, height: 20, role: "img", "aria-label": `${numbers ? "error" : "accuracy"} of ${result.splits.length} splits` },
      makeSvg("line", { class: "axis", x1: 0, x2: width, y1: 13, y2: 13, stroke: "var(--line)" }),
      makeSvg("line", { x1: x(majority), x2: x(majority), y1: 2, y2: 24, stroke: "var(--soft)", "stroke-dasharray": "2 3" }),
      makeSvg("line", { x1: x(Math.max(low, mean - std)), x2: x(Math.min(high, mean + std)), y1: 13, y2: 13, stroke: color, "stroke-width": 5, "stroke-opacity": 0.35, "stroke-linecap": "round" }),
      ...result.splits.map(({ test }) => makeSvg("circle", { cx: x(test), cy: 13, r: 3, fill: color, "fill-opacity": 0.45 })),
      makeSvg("circle", { cx: x(mean), cy: 13, r: 5, fill: color, stroke: "var(--sheet)", "stroke-width": 1.5 }));
  };
  const row = (/** @type {Judgement} */ method, /** @type {number} */ at) => {
    const { name, result } = method;
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, shown(result.test)), make("td", { class: "number" }, shown(result.validation)), make("td", {}, plot(method, at)), make("td", { class: "number" }, result.dim ? number(result.dim) : "–"));
  };
  const further = methods.flatMap(({ name, result }) => (result.also ?? []).map(({ classifier, test, validation }) =>
    make("tr", {}, make("td", {}, `${name}, ${classifier.replaceAll("-", " ")}`), make("td", { class: "number" }, shown(test)), make("td", { class: "number" }, shown(validation)))));
  const table = make("table", {},
    make("thead", {}, make("tr", {}, ...["method", numbers ? "test RMSE" : "test, %", numbers ? "validation RMSE" : "validation, %", "", "dim"].map((name, at) => make("th", { scope: "col", class: at && at !== 3 ? "number" : null }, name)))),
    make("tbody", {}, ...methods.map(row), ...further, make("tr", {}, make("td", {}, numbers ? "the mean" : "largest class"), make("td", { class: "number" }, numbers ? majority.toPrecision(3) : (100 * majority).toFixed(1)))));
  const protocol = `${counted(graphs, "graph")}, ${numbers ? "numbers" : `${classes.length} classes`}; mean ± deviation over ${splits} ${MODES[mode] ?? mode}; ${numbers ? "kernel ridge regression" : "a C-SVM"}, settings chosen by 5-fold cross-validation inside the training part; seed ${seed}. Small discs: single splits. Dotted: the ${numbers ? "mean of the training part" : "largest class"}.`;
  const holder = make("div");
  const judged = methods.flatMap(({ name, confusion }) => (confusion ? { name, confusion } : []));
  const parts = [make("div", {}, make("div", { class: "scroll" }, table), make("p", { class: "quiet", style: "max-width:66ch;margin-top:8px" }, protocol))];
  if (judged.length) {
    const choice = make("select", { "aria-label": "Method", onchange: () => holder.replaceChildren(confusionTable(judged[choice.selectedIndex], classes, palette)) }, ...judged.map(({ name }) => make("option", {}, name)));
    holder.append(confusionTable(judged[0], classes, palette));
    parts.push(make("div", {}, make("h3", { style: "margin-top:0" }, "Who is taken for whom"), make("p", { class: "field", style: "margin-bottom:8px" }, choice), holder));
  }
  byId("scores").replaceChildren(make("div", { class: "two" }, ...parts));
}

/**
 * Rows are true classes, columns what they were taken for; shares of a row.
 * @param {{ name: string, confusion: Confusion }} judged
 * @param {Evaluation["classes"]} classes
 * @param {Palette} palette
 */
function confusionTable({ name, confusion }, classes, palette) {
  const names = confusion.classes.map((at) => String(classes[at]));
  const cell = (/** @type {number} */ count, /** @type {number} */ whole, /** @type {boolean} */ same) => {
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
