import type { Page } from "playwright-core";

/** Returns the commands with which the same can be done in a shell as the screen has done. */
export async function shellCommands(page: Page, program: "tenantry" | "curl"): Promise<readonly string[]> {
  const panel = page.locator("details.shell");
  if ((await panel.getAttribute("open")) === null) await panel.getByText("The same in a shell").click();
  await panel.getByRole("radio", { name: program }).check();
  await panel.getByRole("listitem").first().waitFor();
  return panel.locator("li code").allTextContents();
}
