// Tests the real command as a process with its embedded database.
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import pg from "pg";
import { readServerAddress } from "../../src/files/server-address.ts";
import { createApi } from "../support/api.ts";
import {
  type Served,
  type User,
  makePrivateFolder,
  runTenantry,
  serveTenantry,
  startTenantry,
} from "../support/command.ts";
import { rounds } from "../support/rounds.ts";
import { createTestDatabase } from "../support/test-database.ts";

const isRoot = process.getuid?.() === 0;
/** What is killed, one after the other. */
const allDeaths: readonly (readonly string[])[] = [["service"], ["database"], ["service", "database"]];
/** Only root can run the command as another user. Its own database is another user's, which matters when it is left running. */
const users: [string, User | undefined, readonly (readonly string[])[]][] = isRoot
  ? [
      ["root", undefined, [["service"]]],
      ["another user", { uid: 1, gid: 1 }, rounds(allDeaths.slice(1), allDeaths)],
    ]
  : [["this user", undefined, allDeaths]];

let running: Served | undefined;
afterEach(async () => {
  await running?.signal("SIGTERM");
  running = undefined;
});

async function serve(folder: string, env: Record<string, string>): Promise<Served> {
  running = await serveTenantry({ cwd: folder, env: { HOME: folder, ...env } });
  return running;
}

const operatorApi = (folder: string, url: string) =>
  createApi("Connect", url, readFileSync(join(folder, "data/operator-key"), "utf8").trim());

async function privateFolder(): Promise<string> {
  const { folder, remove } = await makePrivateFolder(undefined, { withCluster: true });
  onTestFinished(remove);
  return folder;
}

/** A service in a folder of its own, which the tests of a group use one after the other. */
function useService(user: User | undefined, options: { readonly withCluster: boolean }) {
  let folder: string;
  let remove: () => Promise<void>;
  let served: Served;
  const start = async (): Promise<Served> => {
    served = await serveTenantry({ cwd: folder, user, env: { HOME: folder } });
    return served;
  };
  beforeAll(async () => {
    ({ folder, remove } = await makePrivateFolder(user, options));
    await start();
  });
  afterAll(async () => {
    await served.signal("SIGTERM");
    await remove();
  });
  return { start, served: () => served, folder: () => folder, api: () => operatorApi(folder, served.url) };
}

describe.each(users)("as %s, in a private home directory", (_name, user, deaths) => {
  // A new cluster of the user who runs the tests is what all tests begin with.
  const { start, served, folder, api } = useService(user, { withCluster: user === undefined });

  test("acknowledged writes survive when the service, its database or both are killed", async () => {
    await api().orgs.createOrg({ org: { name: "acme" } });

    for (const victims of deaths) {
      const { pid } = served();
      if (victims.includes("database")) process.kill(databasePid(folder()), "SIGKILL");
      if (victims.includes("service")) await served().signal("SIGKILL");
      else await served().signal("SIGTERM");
      expect(() => process.kill(pid, 0)).toThrow();
      await start();
      const { orgs } = await api().orgs.listOrgs({});
      expect(orgs.map((org) => org.name)).toContain("acme");
      await api().projects.createProject({ parentPath: "orgs/acme", project: { name: `after-${victims.join("-")}` } });
    }
    const { projects } = await api().projects.listProjects({ parentPath: "orgs/acme" });
    expect(projects.map((project) => project.name)).toEqual(deaths.map((victims) => `after-${victims.join("-")}`));
  });

  test("the service restarts its database when that dies", async () => {
    const killed = databasePid(folder());
    process.kill(killed, "SIGKILL");
    // What the server has started may answer until it learns that it is gone.
    await expect.poll(() => databasePid(folder())).not.toBe(killed);
    const requestId = randomUUID();
    const create = () =>
      api()
        .orgs.createOrg({ org: { name: "initech" }, requestId })
        .then(
          () => "answers",
          () => "does not",
        );
    await expect.poll(create).toBe("answers");
  });
});

describe("in the directory of a service", () => {
  const { start, served, folder, api } = useService(undefined, { withCluster: true });
  const run = (...args: string[]) => runTenantry(args, { cwd: folder() });
  const modeOf = (file: string): string => execFileSync("stat", ["-c", "%a", file], { encoding: "utf8" }).trim();
  const pidFile = () => join(folder(), "data/postgres/cluster/postmaster.pid");

  test("only the owner can read the files with secrets of the operator, which commands replace while the service runs", async () => {
    const keyFile = join(folder(), "data/operator-key");
    expect(modeOf(keyFile)).toBe("600");
    const key = readFileSync(keyFile, "utf8");
    expect(await run("operator-key")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("sign-in-link")).toMatchObject({
      code: 0,
      stderr: "The link with which the operator signs in is in data/sign-in-link\n",
    });
    expect(await run("migrate")).toMatchObject({ code: 0, stdout: "Nothing to migrate.\n" });
    expect(readFileSync(keyFile, "utf8")).not.toBe(key);
    await api().orgs.listOrgs({});
  });

  test("a second server exits and names the process that uses it", async () => {
    const second = await runTenantry(["serve"], { cwd: folder(), env: { PORT: "0" } });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(String(served().pid));
  });

  test("commands find it at any port, while it runs", async () => {
    const data = join(folder(), "data");
    const file = join(data, "server-address");
    const whoami = await run("whoami", "--output", "json");
    expect([whoami.code, JSON.parse(whoami.stdout)]).toMatchObject([
      0,
      { member: { path: expect.any(String) as string } },
    ]);
    const organisation = join(import.meta.dirname, "../../examples/acme.yaml");
    expect((await run("import", organisation)).code).toBe(0);
    // A flag that names it is as good, and one that names another port is not.
    const named = ["list", "orgs", "--output", "name", "--server"];
    expect(await run(...named, served().url)).toMatchObject({ code: 0, stdout: expect.stringContaining("acme") });
    expect(await run(...named, "http://127.0.0.1:1")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("nobody is signed in at http://127.0.0.1:1"),
    });
    expect(modeOf(file)).toBe("600");
    await served().signal("SIGKILL");
    expect(existsSync(file)).toBe(true);
    expect(await readServerAddress(data)).toBeUndefined();
    const { url } = await start();
    expect(await readServerAddress(data)).toBe(url);
  });

  test("SIGHUP, from a terminal that has gone, stops it and its database", async () => {
    expect(existsSync(pidFile())).toBe(true);
    expect(await served().signal("SIGHUP")).toBe(0);
    expect(existsSync(pidFile())).toBe(false);
    expect(existsSync(join(folder(), "data/server-address"))).toBe(false);
  });

  test("a lost key of the operator is replaced, and a service without the secret key of the others starts once that is forgotten", async () => {
    const keyFile = join(folder(), "data/operator-key");
    const lost = readFileSync(keyFile, "utf8");
    expect(await run("operator-key")).toMatchObject({
      code: 0,
      stdout: "The operator's new API key is in data/operator-key\n",
    });
    expect(readFileSync(keyFile, "utf8")).not.toBe(lost);
    rmSync(join(folder(), "data/secret-keys"));
    const { code, stderr } = await runTenantry(["serve"], { cwd: folder(), env: { PORT: "0" } });
    expect(code).toBe(1);
    const [, key = ""] =
      /^data\/secret-keys lacks the secret key ([0-9a-f]{16}), with which servers/.exec(stderr) ?? [];
    expect(stderr).toContain(`"tenantry forget-secret-key ${key}"`);
    expect(await run("forget-secret-key", "0")).toMatchObject({
      code: 1,
      stderr: `no signing key in the database is encrypted with a secret key 0; there are some with ${key}\n`,
    });
    const [, own = ""] = /; it has ([0-9a-f]{16})\. /.exec(stderr) ?? [];
    expect(await run("forget-secret-key", own)).toMatchObject({
      code: 1,
      stderr: `the secret key ${own} is in data/secret-keys, so it is not lost; to replace it, see docs/operating.md\n`,
    });
    expect(await run("forget-secret-key", key)).toMatchObject({ code: 0, stderr: "" });
    await start();
    await api().orgs.listOrgs({});
  });
});

test("SIGTERM lets requests in flight end", async () => {
  const folder = await privateFolder();
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { url } = await serve(folder, { DATABASE_URL: database.url });
  const api = operatorApi(folder, url);
  const locker = new pg.Client({ connectionString: database.url });
  // A separate connection, because within a transaction pg_stat_activity does not change.
  const watcher = new pg.Client({ connectionString: database.url });
  await Promise.all([locker.connect(), watcher.connect()]);
  // Blocks the creation of orgs.
  await locker.query("begin; lock table orgs in share mode");
  const calls = ["a", "b", "c"].map((name) => api.orgs.createOrg({ org: { name } }));
  const waiting =
    "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  const countWaiting = async () => (await watcher.query<{ count: number }>(waiting)).rows[0]?.count;
  await expect.poll(countWaiting).toBe(3);
  const stopped = running?.signal("SIGTERM");
  await expect.poll(() => running?.output.stdout).toContain("stopping");
  await locker.query("commit");
  await Promise.all([locker.end(), watcher.end()]);
  expect((await Promise.all(calls)).map((org) => org.name)).toEqual(["a", "b", "c"]);
  expect(await stopped).toBe(0);
  running = undefined;
});

test("after SIGTERM the server is not ready immediately, serves for a while, and then stops", async () => {
  const folder = await privateFolder();
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const env = { DATABASE_URL: database.url, TENANTRY_SHUTDOWN_DELAY_MS: "10000" };
  const { url } = await serve(folder, env);
  const api = operatorApi(folder, url);
  const readiness = async () => (await fetch(`${url}/readyz`)).status;
  await expect.poll(readiness).toBe(200);
  const stopped = running?.signal("SIGTERM");
  await expect.poll(readiness).toBe(503);
  expect(await api.orgs.createOrg({ org: { name: "late" } })).toMatchObject({ name: "late" });
  expect(await stopped).toBe(0);
  running = undefined;
});

test("a service that waits for its database says so, and ends at SIGTERM", async () => {
  const env = { DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/none", PORT: "0" };
  const waiting = startTenantry(["serve"], { env });
  await expect.poll(() => waiting.output.stdout).toMatch(/waiting for the database; http:\S+ answers 503 meanwhile/);
  const [url] = /http:[^ ]+/.exec(waiting.output.stdout) ?? [];
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect(await waiting.signal("SIGTERM")).toBe(0);
  expect(waiting.output.stdout).toContain('"msg":"stopped"');
  expect(waiting.output).not.toMatchObject({ stdout: expect.stringContaining("secret") as unknown });
  expect(waiting.output.stderr).toBe("");
});

test("a collector that does not answer does not keep a service that has stopped", async () => {
  const collector = createServer().listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => void collector.close());
  const { port } = collector.address() as { port: number };
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_TIMEOUT: "86400000" };
  // Without a database, calls are traced as well.
  const env = { DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/none", PORT: "0", ...traces };
  const waiting = startTenantry(["serve"], { env });
  onTestFinished(() => void waiting.child.kill("SIGKILL"));
  await expect.poll(() => waiting.output.stdout).toContain("waiting for the database");
  const [url] = /http:[^ ]+/.exec(waiting.output.stdout) ?? [];
  const asked = once(collector, "connection");
  expect((await fetch(`${url}/iam/v1alpha/orgs`)).status).toBe(503);
  const ended = waiting.signal("SIGTERM");
  await asked;
  expect(await ended).toBe(0);
  expect(waiting.output.stdout).toContain('"msg":"stopped"');
});

test("stopping npm start stops the service", async () => {
  const folder = await privateFolder();
  const npm = spawn("npm", ["start"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, PORT: "0", TENANTRY_DATA: join(folder, "data"), TENANTRY_SHUTDOWN_DELAY_MS: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  npm.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await expect.poll(() => output).toContain("listening on");
  npm.kill("SIGTERM");
  await once(npm, "close");
  expect(output).toContain('"msg":"stopped"');
});

describe("reports an error", () => {
  test("with a setting", async () => {
    const { code, stderr } = await runTenantry(["serve"], { env: { PORT: "http", TENANTRY_PROT: "1" } });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'TENANTRY_PROT is not a setting; "tenantry serve --help" lists them\n' +
        'PORT must be a whole number from 0 to 65535, got "http"\n',
    );
  });

  test("with the name of the database, at once", async () => {
    const url = new URL(inject("serverUrl"));
    url.pathname = "/no-such-database";
    const { code, stdout, stderr } = await runTenantry(["serve"], { env: { DATABASE_URL: url.href, PORT: "0" } });
    expect(code).toBe(1);
    expect(stderr).toBe('Cannot use the database in DATABASE_URL.\n  database "no-such-database" does not exist\n');
    expect(stdout).not.toContain("waiting");
  });

  test("with a database that cannot be reached, except for the service, which waits for it", async () => {
    const env = { DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/none" };
    const { code, stderr } = await runTenantry(["migrate"], { env });
    expect(code).toBe(1);
    expect(stderr).toContain("Cannot use the database in DATABASE_URL.\n  connect ECONNREFUSED 127.0.0.1:1\n");
    expect(stderr).not.toContain("secret");
  });

  test("with the port", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const folder = await privateFolder();
    const { code, stderr } = await runTenantry(["serve"], { cwd: folder, env: { PORT: String(port) } });
    expect(code).toBe(1);
    expect(stderr).toContain(String(port));
    expect(stderr).toContain("PORT");
  });

  test("with a command", async () => {
    const { code, stderr } = await runTenantry(["sreve"]);
    expect(code).toBe(64);
    expect(stderr).toContain("did you mean serve?");
  });

  test("and lists the commands and settings for --help", async () => {
    const { stdout } = await runTenantry(["--help"]);
    for (const word of ["serve", "migrate", "import", "operator-key"]) expect(stdout).toContain(word);
    const { stdout: ofServe } = await runTenantry(["serve", "--help"]);
    for (const word of ["DATABASE_URL", "TENANTRY_DATA", "PORT"]) expect(ofServe).toContain(word);
  });
});

/** Returns the process id in postmaster.pid, which PostgreSQL keeps in its data directory. */
function databasePid(folder: string): number {
  const file = join(folder, "data/postgres/cluster/postmaster.pid");
  return Number(readFileSync(file, "utf8").split("\n", 1)[0]);
}
