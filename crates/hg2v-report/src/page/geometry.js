// Points of a plane.

/** @import { Point } from "./types.d.ts" */

/**
 * Whether a polygon has a point inside.
 * @param {Point[]} polygon
 * @param {Point} point
 */
export function contains(polygon, [x, y]) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[a, b], [c, d]] = [polygon[i], polygon[j]];
    if (b > y !== d > y && x < ((c - a) * (y - b)) / (d - b) + a) inside = !inside;
  }
  return inside;
}

/**
 * Places for graphs that have none.
 * @param {number} count
 */
export function spiral(count) {
  const places = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const [angle, radius] = [2.399963 * i, Math.sqrt((i + 0.5) / count)];
    places[2 * i] = radius * Math.cos(angle);
    places[2 * i + 1] = radius * Math.sin(angle);
  }
  return places;
}
