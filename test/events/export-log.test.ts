// Tests that the programs of examples/log export a log and check it.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { openCompany } from "../access/callers.ts";
import { sharedServer } from "../support/shared-server.ts";

const folder = join(import.meta.dirname, "../../examples/log");

test("a log is exported, goes on after a revision, and two programs find nothing wrong with it", async () => {
  const server = await sharedServer();
  const company = await openCompany("gRPC", server);
  const owner = await company.joinAs("owner");
  const directory = await mkdtemp(join(tmpdir(), "log-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "changes.ndjson");
  const env = { PATH: process.env["PATH"], TENANTRY_URL: server.url, TENANTRY_API_KEY: owner.key };
  const run = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)("python3", args, { cwd: folder, env })).stdout;

  const keys = join(directory, "keys.json");
  await writeFile(keys, await (await fetch(`${server.url}/.well-known/log-keys.json`)).text());
  const begin = await run("export.py", company.org.path);
  const { revision = "" } = JSON.parse(begin.trimEnd().split("\n").at(-1) ?? "{}") as { revision?: string };
  await owner.groups.createGroup({ parentPath: company.org.path, group: { name: "devs", description: "é 🦖" } });
  const rest = await run("export.py", company.org.path, "--after", revision);
  // The end of the log, and the change.
  expect(rest.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^{"head"/),
    expect.stringContaining("CreateGroup"),
  ]);
  await writeFile(file, begin + rest);

  const count = (begin + rest).trimEnd().split("\n").length - 2;
  const signed = await run("verify.py", file, "--keys", keys);
  expect(signed).toContain(`${count} entries, 0 faults`);
  expect(signed.match(/ is signed up to /g)).toHaveLength(2);
  expect(await verifyFile(file, { keys }, () => {})).toEqual({ entries: count, faults: 0 });
  await writeFile(file, (await readFile(file, "utf8")).split("\n").toSpliced(3, 1).join("\n"));
  await expect(run("verify.py", file)).rejects.toMatchObject({ stdout: expect.stringContaining("1 faults") });
});
