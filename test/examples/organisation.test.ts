// Runs the commands of examples/organisation/workflow.yaml as the runner of a workflow does.
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { openCompany } from "../access/callers.ts";
import { sharedServer } from "../support/shared-server.ts";

const root = join(import.meta.dirname, "../..");

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly name?: string; readonly run?: string }[] }>
  >;
}

test("the workflow plans as a viewer, and applies as an owner", async () => {
  const server = await sharedServer();
  const { org, joinAs, api } = await openCompany("Connect", server);
  const [viewer, owner] = [await joinAs("viewer"), await joinAs("owner")];
  const directory = await mkdtemp(join(tmpdir(), "tenantry-workflow-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const program = join(directory, "tenantry");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/tenantry.js")}" "$@"\n`);
  await chmod(program, 0o755);
  const workflow = parse(await readFile(join(root, "examples/organisation/workflow.yaml"), "utf8")) as Workflow;
  const summary = join(directory, "summary.md");
  const run = async (job: string, key: string): Promise<number> => {
    const line = workflow.jobs[job]?.steps.findLast((step) => step.run !== undefined)?.run ?? "";
    const env = {
      PATH: [directory, process.env["PATH"] ?? ""].join(delimiter),
      HOME: directory,
      GITHUB_STEP_SUMMARY: summary,
      SOURCE: "https://git.example/acme.yaml@4f3c2a1",
      TENANTRY_AUTHOR: "owner",
      TENANTRY_URL: server.url,
      TENANTRY_API_KEY: key,
    };
    return new Promise((resolve) => {
      const child = execFile("bash", ["-e", "-c", line], { cwd: directory, env }, () => resolve(child.exitCode ?? -1));
    });
  };
  const write = (text: string): Promise<void> => writeFile(join(directory, "acme.yaml"), `org: ${org.name}\n${text}`);

  await write("groups: [sre]\n");
  expect(await run("plan", viewer.key)).toBe(0);
  expect(await readFile(summary, "utf8")).toContain("+ groups/sre\n");
  expect(await run("apply", viewer.key)).toBe(4);

  const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath: org.path });
  const bindings = roleBindings.map(({ name, rolePath, subjectPath }) => ({
    name,
    role_path: rolePath,
    subject_path: subjectPath,
  }));
  await write(`groups: [sre]\nmembers: [viewer, owner]\nrole_bindings: ${JSON.stringify(bindings)}\n`);
  expect(await run("apply", owner.key)).toBe(0);
  const { groups } = await api.groups.listGroups({ parentPath: org.path });
  expect(groups.map(({ name }) => name)).toEqual(["sre"]);
  expect(await run("plan", viewer.key)).toBe(0);
  // What the file had goes, and what somebody made by hand stays.
  await api.groups.createGroup({ parentPath: org.path, group: { name: "stray" } });
  await write(`members: [viewer, owner]\nrole_bindings: ${JSON.stringify(bindings)}\n`);
  expect(await run("apply", owner.key)).toBe(0);
  const left = await api.groups.listGroups({ parentPath: org.path });
  expect(left.groups.map(({ name }) => name)).toEqual(["stray"]);
  await write("groups: [sre]\nmemebrs: [viewer]\n");
  expect(await run("plan", viewer.key)).toBe(1);
});
