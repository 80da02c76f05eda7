// Runs the conformance suite of Connect on the listener and the RPC handlers of the service: HTTP/1.1 and HTTP/2, Connect, gRPC and
// gRPC-Web, Protobuf and JSON, compressed and not. Run with `npm run conformance`; it needs Go, which takes the suite from where it
// is configured to take modules, once. Arguments are passed on: `npm run conformance -- --run 'Timeouts/**' --trace`. Takes a minute.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const run = promisify(execFile);

const version = "v1.0.7";
const module = "connectrpc.com/conformance";
const root = join(import.meta.dirname, "..");
const folder = join(root, "test/conformance");
const cache = join(root, "node_modules/.cache/conformance", version);
const suite = join(cache, "connectconformance");
const program = join(cache, "serve.js");

/** Installs the suite, and generates the code of its protos. */
async function install(): Promise<void> {
  await run("go", ["install", `${module}/cmd/connectconformance@${version}`], {
    env: { ...process.env, GOBIN: cache },
  });
  const { stdout } = await run("go", ["mod", "download", "-json", `${module}@${version}`]);
  const protos = join((JSON.parse(stdout) as { Dir: string }).Dir, "proto");
  const options = ["target=ts", "import_extension=ts", "erasable_syntax=true"];
  const plugins = [{ local: "node_modules/.bin/protoc-gen-es", out: join(folder, "gen"), opt: options }];
  const files = ["config", "server_compat", "service"].flatMap((name) => [
    "--path",
    join(protos, "connectrpc/conformance/v1", `${name}.proto`),
  ]);
  await run("buf", ["generate", protos, "--template", JSON.stringify({ version: "v2", plugins }), ...files], {
    cwd: root,
  });
}

/** Bundles the server: the suite starts it for each of its configurations, and waits ten seconds for it. */
async function bundle(): Promise<void> {
  const bundled = await rolldown({ input: join(folder, "serve.ts"), platform: "node", logLevel: "warn" });
  await bundled.write({ file: program, format: "esm", codeSplitting: false });
  await bundled.close();
}

if (!existsSync(suite)) await install();
await bundle();
const args = ["--mode", "server", "--conf", join(folder, "config.yaml"), "--max-servers", "2"];
const lists = [
  "--known-failing",
  `@${join(folder, "known-failing.txt")}`,
  "--known-flaky",
  `@${join(folder, "known-flaky.txt")}`,
];
const server = ["--", process.execPath, program];
const child = spawn(suite, [...args, ...lists, ...process.argv.slice(2), ...server], { stdio: "inherit" });
const [code] = (await once(child, "exit")) as [number | null];
process.exitCode = code ?? 1;
