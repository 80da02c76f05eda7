import axe from "axe-core";
import type { Page } from "playwright-core";

interface Finding {
  readonly impact: string;
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Returns what axe finds that keeps people out. */
export async function findingsOf(page: Page, options = ""): Promise<string[]> {
  await page.evaluate("'axe' in window").then((isThere) => isThere === true || page.evaluate(axe.source));
  const { violations } = await page.evaluate<{ violations: readonly Finding[] }>(`axe.run(${options})`);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
