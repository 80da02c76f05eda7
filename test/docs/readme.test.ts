// Runs what the README shows as a newcomer would: in one shell, in this order, with the organisation and the provider that it names.
import { execFileSync, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { runTenantry } from "../support/command.ts";
import { startTestServer } from "../support/test-server.ts";

const root = resolve(import.meta.dirname, "../..");

function blocksOf(page: string): { language: string; text: string }[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", block = ""]) => ({
    language,
    text: block,
  }));
}

/** The commands of the README, with the JSON that it shows after them; without those that install, test and start the service. */
const commands = blocksOf("README.md").flatMap(({ language, text }, index, blocks) => {
  if (language !== "sh" || text.startsWith("npm ci")) return [];
  const next = blocks[index + 1];
  return [{ text, shown: next?.language === "json" ? next.text : "" }];
});

/** A line before the answers of each block. */
const mark = "== block";

/** Returns the answers of each block. */
async function runCommands(): Promise<string[]> {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const directory = await mkdtemp(join(tmpdir(), "tenantry-readme-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, "data"));
  await writeFile(join(directory, "data/operator-key"), `${server.operatorKey}\n`);
  const env = { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey };
  expect(await runTenantry(["import", join(root, "examples/acme.yaml")], { env })).toMatchObject({ code: 0 });

  const script = [
    // Each answer is in a line of its own.
    'curl() { command curl --silent --show-error "$@" && echo; }',
    "grpcurl() { true; }",
    // Starts the provider, the only thing that the README starts with npm besides the service.
    'npm() { "$NODE" "$PROVIDER" > provider.log & trap "kill $!" EXIT; until grep -q "provides storage" provider.log; do sleep 0.1; done; }',
    ...commands.flatMap(({ text }) => [`echo "${mark}"`, text]),
  ].join("\n");
  const shell = spawn("bash", ["-eu", "-c", script.replaceAll("http://localhost:8080", server.url)], {
    cwd: directory,
    env: {
      ...env,
      PATH: process.env["PATH"],
      NODE: process.execPath,
      PROVIDER: join(root, "examples/provider/main.ts"),
    },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 120_000,
  });
  let output = "";
  for await (const text of shell.stdout.setEncoding("utf8")) output += text as string;
  return output.split(`${mark}\n`).slice(1);
}

test.skipIf(!hasCurl())("the commands of the README return what it shows", async () => {
  const answers = await runCommands();
  for (const [index, { text, shown }] of commands.entries()) {
    const answer = required(answers[index]);
    const errors = [...answer.matchAll(/"error":\{.*?"message":"([^"]*)/g)].map(([, message]) => message);
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

function hasCurl(): boolean {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test.each(["README.md", ...globSync("docs/*.md", { cwd: root })])(
  "%s sets the variables that its commands use",
  (page) => {
    const commandsOfPage = blocksOf(page).filter(({ language }) => language === "sh");
    const text = commandsOfPage.map((block) => block.text).join("\n");
    const used = [...text.matchAll(/(?<!\\)\$\{?([a-z]\w*)/g)].map(([, name]) => name);
    expect(used.filter((name) => !new RegExp(`^${name}=`, "m").test(text))).toEqual([]);
  },
);
