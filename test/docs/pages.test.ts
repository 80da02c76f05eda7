import { globSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { type Prepared, blocksOf, commandsOf, errorsIn, hasCurl, preparePages, root, runPage } from "./run-page.ts";

const canRun = hasCurl();
let prepared: Prepared | undefined;
beforeAll(async () => {
  if (canRun) prepared = await preparePages();
});
afterAll(() => prepared?.close());

test.skipIf(!canRun)("the commands of the README return what it shows", async () => {
  const answers = await runPage("README.md", required(prepared));
  for (const [index, { text, shown }] of commandsOf("README.md").entries()) {
    const answer = required(answers[index]);
    const errors = errorsIn(answer);
    // The lines of an error are broken, and its end can be left out.
    const message = /"message":"([^"]*)/
      .exec(shown)?.[1]
      ?.replaceAll(/\s+/g, " ")
      .replace(/\.\.\. $/, "");
    const expected = message === undefined ? [] : [expect.stringContaining(message)];
    expect({ text, errors }).toEqual({ text, errors: expected });
    for (const [part] of shown.matchAll(sameEverywhere))
      expect({ text, answer }).toEqual({ text, answer: expect.stringContaining(part) });
  }
});

/** Fields of answers that have the same values in all installations. */
const sameEverywhere =
  /"(?:allowed|verb|state|done|display_name|given_quantities|quantities)":(?:\w+|"[^"]*"|\{[^}]*\})/g;

const pages = globSync("docs/*.md", { cwd: root });

/** docs/clients.md needs the toolchains of other languages: `npm run clients` runs its commands. */
const withCommands = pages.filter((page) => page !== "docs/clients.md" && commandsOf(page).length > 0);

test.skipIf(!canRun).each(withCommands)("the commands of %s work, in their order", async (page) => {
  const answers = await runPage(page, required(prepared));
  const commands = commandsOf(page);
  expect(answers).toHaveLength(commands.length);
  for (const [index, { text }] of commands.entries()) {
    expect({ text, errors: errorsIn(answers[index] ?? "") }).toEqual({ text, errors: [] });
  }
});

test.each(["README.md", ...pages])("%s sets the variables that its commands use", (page) => {
  const commandsOfPage = blocksOf(page).filter(({ language }) => language === "sh");
  const text = commandsOfPage.map((block) => block.text).join("\n");
  const used = [...text.matchAll(/(?<!\\)\$\{?([a-z]\w*)/g)].map(([, name]) => name);
  expect(used.filter((name) => !new RegExp(`^${name}=`, "m").test(text))).toEqual([]);
});
