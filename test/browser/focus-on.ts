import type { Page } from "playwright-core";

/** How a screen reader calls what has the focus. */
const nameOfFocused = `(({ ariaLabel, labels, textContent }) =>
  (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim())(document.activeElement)`;

/** Presses Tab until a button or field has the focus. */
export async function focusOn(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(nameOfFocused)) === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}
