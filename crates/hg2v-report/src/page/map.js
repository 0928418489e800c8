// The map: every graph a point.

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Points on a canvas, and what is done with them. Tells its `watch`er what is chosen. */
class GraphMap {
  constructor({ head, arrays }, sketches, palette, watch) {
    Object.assign(this, { head, sketches, palette, watch });
    this.count = head.shown;
    this.places = head.projections.map((_, at) => arrays[`place ${at}`]);
    if (!this.places.length) this.places = [spiral(this.count)];
    this.now = Float32Array.from(this.places[0]);
    this.attributes = head.attributes.map((attribute, at) => ({
      ...attribute,
      of: arrays[`attribute ${at}`],
      ...(attribute.kinds ? {} : bounds(arrays[`attribute ${at}`], head.missing)),
    }));
    this.shown = new Uint8Array(this.count).fill(1);
    this.off = new Set();
    this.chosen = -1;
    this.pointed = -1;
    this.lassoed = null;
    this.trail = null;
    this.minis = false;
    this.tool = "move";
    this.guests = [];
    this.guest = null;
    this.thumbnails = new Map();
    this.canvas = $("map");
    this.view = { scale: 1, x: 0, y: 0 };
    this.listen();
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

  screen(index) {
    return this.pixel(this.now[2 * index], this.now[2 * index + 1]);
  }

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
    const legend = $("legend");
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

  /** Moves to another view, at once or smoothly. */
  go(view, smooth = true) {
    const from = { ...this.view };
    this.animate(smooth ? 260 : 0, (t) => {
      for (const key of ["scale", "x", "y"]) this.view[key] = from[key] + t * (view[key] - from[key]);
    });
  }

  animate(duration, step, end = () => {}) {
    cancelAnimationFrame(this.moving);
    const started = performance.now();
    const frame = (time) => {
      const share = duration && !still.matches ? Math.min(1, Math.max(0, (time - started) / duration)) : 1;
      step(share * share * (3 - 2 * share));
      this.paint();
      if (share < 1) this.moving = requestAnimationFrame(frame);
      else end();
    };
    frame(started);
  }

  zoom(factor, x = this.width / 2, y = this.height / 2, smooth = true) {
    const size = this.unit * this.view.scale;
    const at = [this.view.x + (x - this.width / 2) / size, this.view.y - (y - this.height / 2) / size];
    const scale = Math.min(400, Math.max(0.2, this.view.scale * factor));
    const kept = this.view.scale / scale;
    this.go({ scale, x: at[0] + (this.view.x - at[0]) * kept, y: at[1] + (this.view.y - at[1]) * kept }, smooth);
  }

  move(dx, dy) {
    const size = this.unit * this.view.scale;
    this.view.x -= dx / size;
    this.view.y += dy / size;
    this.draw();
  }

  /** Takes the places of another projection. */
  project(at) {
    const from = Float32Array.from(this.now);
    const to = this.places[at];
    this.animate(
      700,
      (t) => this.now.forEach((_, i) => (this.now[i] = from[i] + t * (to[i] - from[i]))),
      () => {
        this.watch.moved?.(at);
        this.fit();
      },
    );
  }

  // Colours.

  color(at) {
    this.by = this.attributes[at];
    this.steps = Uint8Array.from({ length: this.count }, (_, i) => this.step64(i));
    this.off.clear();
    this.filter();
    this.thumbnails.clear();
    this.draw();
  }

  /** The kind of a graph, or its amount in 64 steps; one more where there is none. */
  step64(index) {
    const { kinds, of, from, spread } = this.by;
    if (kinds) return of[index];
    if (of[index] === this.head.missing) return 64;
    return spread ? Math.round((63 * (of[index] - from)) / spread) : 31;
  }

  /** The colour and shape that such graphs have. */
  lookOf(step) {
    if (!this.by.kinds) return { color: step === 64 ? this.palette.neutral : this.palette.amount(step / 63), shape: 0 };
    return { color: this.palette.kind(step), shape: Math.floor(step / this.palette.kinds.length) % SHAPES };
  }

  /**
   * Points, a few hundred or thousand at a time, of which those that look alike are one
   * path: that is several times faster than a drawing each, and no kind hides all others.
   */
  paintPoints(context, points, radius, faint) {
    const fine = points.length / 3 <= 3000 && !faint;
    const some = 3 * (fine ? 150 : 1250);
    const looks = new Map();
    for (let from = 0; from < points.length; from += some) {
      const paths = new Map();
      for (let p = from; p < Math.min(points.length, from + some); p += 3) {
        const step = this.steps[points[p]];
        if (!looks.has(step)) looks.set(step, this.lookOf(step));
        if (!paths.has(step)) paths.set(step, new Path2D());
        traceShape(paths.get(step), looks.get(step).shape, points[p + 1], points[p + 2], radius);
      }
      for (const [step, path] of paths) {
        context.fillStyle = css(looks.get(step).color, faint ? 0.14 : 0.88);
        context.fill(path);
        if (!fine) continue;
        context.lineWidth = radius > 4 ? 1 : 0.6;
        context.strokeStyle = theme.sheet;
        context.stroke(path);
      }
    }
  }

  /** Kinds that are switched off are not drawn, and cannot be found by pointing. */
  filter() {
    const { kinds, of } = this.by;
    for (let i = 0; i < this.count; i++) this.shown[i] = kinds && this.off.has(of[i]) ? 0 : 1;
    if (this.pointed >= 0 && !this.shown[this.pointed]) this.point(-1);
  }

  toggle(kind, alone = false) {
    const all = this.by.kinds.map((_, at) => at);
    if (alone) this.off = new Set(all.filter((other) => other !== kind));
    else if (!this.off.delete(kind)) this.off.add(kind);
    if (this.off.size === all.length) this.off.clear();
    this.filter();
    this.draw();
  }

  // Drawing.

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  get radius() {
    const room = Math.min(1.15, Math.sqrt((this.width * this.height) / 6e5));
    const plain = room * Math.min(6, Math.max(2.3, 112 / Math.sqrt(this.count + 60)));
    return Math.round(2 * Math.min(9, plain * Math.max(0.8, this.view.scale ** 0.3))) / 2;
  }

  paint() {
    if (!this.width) return;
    const { width, height, canvas } = this;
    const context = sharp(canvas, width, height);
    context.clearRect(0, 0, width, height);
    const radius = this.radius;
    const seen = [];
    const faint = [];
    const { now, shown, lassoed, count } = this;
    const size = this.unit * this.view.scale;
    const [left, top] = [width / 2 - size * this.view.x, height / 2 + size * this.view.y];
    for (let i = 0; i < count; i++) {
      if (!shown[i]) continue;
      const [x, y] = [left + size * now[2 * i], top - size * now[2 * i + 1]];
      if (x < -40 || y < -40 || x > width + 40 || y > height + 40) continue;
      (lassoed && !lassoed.has(i) ? faint : seen).push(i, x, y);
    }
    this.paintPoints(context, faint, radius, true);
    this.paintPoints(context, seen, radius, false);
    this.visible = (seen.length + faint.length) / 3;
    if (this.minis || (this.visible <= 70 && this.view.scale > 1.5)) this.paintMinis(context, seen);
    this.paintLinks(context);
    for (const guest of this.guests) this.ring(context, this.pixel(guest.x, guest.y), radius + 3, "#d55e00", true);
    if (this.pointed >= 0) this.ring(context, this.screen(this.pointed), radius + 3, theme.ring);
    if (this.chosen >= 0) this.ring(context, this.screen(this.chosen), radius + 4, theme.ring);
    if (this.trail?.length > 1) {
      context.beginPath();
      this.trail.forEach(([x, y], at) => (at ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = theme.accent;
      context.globalAlpha = 0.12;
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash([5, 4]);
      context.lineWidth = 1.6;
      context.strokeStyle = theme.accent;
      context.stroke();
      context.setLineDash([]);
    }
    this.watch.painted?.();
  }

  /** Lines to the neighbours of the chosen graph, or of the guest that came last. */
  paintLinks(context) {
    if (this.chosen < 0 && !this.guest) return;
    const [x, y] = this.chosen >= 0 ? this.screen(this.chosen) : this.pixel(this.guest.x, this.guest.y);
    const near = this.chosen >= 0 ? this.watch.neighbors(this.chosen).map(({ graph }) => graph) : this.guest.near.map(({ at }) => at);
    context.strokeStyle = theme.ring;
    context.lineWidth = 1.1;
    for (const graph of near) {
      if (!(graph < this.count) || !this.shown[graph]) continue;
      const [u, v] = this.screen(graph);
      context.globalAlpha = 0.55;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(u, v);
      context.stroke();
      context.globalAlpha = 1;
      this.ring(context, [u, v], this.radius + 1.5, theme.ring);
    }
  }

  ring(context, [x, y], radius, color, filled = false) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    if (filled) {
      context.fillStyle = color;
      context.fill();
    }
    context.lineWidth = 3.5;
    context.strokeStyle = theme.sheet;
    context.stroke();
    context.lineWidth = 1.7;
    context.strokeStyle = filled ? theme.ring : color;
    context.stroke();
  }

  /** Small drawings where there is room for them, those nearest the middle first. */
  paintMinis(context, seen) {
    const size = Math.round(Math.min(104, Math.max(46, 0.55 * Math.sqrt((this.width * this.height) / Math.max(1, seen.length / 3)))));
    const taken = new Map();
    const cell = (x, y) => `${Math.floor(x / size)} ${Math.floor(y / size)}`;
    const free = (x, y) => {
      for (let dx = -1; dx <= 1; dx++)
        for (let dy = -1; dy <= 1; dy++)
          for (const [u, v] of taken.get(cell(x + dx * size, y + dy * size)) ?? [])
            if (Math.abs(u - x) < size + 3 && Math.abs(v - y) < size + 3) return false;
      return true;
    };
    for (let p = 0; p < seen.length; p += 3) {
      const [i, x, y] = [seen[p], seen[p + 1], seen[p + 2]];
      if (!free(x, y)) continue;
      const key = cell(x, y);
      if (!taken.has(key)) taken.set(key, []);
      taken.get(key).push([x, y]);
      const image = this.thumbnail(i, size);
      context.drawImage(image, x - size / 2, y - size / 2, size, size);
    }
  }

  thumbnail(index, size) {
    const key = `${index} ${size}`;
    let image = this.thumbnails.get(key);
    if (!image) {
      image = document.createElement("canvas");
      const context = sharp(image, size, size);
      context.beginPath();
      context.roundRect(0.75, 0.75, size - 1.5, size - 1.5, 7);
      context.fillStyle = theme.sheet;
      context.globalAlpha = 0.94;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = 1.5;
      context.strokeStyle = css(this.lookOf(this.steps[index]).color);
      context.stroke();
      drawGraph(context, this.sketches, this.sketches.of(index), { x: 0, y: 0, width: size, height: size, pad: 6 });
      if (this.thumbnails.size > 800) this.thumbnails.clear();
      this.thumbnails.set(key, image);
    }
    return image;
  }

  // Choosing.

  /** The shown graph nearest to a place on the screen, no farther than `reach`. */
  near(x, y, reach) {
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

  point(index, aloud = false) {
    if (index === this.pointed) return;
    this.pointed = index;
    this.watch.pointed(index, index >= 0 ? this.screen(index) : null, aloud);
    this.draw();
  }

  choose(index, { centre = false } = {}) {
    this.chosen = index;
    this.lassoed = null;
    if (index >= 0 && !this.shown[index]) {
      this.off.clear();
      this.filter();
    }
    this.watch.chosen(index);
    if (index >= 0 && centre) {
      const [x, y] = this.screen(index);
      const inside = x > 40 && y > 40 && x < this.width - 40 && y < this.height - 40;
      if (!inside) return this.go({ ...this.view, x: this.now[2 * index], y: this.now[2 * index + 1] });
    }
    this.draw();
  }

  /** Chooses all shown graphs inside a polygon on the screen. */
  encircle(polygon) {
    const inside = new Set();
    for (let i = 0; i < this.count; i++) {
      if (this.shown[i] && contains(polygon, this.screen(i))) inside.add(i);
    }
    this.chosen = -1;
    this.lassoed = inside.size ? inside : null;
    this.watch.lassoed(this.lassoed);
    this.draw();
  }

  letGo() {
    this.trail = null;
    this.lassoed = null;
    this.guest = null;
    this.point(-1);
    this.choose(-1);
  }

  use(tool) {
    this.tool = tool;
    this.canvas.classList.toggle("lassoing", tool === "lasso");
    this.watch.tool(tool);
  }

  /** From graph to graph: the nearest within 45° of a direction. */
  step(dx, dy) {
    const from = this.pointed >= 0 ? this.pointed : this.chosen;
    if (from < 0) return this.point(this.near(this.width / 2, this.height / 2, Infinity), true);
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

  // Hands and keys.

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let [moved, spread, drawing] = [0, 0, false];
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const apart = () => {
      const [[a, b], [c, d]] = [...fingers.values()];
      return Math.hypot(a - c, b - d);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, place(event));
      moved = 0;
      drawing = fingers.size === 1 && (this.tool === "lasso" || event.shiftKey);
      this.trail = drawing ? [place(event)] : null;
      if (fingers.size === 2) spread = apart();
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = place(event);
      const before = fingers.get(event.pointerId);
      if (!before) {
        const found = this.near(...at, this.radius + 9);
        canvas.classList.toggle("pointing", found >= 0);
        return this.point(found);
      }
      fingers.set(event.pointerId, at);
      moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
      if (fingers.size === 2) {
        const now = apart();
        const [[a, b], [c, d]] = [...fingers.values()];
        this.zoom(now / spread, (a + c) / 2, (b + d) / 2, false);
        spread = now;
      } else if (drawing) {
        this.trail.push(at);
        this.draw();
      } else if (moved > 4) {
        canvas.classList.add("moving");
        this.point(-1);
        this.move(at[0] - before[0], at[1] - before[1]);
      }
    });
    const up = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      canvas.classList.remove("moving");
      const { trail } = this;
      this.trail = null;
      if (drawing && trail?.length > 3 && moved > 12) this.encircle(trail);
      else if (moved <= 4 && event.type === "pointerup") {
        const found = this.near(...place(event), this.radius + (event.pointerType === "touch" ? 22 : 9));
        if (found >= 0) this.choose(found);
        else if (this.chosen >= 0 || this.lassoed) this.letGo();
      }
      drawing = false;
      this.draw();
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("dblclick", (event) => this.zoom(2, ...place(event)));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 18 : 1;
        this.zoom(Math.exp(-0.0022 * lines * event.deltaY), ...place(event), false);
      },
      { passive: false },
    );
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = ways[event.key];
      if (way && event.shiftKey) this.move(-60 * way[0], -60 * way[1]);
      else if (way) this.step(...way);
      else if (event.key === "Enter" || event.key === " ") this.pointed >= 0 && this.choose(this.pointed);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-" || event.key === "_") this.zoom(1 / 1.5);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }
}

/** Whether a polygon has a point inside. */
function contains(polygon, [x, y]) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[a, b], [c, d]] = [polygon[i], polygon[j]];
    if (b > y !== d > y && x < ((c - a) * (y - b)) / (d - b) + a) inside = !inside;
  }
  return inside;
}

/** The smallest and the largest amount that graphs have. */
function bounds(values, missing) {
  let [from, to] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === missing) continue;
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  return from > to ? { from: 0, to: 0, spread: 0 } : { from, to, spread: to - from };
}

/** Places for graphs that have none. */
function spiral(count) {
  const places = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const [angle, radius] = [2.399963 * i, Math.sqrt((i + 0.5) / count)];
    places[2 * i] = radius * Math.cos(angle);
    places[2 * i + 1] = radius * Math.sin(angle);
  }
  return places;
}
