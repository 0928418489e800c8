// Numbers, as words and as ranges.

/** A number with commas. */
export const number = (/** @type {number} */ value, places = 0) =>
  new Intl.NumberFormat("en", { maximumFractionDigits: places, minimumFractionDigits: 0 }).format(value);

/**
 * An amount with as many digits as say something.
 * @param {number | null | undefined} value
 */
export function amount(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return number(value);
  const size = Math.abs(value);
  if (size >= 1e6 || (size < 1e-3 && size > 0)) return value.toExponential(2);
  return number(value, size >= 100 ? 1 : size >= 1 ? 2 : 4);
}

/** One graph, two graphs. */
export const counted = (/** @type {number} */ count, /** @type {string} */ thing) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;

/**
 * The smallest and the largest of some values; 0 where there are none.
 * @param {Iterable<number>} values
 * @param {number} [missing] a value that is none
 */
export function bounds(values, missing) {
  let [from, to] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === missing) continue;
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  return from > to ? { from: 0, to: 0 } : { from, to };
}

/**
 * Places of a few of many, spread evenly.
 * @param {number} count
 * @param {number} wanted
 */
export function spreadEvenly(count, wanted) {
  const all = Math.min(count, wanted);
  return Array.from({ length: all }, (_, at) => Math.floor(((at + 0.5) * count) / all));
}
