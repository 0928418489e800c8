// What the page was given.

import { bounds } from "./numbers.js";

/** @import { Attribute, Pack } from "./types.d.ts" */

/**
 * The head and the arrays of a pack: see pack.rs.
 * @param {string} text
 * @returns {Promise<Pack>}
 */
export async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  /** @type {Pack["head"]} */
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const kinds = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array };
  /** @type {any} */
  const arrays = {};
  for (const [name, [kind, start, size]] of Object.entries(head.arrays)) {
    const from = 4 + length + start;
    arrays[name] = new kinds[kind](bytes.slice(from, from + size));
  }
  return { head, arrays };
}

/**
 * What points can be coloured by.
 * @param {Pack} pack
 * @returns {Attribute[]}
 */
export function attributesOf({ head, arrays }) {
  return head.attributes.map(({ name, kinds }, at) => {
    const of = arrays[`attribute ${at}`];
    return kinds ? { name, kinds, of: Uint32Array.from(of) } : { name, kinds: null, of: Float32Array.from(of), ...bounds(of, head.missing) };
  });
}
