// The example of a provider as a real process, with a server in this one.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { type Operation, OperationsService, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService, Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";

const main = join(import.meta.dirname, "../../examples/provider/main.ts");
const mebibyte = 1_048_576;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface Provider {
  readonly process: ChildProcess;
  readonly output: { text: string };
  /** Resolves to the exit code. */
  readonly exit: Promise<number | null>;
}

/** Starts the provider, and kills it after the test if it still runs. */
function spawnProvider(directory: string, env: Record<string, string> = {}): Provider {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: inject("compileCache"),
      TENANTRY_URL: server.url,
      TENANTRY_API_KEY: server.operatorKey,
      PROVIDER_DIRECTORY: directory,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output.text += text));
  }
  const exit = once(child, "exit").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  return { process: child, output, exit };
}

async function startProvider(directory: string, env: Record<string, string> = {}): Promise<Provider> {
  const provider = spawnProvider(directory, env);
  await expect.poll(() => provider.output.text).toContain("provides storage, compute and network");
  return provider;
}

async function stopProvider({ process, exit }: Provider): Promise<void> {
  process.kill("SIGTERM");
  expect(await exit).toBe(0);
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-provider-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A project, with the calls of a customer. */
async function openProject() {
  const { transport, orgs, projects } = createApi("Connect", server.url, server.operatorKey);
  const org = await orgs.createOrg({ org: { name: uniqueName("acme") } });
  const project = await projects.createProject({ parentPath: org.path, project: { name: "web-shop" } });
  const resources = createClient(ResourcesService, transport);
  const operations = createClient(OperationsService, transport);
  const pathOf = (name: string) => `${project.path}/resources/${name}`;
  const wait = ({ path }: Operation) => operations.waitOperation({ path });
  return {
    operations,
    path: project.path,
    begin: (name: string, operation: string, quantities: Record<string, number> = {}) =>
      resources.runResource({ path: pathOf(name), operation, quantities }),
    beginCreate: (name: string, typePath: string, quantities: Record<string, number> = {}) =>
      resources.createResource({ parentPath: project.path, resource: { name, typePath, quantities } }),
    async create(name: string, typePath: string, quantities: Record<string, number> = {}) {
      return wait(await this.beginCreate(name, typePath, quantities));
    },
    async run(name: string, operation: string, quantities: Record<string, number> = {}) {
      return wait(await this.begin(name, operation, quantities));
    },
    get: (name: string) => resources.getResource({ path: pathOf(name) }),
    suspend: () => projects.suspendProject({ path: project.path }),
    activate: () => projects.activateProject({ path: project.path }),
    forceDelete: () => projects.deleteProject({ path: project.path, force: true }),
    delete: async (name: string) => wait(await resources.deleteResource({ path: pathOf(name) })),
    undelete: async (id: string) => wait(await resources.undeleteResource({ path: pathOf(`@${id}`) })),
    wait,
  };
}

const volumes = "services/storage/resourceTypes/volumes";
const instances = "services/compute/resourceTypes/instances";
const networks = "services/network/resourceTypes/networks";

const succeeded = { state: Operation_State.SUCCEEDED };

/** An output of an operation that is a text. */
function textOf({ outputs }: Operation, name: string): string {
  const value = outputs?.[name];
  if (typeof value !== "string") throw new Error(`there is no output ${name}`);
  return value;
}

/** What an instance says of itself. */
async function ask(operation: Operation): Promise<{ pid: number; cpu_cores: number; heap_bytes: number }> {
  const response = await fetch(`http://${textOf(operation, "address")}`);
  return (await response.json()) as { pid: number; cpu_cores: number; heap_bytes: number };
}

const filesIn = (directory: string) => globSync("*/*", { cwd: directory });

/** Processes of instances, of a resource or with a process id. Those that have ended but are still listed have no arguments. */
function countProcesses(...of: (string | number)[]): number {
  const lines = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  const isOf = (line: string) => of.some((each) => line.trim().split(/\s+/).includes(String(each)));
  return lines.filter((line) => line.includes("instance-program.ts") && isOf(line)).length;
}

test("a volume is a file of the size that was given, at least what was wanted", async () => {
  const directory = await makeDirectory();
  const provider = await startProvider(directory);
  const project = await openProject();
  const created = await project.create("disk", volumes, { instance_storage: 10_000_000 });
  expect(created).toMatchObject({ ...succeeded, givenQuantities: { instance_storage: 10_002_432 } });
  const size = () => statSync(textOf(created, "file")).size;
  expect(size()).toBe(10_002_432);

  for (const bytes of [64 * mebibyte, 2 * mebibyte]) {
    expect(await project.run("disk", "resize", { instance_storage: bytes })).toMatchObject(succeeded);
    expect(size()).toBe(bytes);
  }

  expect(await project.run("disk", "resize", { instance_storage: 2 ** 60 })).toMatchObject({
    state: Operation_State.FAILED,
    error: { reason: "NO_CAPACITY", message: expect.stringContaining("a volume can have at most") as unknown },
  });
  expect(size()).toBe(2 * mebibyte);
  expect(await project.get("disk")).toMatchObject({
    state: Resource_State.ACTIVE,
    givenQuantities: { instance_storage: 2 * mebibyte },
  });

  const { id } = await project.get("disk");
  expect(await project.delete("disk")).toMatchObject(succeeded);
  expect(filesIn(directory)).toEqual([`volumes/${id}.img.deleted`]);
  expect(await project.undelete(id)).toMatchObject(succeeded);
  expect(size()).toBe(2 * mebibyte);
  expect(await project.delete("disk")).toMatchObject(succeeded);
  expect(await project.run(`@${id}`, "purge")).toMatchObject(succeeded);
  expect(filesIn(directory)).toEqual([]);
  await stopProvider(provider);
});

test("an instance is a process with the cores and the memory that were wanted", async () => {
  const directory = await makeDirectory();
  const provider = await startProvider(directory);
  const project = await openProject();
  const created = await project.create("vm", instances, { cpu_cores: 1, ram: 128 * mebibyte });
  expect(created).toMatchObject(succeeded);
  const pid = Number(created.outputs?.["pid"]);
  expect(await ask(created)).toMatchObject({ pid, cpu_cores: 1, heap_bytes: 128 * mebibyte });

  const resized = await project.run("vm", "resize", { cpu_cores: 1, ram: 200_000_000 });
  expect(resized).toMatchObject({ ...succeeded, givenQuantities: { ram: 191 * mebibyte } });
  expect(await ask(resized)).toMatchObject({ heap_bytes: 191 * mebibyte });
  expect(countProcesses(pid)).toBe(0);

  const { id } = await project.get("vm");
  expect(await project.run("vm", "stop")).toMatchObject({ ...succeeded, outputs: { status: "STOPPED" } });
  expect(countProcesses(id)).toBe(0);
  expect(await ask(await project.run("vm", "start"))).toMatchObject({ cpu_cores: 1, heap_bytes: 191 * mebibyte });

  expect(await project.delete("vm")).toMatchObject(succeeded);
  expect(countProcesses(id)).toBe(0);
  expect(filesIn(directory)).toEqual([]);
  await stopProvider(provider);
});

test("an instance is suspended and resumed with its project, across a restart of the provider", async () => {
  const directory = await makeDirectory();
  const first = await startProvider(directory);
  const project = await openProject();
  const created = await project.create("vm", instances, { cpu_cores: 1, ram: 128 * mebibyte });
  const { pid } = await ask(created);
  const isStopped = (of: unknown) =>
    execFileSync("ps", ["-o", "stat=", "-p", String(of)], { encoding: "utf8" }).startsWith("T");
  const stateOf = async () => (await project.get("vm")).state;
  const pidOf = async () => Number((await project.get("vm")).outputs?.["pid"]);
  expect(isStopped(pid)).toBe(false);

  await project.suspend();
  await expect.poll(stateOf).toBe(Resource_State.SUSPENDED);
  expect(isStopped(pid)).toBe(true);
  await stopProvider(first);
  expect(countProcesses(pid)).toBe(0);

  const second = await startProvider(directory);
  const { id } = await project.get("vm");
  expect(countProcesses(id)).toBe(1);
  await project.activate();
  await expect.poll(stateOf).toBe(Resource_State.ACTIVE);
  const restarted = await pidOf();
  expect(restarted).not.toBe(pid);
  expect(isStopped(restarted)).toBe(false);

  await project.forceDelete();
  await expect.poll(() => countProcesses(id)).toBe(0);
  await expect.poll(() => filesIn(directory)).toEqual([]);
  await stopProvider(second);
});

test("a stopped provider leaves no process and no port, and the next one brings everything back", async () => {
  const directory = await makeDirectory();
  const first = await startProvider(directory);
  const project = await openProject();
  await project.create("disk", volumes, { instance_storage: mebibyte });
  const created = await project.create("vm", instances, { cpu_cores: 1, ram: 128 * mebibyte });
  const network = await project.create("net", networks);
  const { id } = await project.get("vm");
  expect(await echo(network, "hello")).toBe("hello");

  await stopProvider(first);
  expect(countProcesses(id)).toBe(0);
  await expect(ask(created)).rejects.toThrow("fetch failed");
  await expect(echo(network, "hello")).rejects.toThrow("ECONNREFUSED");

  const second = await startProvider(directory);
  expect(await ask(created)).toMatchObject({ heap_bytes: 128 * mebibyte });
  expect(await echo(network, "again")).toBe("again");
  expect(await project.run("disk", "resize", { instance_storage: 2 * mebibyte })).toMatchObject(succeeded);
  const { id: disk } = await project.get("disk");
  for (const name of ["disk", "vm", "net"]) expect(await project.delete(name)).toMatchObject(succeeded);
  expect(await project.run(`@${disk}`, "purge")).toMatchObject(succeeded);
  expect(filesIn(directory)).toEqual([]);
  await stopProvider(second);
});

test("an operation whose provider was killed is carried out by the next one, and ends once", async () => {
  const directory = await makeDirectory();
  const first = await startProvider(directory, { PROVIDER_CLAIM_MS: "2000" });
  const project = await openProject();
  const created = await project.create("vm", instances, { cpu_cores: 1, ram: 128 * mebibyte });
  const { id } = await project.get("vm");
  const pid = Number(created.outputs?.["pid"]);
  // Holds the resize up: the provider waits for the end of a process that does not react.
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => {
    if (countProcesses(pid) > 0) process.kill(pid, "SIGKILL");
  });
  const resize = await project.begin("vm", "resize", { cpu_cores: 1, ram: 192 * mebibyte });
  await expect.poll(() => first.output.text).toContain("resize");
  first.process.kill("SIGKILL");
  await first.exit;
  expect(countProcesses(pid)).toBe(1);
  expect(await project.operations.getOperation({ path: resize.path })).toMatchObject({
    state: Operation_State.RUNNING,
  });

  const second = await startProvider(directory, { PROVIDER_CLAIM_MS: "2000" });
  const ended = await project.wait(resize);
  expect(ended).toMatchObject({ ...succeeded, givenQuantities: { ram: 192 * mebibyte } });
  expect(await ask(ended)).toMatchObject({ heap_bytes: 192 * mebibyte });
  expect(countProcesses(pid)).toBe(0);
  expect(countProcesses(id)).toBe(1);
  expect(second.output.text).toMatch(/resize .*\(attempt ([2-9]|10)\): done/);
  const { operations } = await project.operations.listOperations({ parentPath: project.path });
  expect(operations.map(({ verb, state }) => [verb, state])).toEqual([
    ["create", Operation_State.SUCCEEDED],
    ["resize", Operation_State.SUCCEEDED],
  ]);
  expect(await project.operations.getOperation({ path: resize.path })).toEqual(ended);

  expect(await project.delete("vm")).toMatchObject(succeeded);
  await stopProvider(second);
  expect(countProcesses(id)).toBe(0);
  expect(filesIn(directory)).toEqual([]);
});

test("a creation that was cancelled after its provider had died is undone", async () => {
  const directory = await makeDirectory();
  await stopProvider(await startProvider(directory));
  const project = await openProject();
  const create = await project.beginCreate("disk", volumes, { instance_storage: mebibyte });
  const dying = createClient(ProviderService, createTransport("Connect", server.url, server.operatorKey));
  const claimDuration = { seconds: 1n };
  const { claims } = await dying.claimOperations({ servicePath: "services/storage", claimDuration });
  expect(claims.map(({ operation }) => operation?.path)).toEqual([create.path]);
  await writeFile(join(directory, "volumes", `${claims[0]?.resource?.id}.img`), "half");
  await project.operations.cancelOperation({ path: create.path });

  const provider = await startProvider(directory);
  expect(await project.wait(create)).toMatchObject({ state: Operation_State.CANCELLED });
  expect(filesIn(directory)).toEqual([]);
  await expect(project.get("disk")).rejects.toThrow("there is no resource");
  await stopProvider(provider);
});

test.for([
  ["a wrong key", { TENANTRY_API_KEY: "wrong" }, "The service refuses the API key: the bearer token is not valid"],
  [
    "no service",
    { TENANTRY_URL: "http://127.0.0.1:1" },
    "No service answers at http://127.0.0.1:1 (connect ECONNREFUSED",
  ],
  ["no URL", { TENANTRY_URL: "localhost" }, "TENANTRY_URL must be a URL such as http://localhost:8080, got localhost"],
  ["a claim too short", { PROVIDER_CLAIM_MS: "10" }, "PROVIDER_CLAIM_MS must be from 1000 to 3600000, got 10"],
] as const)("says what to do about %s", async ([, env, message]) => {
  const provider = spawnProvider(await makeDirectory(), env);
  expect(await provider.exit).toBe(1);
  await expect.poll(() => provider.output.text).toContain(message);
});

/** Sends a text to a network, and returns what comes back. */
async function echo(operation: Operation, text: string): Promise<string> {
  const [host = "", port] = textOf(operation, "address").split(":");
  const socket = connect(Number(port), host);
  socket.end(text);
  const chunks = await socket.setEncoding("utf8").toArray();
  return chunks.join("");
}
