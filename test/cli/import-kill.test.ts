// Kills the importer or the server in the middle of an import, and repeats the import. The server has its own database,
// which outlives it, as in an installation.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { copyCluster } from "../support/copy-cluster.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { createTransport } from "../support/transports.ts";
import { importInto, total } from "./support/import-into.ts";
import { type RunningCommand, runTenantry, spawnTenantry } from "./support/spawn-tenantry.ts";

interface SpawnedServer {
  readonly command: RunningCommand;
  readonly url: string;
  readonly operatorKey: string;
}

const members = Array.from({ length: 150 }, (_, index) => `m${index}`);
/** Groups with many memberships, which the importer creates with several requests. */
const groups = Array.from({ length: 20 }, (_, index) => ({ name: `g${index}`, members }));
const membershipCount = members.length * groups.length;
/** The number of resources: the org, its members, the groups and their memberships. */
const resources = 1 + members.length + groups.length + membershipCount;

let directory: string;
let file: string;
let server: SpawnedServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tenantry-kill-"));
  await copyCluster(inject("migratedCluster"), join(directory, "postgres"));
  file = join(directory, "org.json");
  await writeFile(file, JSON.stringify({ org: "unnamed", members, groups }));
  server = await startServer();
});

afterAll(async () => {
  server.command.process.kill("SIGTERM");
  await server.command.exit;
  await rm(directory, { recursive: true, force: true });
});

async function startServer(): Promise<SpawnedServer> {
  const command = spawnTenantry(["serve"], { TENANTRY_DATA: directory, PORT: "0", TENANTRY_ACCESS_LOG: "off" });
  try {
    const url = await vi.waitFor(() => readUrl(command.stdout()), { timeout: 120_000 });
    return { command, url, operatorKey: (await readFile(join(directory, "operator-key"), "utf8")).trim() };
  } catch (error) {
    command.process.kill("SIGTERM");
    throw error;
  }
}

function readUrl(log: string): string {
  const [, url] = /listening on (http:[^"]+)/.exec(log) ?? [];
  if (url === undefined) throw new Error(`the server does not listen: ${log}`);
  return url;
}

/** Returns the exit code, or null if the signal has ended it. */
async function kill({ process, exit }: RunningCommand): Promise<number | null> {
  process.kill("SIGKILL");
  return exit;
}

/** Returns the numbers of stored members and memberships. */
async function countStored(org: string): Promise<number[]> {
  const transport = createTransport("Connect", server.url, server.operatorKey);
  const list = { parentPath: `orgs/${org}`, pageSize: 1_000 };
  const stored = await createClient(MembersService, transport).listMembers(list);
  const memberships: { readonly path: string }[] = [];
  let pageToken = "";
  do {
    const inGroups = { ...list, parentPath: `orgs/${org}/groups/-`, pageToken };
    const page = await createClient(GroupMembersService, transport).listGroupMembers(inGroups);
    memberships.push(...page.members);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return [stored.members, memberships].map((items) => new Set(items.map(({ path }) => path)).size);
}

/** Kills an importer whose second batch of memberships does not arrive. */
async function killImporter(org: string): Promise<void> {
  let batches = 0;
  const proxy = await startSilentProxy(server.url, 0, () => ({
    fromClient(bytes) {
      if (!bytes.includes("/BatchCreateGroupMembers ")) return;
      batches++;
      if (batches === 2) proxy.silence();
    },
    fromServer: () => {},
  }));
  onTestFinished(() => proxy.close());
  const environment = { TENANTRY_URL: proxy.url, TENANTRY_API_KEY: server.operatorKey };
  const importer = spawnTenantry(["import", file, "--org", org, "--concurrency", "1"], environment);
  await expect.poll(() => batches).toBe(2);
  expect(await kill(importer)).toBeNull();
}

test("killing the importer loses none of the created resources", async () => {
  const org = "importer-killed";
  await killImporter(org);
  const environment = { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey };
  const again = await runTenantry(["import", file, "--org", org], environment);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Imported importer-killed/) as unknown });
  const [, created, existing] = /^ {2}memberships +(\d+) +(\d+)$/m.exec(again.stdout) ?? [];
  expect(Number(existing)).toBeGreaterThan(0);
  expect(Number(created)).toBeGreaterThan(0);
  expect(Number(created) + Number(existing)).toBe(membershipCount);
  expect(await countStored(org)).toEqual([members.length, membershipCount]);
});

test("killing the server loses none of the acknowledged resources, and the import resumes after the restart", async () => {
  const org = "server-killed";
  let answered = 0;
  let whenBack: Promise<void> | undefined;
  const before = server;
  const first = await importInto(server, file, {
    org,
    onAnswered: () => {
      answered++;
      if (answered === 400) whenBack = restart();
    },
  });
  await whenBack;
  async function restart(): Promise<void> {
    await kill(before.command);
    server = await startServer();
  }
  const second = await importInto(server, file, { org });
  expect(second.end).toBeUndefined();
  // Acknowledged resources exist; others may exist, too.
  expect(total(second).existing).toBeGreaterThanOrEqual(answered);
  expect(total(second).created + total(second).existing).toBe(resources);
  // A create whose response was lost counts as existing after the retry.
  expect(total(first).created + total(first).existing).toBe(answered);
  expect(await countStored(org)).toEqual([members.length, membershipCount]);
  expect(total(await importInto(server, file, { org }))).toEqual({ created: 0, existing: resources, missing: 0 });
});
