// Tests that examples/follow.ts keeps a copy of an org, also if it is killed while it is behind.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openCompany } from "../access/callers.ts";
import { type CopyOfOrg, applyTo, comparable } from "../support/copy-of-org.ts";
import { sharedServer } from "../support/shared-server.ts";
import { isSynced, watchLog } from "../support/watch-log.ts";

const root = join(import.meta.dirname, "../..");

test("follow.ts keeps a copy of an org right through its own end", async () => {
  const server = await sharedServer();
  const company = await openCompany("gRPC", server);
  const { path: parentPath } = company.org;
  const owner = await company.joinAs("owner");
  const directory = await mkdtemp(join(tmpdir(), "follow-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "copy.json");

  const start = async (): Promise<ChildProcess> => {
    const env = { PATH: process.env["PATH"], TENANTRY_URL: server.url, TENANTRY_API_KEY: owner.key };
    const args = [join(root, "examples/follow.ts"), parentPath.slice(1), file];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    return child;
  };
  const stop = async (child: ChildProcess): Promise<void> => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  const readCopy = async (): Promise<unknown> =>
    (JSON.parse(await readFile(file, "utf8")) as { resources: unknown }).resources;
  /** Returns what a copy has that is made now. */
  const expected = async (): Promise<unknown> => {
    const watch = watchLog(owner, { parentPath, initialState: true });
    await watch.until(isSynced);
    watch.close();
    const copy: CopyOfOrg = new Map();
    for (const message of watch.received) applyTo(copy, message);
    // The key is used meanwhile, and its last use is no change; nor is how a path names what was deleted.
    return Object.fromEntries(
      Object.entries(comparable(copy)).map(([key, { resource }]) => [key, expect.objectContaining(resource)]),
    );
  };

  await owner.members.createMember({ parentPath, member: { name: "alice" } });
  await owner.groups.createGroup({ parentPath, group: { name: "devs" } });
  const first = await start();
  await owner.members.updateMember({ path: `${parentPath}/members/alice`, member: { displayName: "Alice" } });
  await owner.members.createMember({ parentPath, member: { name: "bob" } });
  await expect.poll(readCopy).toEqual(await expected());

  await stop(first);
  await owner.members.deleteMember({ path: `${parentPath}/members/bob` });
  await owner.groups.deleteGroup({ path: `${parentPath}/groups/devs` });
  await owner.groups.createGroup({ parentPath, group: { name: "ops" } });
  const second = await start();
  await expect.poll(readCopy).toEqual(await expected());
  await stop(second);
});
