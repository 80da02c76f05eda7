import type { Page } from "playwright-core";

/** Types into a field that searches, and takes what it finds. */
export async function pick(page: Page, field: string, words: string): Promise<void> {
  await page.getByRole("combobox", { name: field }).fill(words);
  await page.getByRole("option", { name: words }).first().click();
}
