import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Debian's; the tests bring no browser of their own. */
const executablePath = "/usr/bin/chromium";

export const hasChromium = existsSync(executablePath);

/** A browser that asks nobody but the pages it is sent to. */
export function openBrowser(): Promise<Browser> {
  const quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"];
  return chromium.launch({ executablePath, args: quiet });
}
