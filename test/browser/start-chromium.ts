import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the browser of all files of tests is reached. */
    chromium: string;
  }
}

/** Debian's package; the tests do not install a browser. */
export const wholeBrowser = "/usr/bin/chromium";

/** The same without a window of its own around each page, which takes five times as much processor time. */
const withoutWindow = "/usr/bin/chromium-headless-shell";

/** It makes no requests of its own, and emulates no graphics card. */
export const args = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--disable-gpu",
];

/** Launches the browser. To launch it takes a second of processor time. */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const isThere = existsSync(withoutWindow);
  if (!isThere) console.warn(`${withoutWindow} is missing: the tests take five times as long in ${wholeBrowser}.`);
  const executablePath = isThere ? withoutWindow : wholeBrowser;
  const server = await chromium.launchServer({ executablePath, args });
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
