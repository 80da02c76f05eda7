// Runs the recipes of docs/clients.md: for each folder of examples/clients, generates a client from the bundle of a running
// service, compiles it, and drives the service with it. `npm run clients -- go python` runs some of them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const examples = join(root, "examples/clients");
const recipes = readdirSync(examples).filter((name) => existsSync(join(examples, name, "run.sh")));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !recipes.includes(name));
if (unknown.length > 0) throw new Error(`there is no recipe ${unknown.join(", ")}; there are ${recipes.join(", ")}`);

const directory = mkdtempSync(join(tmpdir(), "tenantry-clients-"));
const started: ChildProcess[] = [];

/** Starts a program of the project, and returns what matches the pattern in its output. */
async function start(args: readonly string[], env: Record<string, string>, pattern: RegExp): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += String(text);
    const found = pattern.exec(output);
    if (found === null) continue;
    // Nobody reads the rest.
    child.stdout.resume();
    return found[1] ?? "";
  }
  throw new Error(`${args.join(" ")} has ended: ${output}`);
}

async function runRecipe(name: string, env: Record<string, string>): Promise<void> {
  const folder = join(directory, name);
  cpSync(join(examples, name), folder, { recursive: true });
  if (existsSync(join(folder, "package.json"))) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const before = performance.now();
  const child = spawn("sh", ["run.sh"], { cwd: folder, env: { ...process.env, ...env }, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`the recipe ${name} ended with ${code}`);
  console.log(`${name}: ${Math.round((performance.now() - before) / 1_000)} s`);
}

try {
  const data = join(directory, "data");
  const serviceEnv = { PORT: "0", TENANTRY_DATA: data, TENANTRY_SHUTDOWN_DELAY_MS: "0", TENANTRY_ACCESS_LOG: "off" };
  const url = await start(["bin/tenantry.js", "serve"], serviceEnv, /listening on (http:[^"]+)/);
  const key = readFileSync(join(data, "operator-key"), "utf8").trim();
  const provider = { TENANTRY_URL: url, TENANTRY_API_KEY: key, PROVIDER_DIRECTORY: join(directory, "provider") };
  await start(["examples/provider/main.ts"], provider, /(provides storage)/);
  for (const name of wanted.length > 0 ? wanted : recipes) {
    await runRecipe(name, { TENANTRY_URL: url, TENANTRY_KEY: key, TENANTRY_ORG: `clients-${name}` });
  }
} finally {
  for (const child of started.toReversed()) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  rmSync(directory, { recursive: true, force: true });
}
