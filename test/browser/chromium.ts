import { type Browser, chromium } from "playwright-core";

/** Debian's package; the tests do not install a browser. */
const executablePath = "/usr/bin/chromium";

/** Launches a browser that makes no requests of its own. */
export function openBrowser(): Promise<Browser> {
  const quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"];
  return chromium.launch({ executablePath, args: quiet });
}
