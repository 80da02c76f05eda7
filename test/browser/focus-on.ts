import type { Page } from "playwright-core";
import { expect } from "vitest";

/** How a screen reader calls an element. */
const nameOf = `(({ ariaLabel, labels, textContent }) => (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim())`;

/** What Tab can lead to. A button is disabled until it is known whether it would be refused. */
const focusable = ":is(a[href], button, input, select, textarea, [tabindex]):not(:disabled)";

/** Presses Tab until a button or field has the focus, when it is there. */
export async function focusOn(page: Page, name: string): Promise<void> {
  const names = `[...document.querySelectorAll(${JSON.stringify(focusable)})].map(${nameOf})`;
  await expect.poll(() => page.evaluate<string[]>(names)).toContain(name);
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(`${nameOf}(document.activeElement)`)) === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}
