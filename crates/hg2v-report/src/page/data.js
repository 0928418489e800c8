// What the page was given.

const $ = (id) => document.getElementById(id);

/** A new element with attributes and children; text stays text. */
function make(tag, attributes = {}, ...children) {
  const space = tag === "svg" || make.svg.has(tag) ? "http://www.w3.org/2000/svg" : null;
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
make.svg = new Set(["path", "circle", "rect", "line", "text", "g", "polyline", "polygon"]);

const number = (value, places = 0) =>
  new Intl.NumberFormat("en", { maximumFractionDigits: places, minimumFractionDigits: 0 }).format(value);

/** An amount with as many digits as say something. */
function amount(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return number(value);
  const size = Math.abs(value);
  if (size >= 1e6 || (size < 1e-3 && size > 0)) return value.toExponential(2);
  return number(value, size >= 100 ? 1 : size >= 1 ? 2 : 4);
}

const counted = (count, thing) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;

/** The head and the arrays of a pack: see pack.rs. */
async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const kinds = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array };
  const arrays = {};
  for (const [name, [kind, start, size]] of Object.entries(head.arrays)) {
    const from = 4 + length + start;
    arrays[name] = new kinds[kind](bytes.slice(from, from + size));
  }
  return { head, arrays };
}
