// Runs the commands of a page as a newcomer would: in one shell, in their order, with the organisation and the provider that the README
// names.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { importInto } from "../cli/support/import-into.ts";
import { expectNoDrift } from "../support/expect-no-drift.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { issuer, startTestServer } from "../support/test-server.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";

export const root = resolve(import.meta.dirname, "../..");

/** What a page shows. */
export interface Block {
  /** `sh`, `json` */
  readonly language: string;
  readonly text: string;
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map(([, indent = "", language = "", block = ""]) => ({
    language,
    text: block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** The commands of a page, with the JSON that it shows after them; without those that install, test and start the service. */
export function commandsOf(page: string): { readonly text: string; readonly shown: string }[] {
  return blocksOf(page).flatMap(({ language, text }, index, blocks) => {
    if (language !== "sh" || text.startsWith("npm ci")) return [];
    const next = blocks[index + 1];
    return [{ text, shown: next?.language === "json" ? next.text : "" }];
  });
}

/** A line before the answers of each block. */
const mark = "== block";

/** What a page begins with: a database that has the organisation of the README, and the keys to it. */
export interface Prepared {
  readonly databaseUrl: string;
  readonly secretKeysFile: string;
  readonly operatorKey: string;
  close(): Promise<void>;
}

/** Imports the organisation once, for all pages. */
export async function preparePages(): Promise<Prepared> {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tenantry-pages-"));
  const secretKeysFile = await writeSecretKeys(directory);
  const settings = { databaseUrl: database.url, secretKeysFile, issuer };
  const server = await startTestServer(settings);
  const { operatorKey } = server;
  await importInto(server, join(root, "examples/acme.yaml"));
  await server.close();
  return {
    ...settings,
    operatorKey,
    async close() {
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the answers of each block of commands, which have a service for themselves. */
export async function runPage(page: string, { databaseUrl, secretKeysFile, operatorKey }: Prepared): Promise<string[]> {
  const database = await createTestDatabase({ copyOf: databaseUrl });
  onTestFinished(() => expectNoDrift(database.url).finally(() => database.drop()));
  const settings = { databaseUrl: database.url, secretKeysFile, issuer };
  const server = await startTestServer({ ...settings, webhookNetworks: ["127.0.0.1/32"] });
  onTestFinished(() => server.close());
  const directory = await mkdtemp(join(tmpdir(), "tenantry-page-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, "data"));
  await writeFile(join(directory, "data/operator-key"), `${operatorKey}\n`);
  const env = { TENANTRY_URL: server.url, TENANTRY_API_KEY: operatorKey };

  const script = [
    // Each answer is in a line of its own.
    'curl() { command curl --silent --show-error "$@" && echo; }',
    // `npm run clients` names the one that it has built.
    'grpcurl() { [ -z "${GRPCURL-}" ] || "$GRPCURL" "$@"; }',
    // Every run of npx takes a second.
    'npx() { "$NODE" "$ROOT/bin/$1.js" "${@:2}"; }',
    // Starts the provider, the only thing that a page starts with npm besides the service.
    'npm() { "$NODE" "$PROVIDER" > provider.log & trap "kill $!" EXIT; until grep -q "provides storage" provider.log; do sleep 0.1; done; }',
    ...commandsOf(page).flatMap(({ text }) => [`echo "${mark}"`, text]),
  ].join("\n");
  const address = new URL(server.url).host;
  // On a busy machine, an operation takes longer than anybody who reads the page would wait.
  const patient = script.replaceAll('{"timeout": "10s"}', '{"timeout": "120s"}');
  const shell = spawn("bash", ["-eu", "-c", patient.replaceAll("localhost:8080", address)], {
    cwd: directory,
    env: {
      ...env,
      PATH: process.env["PATH"],
      NODE: process.execPath,
      GRPCURL: process.env["GRPCURL"],
      ROOT: root,
      PROVIDER: join(root, "examples/provider/main.ts"),
    },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 280_000,
  });
  let output = "";
  for await (const text of shell.stdout.setEncoding("utf8")) output += text as string;
  expect({ code: shell.exitCode ?? (await once(shell, "exit"))[0], output }).toEqual({ code: 0, output });
  return output.split(`${mark}\n`).slice(1);
}

/** Returns the messages of the errors among answers. */
export function errorsIn(answers: string): (string | undefined)[] {
  return [...answers.matchAll(/"(?:error":\{.*?"|code":"[a-z_]+",")message":"([^"]*)/g)].map(([, message]) => message);
}

export function hasCurl(): boolean {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
