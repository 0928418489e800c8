// The map under hands and keys.

/** @import { Point } from "./types.d.ts" */
/** @import { GraphMap } from "./map.js" */

/** How far a finger or a pointer may move and still click. */
const STILL = 4;

/**
 * Moves, zooms, points, chooses and draws lassos as pointers say.
 * @param {GraphMap} map
 */
export function listenToPointers(map) {
  const { canvas } = map;
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  let [moved, spread, drawing] = [0, 0, false];
  /** @returns {Point} */
  const place = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  /** How far apart two fingers are, and what is between them. */
  const pinch = () => {
    const [[a, b], [c, d]] = [...fingers.values()];
    return { apart: Math.hypot(a - c, b - d), x: (a + c) / 2, y: (b + d) / 2 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = 0;
    drawing = fingers.size === 1 && (map.tool === "lasso" || event.shiftKey);
    map.trail = drawing ? [place(event)] : null;
    if (fingers.size === 2) spread = pinch().apart;
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      const found = map.nearest(...at, map.radius + 9);
      canvas.classList.toggle("pointing", found >= 0);
      map.point(found);
      return;
    }
    fingers.set(event.pointerId, at);
    moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (fingers.size === 2) {
      const { apart, x, y } = pinch();
      map.zoom(apart / spread, x, y, false);
      spread = apart;
    } else if (drawing) {
      map.trail?.push(at);
      map.draw();
    } else if (moved > STILL) {
      canvas.classList.add("moving");
      map.point(-1);
      map.move(at[0] - before[0], at[1] - before[1]);
    }
  });
  const up = (/** @type {PointerEvent} */ event) => {
    if (!fingers.delete(event.pointerId)) return;
    canvas.classList.remove("moving");
    const { trail } = map;
    map.trail = null;
    if (drawing && trail && trail.length > 3 && moved > 12) map.encircle(trail);
    else if (moved <= STILL && event.type === "pointerup") {
      const found = map.nearest(...place(event), map.radius + (event.pointerType === "touch" ? 22 : 9));
      if (found >= 0) map.choose(found);
      else if (map.chosen >= 0 || map.lassoed) map.letGo();
    }
    drawing = false;
    map.draw();
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => map.point(-1));
  canvas.addEventListener("dblclick", (event) => map.zoom(2, ...place(event)));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 18 : 1;
      map.zoom(Math.exp(-0.0022 * lines * event.deltaY), ...place(event), false);
    },
    { passive: false },
  );
}

/**
 * The same for keys, while the map has the focus.
 * @param {GraphMap} map
 */
export function listenToKeys(map) {
  /** @type {Record<string, Point | undefined>} */
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  map.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = directions[event.key];
    if (direction && event.shiftKey) map.move(-60 * direction[0], -60 * direction[1]);
    else if (direction) map.step(...direction);
    else if (event.key === "Enter" || event.key === " ") {
      if (map.pointed >= 0) map.choose(map.pointed);
    } else if (event.key === "+" || event.key === "=") map.zoom(1.5);
    else if (event.key === "-" || event.key === "_") map.zoom(1 / 1.5);
    else if (event.key === "0") map.fit();
    else return;
    event.preventDefault();
  });
}
