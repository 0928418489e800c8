// Served by `hg2v serve`: new graphs land on the map.

import { byId, make } from "./dom.js";
import { sketchOfJson } from "./json_graph.js";
import { counted } from "./numbers.js";

/** @import { Neighbor } from "./types.d.ts" */
/** @import { JsonGraph } from "./json_graph.js" */
/** @import { Page } from "./page.js" */

/** Guests that stay on the map. */
const MOST_GUESTS = 50;

/** A box for graphs, which are embedded and looked up by the server. */
export class Live {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.box = byId("live");
    this.box.hidden = false;
    this.text = make("textarea", { id: "new-graph", spellcheck: "false", "aria-describedby": "live-help", placeholder: '{"id":"mine","edges":[[0,1],[1,2],[2,0]]}' });
    this.said = make("p", { class: "quiet", role: "status", style: "margin-top:6px" });
    this.box.append(
      make("h2", {}, "Put a graph on the map"),
      make("label", { for: "new-graph", class: "quiet" }, "A graph as JSON, or several, one a line; or drop a file here."),
      this.text,
      make("p", { style: "margin-top:8px" }, make("button", { type: "button", id: "place-graph", onclick: () => void this.place(this.text.value) }, "Place it")),
      this.said,
      make("p", { class: "quiet", id: "live-help" }, "It is embedded by the model and put where its nearest graphs are: at the mean of their places, nearer ones counting more. That is an approximation; its neighbours and distances are exact."),
    );
    for (const kind of /** @type {const} */ (["dragover", "dragleave", "drop"])) {
      this.box.addEventListener(kind, (event) => {
        event.preventDefault();
        this.box.classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer) void this.drop(event.dataTransfer);
      });
    }
  }

  /** @param {DataTransfer} transfer */
  async drop(transfer) {
    const text = transfer.files.length ? await transfer.files[0].text() : transfer.getData("text");
    this.text.value = text.slice(0, 100_000);
    await this.place(text);
  }

  /**
   * Places graphs one after the other, up to the first that is refused.
   * @param {string} text
   */
  async place(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!lines.length) {
      this.say("There is no graph yet.");
      return;
    }
    let placed = 0;
    for (const line of lines) {
      try {
        await this.one(line);
        placed += 1;
      } catch (error) {
        this.say(`${placed ? `${counted(placed, "graph")} placed; then: ` : ""}${error instanceof Error ? error.message : error}`);
        return;
      }
    }
    this.say(`${counted(placed, "graph")} placed.`);
    byId("map-section").scrollIntoView();
  }

  /** @param {string} line */
  async one(line) {
    /** @type {JsonGraph} */
    const graph = JSON.parse(line);
    const { head, map } = this.page;
    /** @type {{ neighbors: { id: unknown, distance: number }[] }} */
    const found = await ask("search", line);
    const known = new Map(head.ids.map((id, at) => [id, at]));
    const name = String(graph.id ?? "your graph");
    const guest = { name, x: 0, y: 0, sketch: sketchOfJson(graph, head.hasCoordinates), neighbors: /** @type {Neighbor[]} */ ([]) };
    let all = 0;
    for (const { id, distance } of found.neighbors) {
      const at = known.get(String(id));
      guest.neighbors.push({ graph: at ?? head.shown + head.absent.push([String(id), null]) - 1, distance });
      if (at === undefined) continue;
      const weight = 1 / (distance + 1e-9);
      guest.x += weight * map.now[2 * at];
      guest.y += weight * map.now[2 * at + 1];
      all += weight;
    }
    if (!all) throw new Error("none of its nearest graphs is on this page");
    guest.x /= all;
    guest.y /= all;
    map.welcome(guest, MOST_GUESTS);
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = text;
  }
}

/**
 * Asks the server, and throws what it refuses with.
 * @param {string} what
 * @param {string} body
 */
async function ask(what, body) {
  const answer = await fetch(what, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  if (answer.status === 401) throw new Error("You are no longer logged in. Reload this page and enter the token again.");
  if (!answer.ok) {
    let said = text;
    try {
      said = JSON.parse(text).error ?? text;
    } catch {
      // Not every answer is the server's own: one of a proxy is told as it is.
    }
    throw new Error(typeof said === "string" ? said.trim().slice(0, 400) : JSON.stringify(said));
  }
  return JSON.parse(text);
}
