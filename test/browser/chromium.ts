import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";
import { args, wholeBrowser } from "./start-chromium.ts";

/** Connects to the browser of all files of tests. What is opened here is separate from that of others, and ends when this is closed. */
export function openBrowser(): Promise<Browser> {
  return chromium.connect(inject("chromium"));
}

/** Launches one with windows of its own. The other one does not follow what a test redirects from an address with https to one with http. */
export function openWholeBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: wholeBrowser, args });
}
