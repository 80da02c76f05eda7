// Runs the recipes of docs/clients.md: for each folder of examples/clients, generates a client from the bundle of a running
// service, compiles it, and drives the service with it. `npm run clients -- go python` runs some of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import pMap from "p-map";
import { withService } from "./with-service.ts";

const root = join(import.meta.dirname, "..");
const examples = join(root, "examples/clients");
const recipes = readdirSync(examples).filter((name) => existsSync(join(examples, name, "run.sh")));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !recipes.includes(name));
if (unknown.length > 0) throw new Error(`there is no recipe ${unknown.join(", ")}; there are ${recipes.join(", ")}`);

/** The recipes whose npm packages are all among those of this project; others install their own. */
const sharesPackages = new Set(["typescript"]);

async function runRecipe(name: string, directory: string, env: Record<string, string>): Promise<void> {
  const folder = join(directory, name);
  cpSync(join(examples, name), folder, { recursive: true });
  if (sharesPackages.has(name)) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  await runProgram(`the recipe ${name}`, ["sh", "run.sh"], folder, env);
  if (name === "grpcurl") await runPages(join(folder, "bin/grpcurl"));
}

/** Runs the commands of the pages that show grpcurl, with the one that its recipe has built. */
async function runPages(grpcurl: string): Promise<void> {
  const pages = ["test/docs/pages.test.ts", "--testNamePattern", "commands of (the README|docs/grpc-and-connect)"];
  await runProgram("the pages with grpcurl", ["npx", "vitest", "run", ...pages], root, { GRPCURL: grpcurl });
}

/** Runs a program, and prints its output in one piece. */
async function runProgram(
  what: string,
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<void> {
  const before = performance.now();
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => output.push(data));
  const [code] = (await once(child, "close")) as [number | null];
  process.stdout.write(Buffer.concat(output));
  if (code !== 0) throw new Error(`${what} ended with ${code}`);
  console.log(`${what}: ${Math.round((performance.now() - before) / 1_000)} s`);
}

/** A recipe receives what the service sends. */
const settings = { TENANTRY_WEBHOOK_NETWORKS: "127.0.0.1" };

await withService(async ({ url, key, directory, start }) => {
  const provider = { TENANTRY_URL: url, TENANTRY_API_KEY: key, PROVIDER_DIRECTORY: join(directory, "provider") };
  await start(["examples/provider/main.ts"], provider, /(provides storage)/);
  const run = (name: string): Promise<void> =>
    runRecipe(name, directory, { TENANTRY_URL: url, TENANTRY_KEY: key, TENANTRY_ORG: `clients-${name}` });
  // Some download while others compile. One that fails does not end the other, whose compiler would go on.
  await pMap(wanted.length > 0 ? wanted : recipes, run, { concurrency: 2, stopOnError: false });
}, settings);
