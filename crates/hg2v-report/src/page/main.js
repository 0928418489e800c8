// Opens the page.

import { byId } from "./dom.js";
import { unpack } from "./pack.js";
import { Page } from "./page.js";

async function open() {
  try {
    window.page = new Page(await unpack(byId("pack").text));
    document.documentElement.dataset["ready"] = "yes";
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    byId("failure").textContent = `This page could not be opened: ${why}. It needs a browser of 2024 or later.`;
    byId("failure").hidden = false;
    throw error;
  }
}

void open();
