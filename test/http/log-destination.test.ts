// Tests a log whose disk is full: that of /dev/full always is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLogDestination } from "../../src/http/log-destination.ts";
import { freePort } from "../support/free-port.ts";
import { makePrivateFolder } from "../support/command.ts";

const isThere = existsSync("/dev/full");
if (!isThere) console.warn("SKIPPED: there is no /dev/full here; nothing says what a full disk does to the log");

async function openFull() {
  const folder = await mkdtemp(join(tmpdir(), "tenantry-log-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const out = createLogDestination("/dev/full", { isTerminal: false });
  const file = join(folder, "log");
  const makeRoom = async (): Promise<string[]> => {
    out.reopen(file);
    await once(out, "ready");
    return readFileSync(file, "utf8").trimEnd().split("\n");
  };
  return { out, makeRoom };
}

test.skipIf(!isThere)("lines wait until there is room, in order", async () => {
  const { out, makeRoom } = await openFull();
  for (const line of ["first", "second", "third"]) out.write(`${line}\n`);
  expect(await makeRoom()).toEqual(["first", "second", "third"]);
});

test.skipIf(!isThere)("lines that find no room in memory either are counted", async () => {
  const { out, makeRoom } = await openFull();
  const line = `${"x".repeat(1_023)}\n`;
  for (let count = 0; count < 1_030; count++) out.write(line);
  const lines = await makeRoom();
  expect(lines.filter((each) => each.startsWith("x"))).toHaveLength(1_024);
  expect(lines.slice(1_024).map((each) => JSON.parse(each) as object)).toMatchObject([{ level: 40, lost: 6 }]);
});

test("a log that cannot be written for another reason fails, except that of a terminal, which may have gone", () => {
  const fd = openSync("/dev/null", "r");
  onTestFinished(() => closeSync(fd));
  const write = (isTerminal: boolean) => createLogDestination(fd, { isTerminal }).write("line\n");
  expect(() => write(false)).toThrow("EBADF");
  expect(() => write(true)).not.toThrow();
});

test.skipIf(!isThere)("a server whose log has no room serves", async () => {
  const { folder, remove } = await makePrivateFolder(undefined, { withCluster: true });
  onTestFinished(remove);
  const port = await freePort();
  const full = openSync("/dev/full", "w");
  const command = [join(import.meta.dirname, "../../bin/tenantry.js"), "serve"];
  const env = { PATH: process.env["PATH"], HOME: folder, PORT: String(port), TENANTRY_SHUTDOWN_DELAY_MS: "0" };
  const child = spawn(process.execPath, command, { cwd: folder, env, stdio: ["ignore", full, "ignore"] });
  closeSync(full);
  const ended = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  const status = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (response) => response.status,
      () => undefined,
    );
  await expect.poll(() => status("/readyz")).toBe(200);
  for (let count = 0; count < 20; count++) expect(await status("/iam/v1alpha/orgs")).toBe(401);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
