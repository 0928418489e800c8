// Graphs: unpacked from their sketches (see sketch.rs) and drawn.

/** The sketches of all graphs; each is unpacked when it is first wanted. */
class Sketches {
  constructor({ head, arrays }, palette) {
    this.bytes = arrays["sketches"];
    this.starts = arrays["sketch starts"];
    this.colors = head.nodeColors;
    this.placed = head.placed;
    this.palette = palette;
    this.known = new Map();
  }

  of(index) {
    let sketch = this.known.get(index);
    if (!sketch) {
      const bytes = this.bytes.subarray(this.starts[index], this.starts[index + 1]);
      sketch = readSketch(bytes, !this.colors.degree);
      // The oldest go first.
      if (this.known.size >= 2000) this.known.delete(this.known.keys().next().value);
      this.known.set(index, sketch);
    }
    return sketch;
  }

  /** The colour of a node of the finest level. */
  color(sketch, node) {
    const { palette, colors } = this;
    if (sketch.own) return palette.kind(0);
    if (colors.labels) {
      const code = sketch.codes[node];
      return code === colors.other ? palette.neutral : palette.kind(code);
    }
    if (colors.attribute) return palette.amount(sketch.codes[node] / 254);
    const { degrees, most } = sketch.levels[0];
    return palette.amount(most > 1 ? Math.log(Math.max(1, degrees[node])) / Math.log(most) : 0.3);
  }

  /** What colours of nodes say, in words. */
  get legend() {
    const { labels, attribute } = this.colors;
    if (labels) return "labels";
    return attribute ?? "degree";
  }
}

function readSketch(bytes, coded) {
  let at = 0;
  const next = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const edges = (count) => {
    const pairs = new Uint32Array(2 * count);
    for (let i = 0, u = 0; i < count; i++) {
      u += next();
      pairs[2 * i] = u;
      pairs[2 * i + 1] = u + next();
    }
    return pairs;
  };
  const sketch = { base: next(), cut: next() === 1 };
  const n = next();
  const m = next();
  const wide = bytes[at++] === 1;
  const place = () => (wide ? bytes[at++] + 256 * bytes[at++] : bytes[at++]);
  const x = Float64Array.from({ length: n }, place);
  const y = Float64Array.from({ length: n }, place);
  sketch.codes = coded ? bytes.subarray(at, (at += n)) : null;
  const sizes = Float64Array.from({ length: n }, () => (sketch.base > 0 ? next() : 1));
  const finest = level(x, y, sizes, edges(m), null);
  sketch.levels = [finest];
  for (let left = next(); left > 0; left--) {
    const below = sketch.levels.at(-1);
    const count = next();
    const parents = Uint32Array.from({ length: below.n }, next);
    const told = next();
    const pooled = pool(below, parents, count);
    const own = told > 0 ? edges(told - 1) : pooled.edges;
    sketch.levels.push(level(pooled.x, pooled.y, pooled.sizes, own, told > 0 ? null : pooled.weights));
    below.parents = parents;
  }
  finish(sketch);
  return sketch;
}

/** A level: places, sizes, edges and how often each edge stands for one below. */
function level(x, y, sizes, edges, weights) {
  const degrees = new Uint32Array(x.length);
  for (const end of edges) degrees[end]++;
  const most = degrees.reduce((a, b) => Math.max(a, b), 0);
  return { n: x.length, x, y, sizes, edges, weights, degrees, most };
}

/** Super-nodes stand in the middle of what is pooled into them. */
function pool(below, parents, count) {
  const [x, y, sizes] = [0, 0, 0].map(() => new Float64Array(count));
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
  return { x, y, sizes, edges, weights };
}

/** What all drawings of a sketch share: its extent, and how long an edge is. */
function finish(sketch) {
  const { x, y, edges, n } = sketch.levels[0];
  const range = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  sketch.x = n ? range(x) : [0, 0];
  sketch.y = n ? range(y) : [0, 0];
  const lengths = [];
  for (let e = 0; e < edges.length; e += 2) {
    lengths.push(Math.hypot(x[edges[e]] - x[edges[e + 1]], y[edges[e]] - y[edges[e + 1]]));
  }
  lengths.sort((a, b) => a - b);
  const span = Math.max(sketch.x[1] - sketch.x[0], sketch.y[1] - sketch.y[0]);
  sketch.edge = lengths[lengths.length >> 1] || span / Math.max(1, Math.sqrt(n)) || 1;
  sketch.total = sketch.levels[0].sizes.reduce((a, b) => a + b, 0);
}

/** Nodes that are gathered into others take the colour that most of them have. */
function levelColors(sketches, sketch, depth) {
  const key = `${theme.dark} ${depth}`;
  sketch.painted ??= new Map();
  if (!sketch.painted.has(key)) {
    let colors;
    if (depth === 0) colors = Array.from({ length: sketch.levels[0].n }, (_, v) => sketches.color(sketch, v));
    else {
      const below = sketch.levels[depth - 1];
      const lower = levelColors(sketches, sketch, depth - 1);
      const sums = Array.from({ length: sketch.levels[depth].n }, () => [0, 0, 0, 0]);
      below.parents.forEach((parent, v) => {
        const sum = sums[parent];
        const size = below.sizes[v];
        for (let c = 0; c < 3; c++) sum[c] += size * lower[v][c];
        sum[3] += size;
      });
      colors = sums.map(([r, g, b, n]) => [r, g, b].map((sum) => Math.round(sum / n)));
    }
    sketch.painted.set(key, colors);
  }
  return sketch.painted.get(key);
}

/** Makes a canvas as sharp as the screen, and gives its context in CSS pixels. */
function sharp(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * Draws a graph into a box. `depth` is a level of its pyramid; between two levels, nodes are
 * on their way to their super-node.
 */
function drawGraph(context, sketches, sketch, { x, y, width, height, pad = 8, depth = 0 }) {
  const low = Math.min(Math.floor(depth), sketch.levels.length - 1);
  const way = low < sketch.levels.length - 1 ? depth - low : 0;
  const now = sketch.levels[low];
  if (now.n === 0) return;
  const spans = [sketch.x, sketch.y].map(([from, to]) => Math.max(to - from, 2 * sketch.edge));
  // Small graphs are not blown up to fill a large box.
  const scale = Math.min((width - 2 * pad) / spans[0], (height - 2 * pad) / spans[1], 46 / sketch.edge);
  const middle = [sketch.x, sketch.y].map(([from, to]) => (from + to) / 2);
  const px = (value) => x + width / 2 + scale * (value - middle[0]);
  const py = (value) => y + height / 2 + scale * (value - middle[1]);
  const next = way > 0 ? sketch.levels[low + 1] : null;
  const along = (own, above, v) => (next ? own[v] + way * (above[now.parents[v]] - own[v]) : own[v]);
  const xs = Float64Array.from(now.x, (_, v) => px(along(now.x, next?.x, v)));
  const ys = Float64Array.from(now.y, (_, v) => py(along(now.y, next?.y, v)));

  // Dense graphs would be black.
  const count = now.edges.length / 2;
  const opacity = Math.min(0.75, Math.max(0.1, 70 / Math.max(1, count))) * (1 - 0.6 * way);
  context.strokeStyle = theme.edge;
  context.lineCap = "round";
  const heaviest = now.weights ? now.weights.reduce((a, b) => Math.max(a, b), 1) : 1;
  const base = Math.min(1.3, Math.max(0.5, 0.09 * scale * sketch.edge));
  const traced = new Map();
  for (let e = 0; e < now.edges.length; e += 2) {
    const share = now.weights ? Math.round((4 * (now.weights[e / 2] - 1)) / heaviest) : 0;
    if (!traced.has(share)) traced.set(share, new Path2D());
    const path = traced.get(share);
    path.moveTo(xs[now.edges[e]], ys[now.edges[e]]);
    path.lineTo(xs[now.edges[e + 1]], ys[now.edges[e + 1]]);
  }
  for (const [share, path] of traced) {
    context.globalAlpha = opacity;
    context.lineWidth = base + 0.55 * share;
    context.stroke(path);
  }
  context.globalAlpha = 1;

  const colors = levelColors(sketches, sketch, low);
  const unit = Math.min(5.5, Math.max(0.9, 0.34 * scale * sketch.edge));
  // Super-nodes are as large as what is pooled into them, as far as there is room.
  const largest = now.sizes.reduce((a, b) => Math.max(a, b), 1);
  const room = Math.min(1, (0.2 * Math.min(width, height)) / (unit * Math.sqrt(largest)));
  const plain = low === 0 && sketch.base === 0;
  const order = Array.from(xs.keys());
  if (!plain) order.sort((a, b) => now.sizes[b] - now.sizes[a]);
  for (const v of order) {
    const lively = plain && !sketches.placed && now.most > 0 ? 0.72 + 0.5 * Math.sqrt(now.degrees[v] / now.most) : 1;
    const radius = plain ? unit * lively : Math.max(unit, unit * room * Math.sqrt(now.sizes[v]));
    context.beginPath();
    context.arc(xs[v], ys[v], radius, 0, 2 * Math.PI);
    context.fillStyle = css(colors[v], plain ? 1 : 0.92);
    context.fill();
    if (radius > 2.4) {
      context.lineWidth = Math.min(1, radius / 4);
      context.strokeStyle = theme.sheet;
      context.stroke();
    }
  }
}

/** A canvas with a graph, drawn again when the theme or its size changes. */
function portrait(sketches, sketch, label, depth = 0, attributes = {}) {
  const canvas = make("canvas", { role: "img", "aria-label": label, ...attributes });
  canvas.depth = depth;
  canvas.draw = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const context = sharp(canvas, width, height);
    context.clearRect(0, 0, width, height);
    drawGraph(context, sketches, sketch, { x: 0, y: 0, width, height, pad: Math.min(16, width / 9), depth: canvas.depth });
  };
  portrait.seen.observe(canvas);
  return canvas;
}
portrait.seen = new ResizeObserver((entries) => entries.forEach(({ target }) => target.draw()));

/** What is drawn, where it is not the graph itself. */
function coarsenedNote(sketch, nodes) {
  const { n, edges } = sketch.levels[0];
  if (sketch.cut && n < nodes) return `Too large to be drawn whole: the ${number(n)} best-connected of ${number(nodes)} nodes.`;
  if (sketch.cut) return `It has too many edges to draw: these are ${number(edges.length / 2)} of them.`;
  if (sketch.base > 0) {
    const times = sketch.base === 1 ? "once" : `${sketch.base} times`;
    return `Too large to be drawn whole: coarsened ${times}, from ${number(nodes)} nodes to ${number(sketch.levels[0].n)}.`;
  }
  return null;
}
