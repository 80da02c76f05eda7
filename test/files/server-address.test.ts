// Whose word is taken for where the key of the operator is sent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatServerAddress, readServerAddress, serverAddressFile } from "../../src/files/server-address.ts";

const url = "http://127.0.0.1:9321";
const ours = `${await formatServerAddress(url, process.pid)}\n`;

async function directoryWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-address-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(serverAddressFile(directory), text, { mode: 0o600 });
  return directory;
}

test("a server that runs is found where it has noted", async () => {
  expect(await readServerAddress(await directoryWith(ours))).toBe(url);
  const onIpv6 = `${await formatServerAddress("http://[::1]:9321", process.pid)}\n`;
  expect(await readServerAddress(await directoryWith(onIpv6))).toBe("http://[::1]:9321");
  expect(await readServerAddress(join(tmpdir(), "tenantry-nowhere"))).toBeUndefined();
});

test("a server that has ended is not, because another program may listen at its port", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  const line = `${await formatServerAddress(url, child.pid ?? 0)}\n`;
  expect(await readServerAddress(await directoryWith(line))).toBeUndefined();
});

test.each([
  ["another machine", ours.replace("127.0.0.1", "192.0.2.1")],
  ["a name, which can be of any machine", ours.replace("127.0.0.1", "localhost")],
  ["another machine, after a user", ours.replace("http://", "http://127.0.0.1:1@192.0.2.1:80/")],
  ["more than one line", `${ours}${ours}`],
  ["no process", `${url} 0 -\n`],
  ["a process that has the id of the one that has noted it", ours.replace(/\d+\n$/, "1\n")],
  ["an address that there is not", ours.replace("9321", "99999")],
  ["a long file", " ".repeat(10_000) + ours],
  ["nothing", ""],
])("it may not be %s", async (_what, text) => {
  expect(await readServerAddress(await directoryWith(text))).toBeUndefined();
});

test("a file that somebody else could have written is not believed", async () => {
  const writable = await directoryWith(ours);
  await chmod(serverAddressFile(writable), 0o666);
  expect(await readServerAddress(writable)).toBeUndefined();
  const linked = await directoryWith(ours);
  const linking = await mkdtemp(join(tmpdir(), "tenantry-address-"));
  onTestFinished(() => rm(linking, { recursive: true }));
  await symlink(serverAddressFile(linked), serverAddressFile(linking));
  expect(await readServerAddress(linking)).toBeUndefined();
});

test.runIf(process.getuid?.() === 0)("a file of another user is not believed", async () => {
  const directory = await directoryWith(ours);
  await chown(serverAddressFile(directory), 1, 1);
  expect(await readServerAddress(directory)).toBeUndefined();
});
