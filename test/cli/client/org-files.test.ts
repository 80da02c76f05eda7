// An organisation in a file: exported, edited, planned and applied. Read transcripts/org-files.txt.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OrgSchema } from "../../../gen/iam/v1alpha/org_pb.ts";
import { fileFieldsOf, fileForms } from "../../../src/org-files/file-resources.ts";
import { type FileSection, fileSections, sectionKeys } from "../../../src/org-files/file-sections.ts";
import { createClient } from "@connectrpc/connect";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { uniqueName } from "../../support/api.ts";
import { createTransport } from "../../support/transports.ts";
import { openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { openTerminal, transcribe } from "./terminal.ts";

test("somebody keeps an org in a file", async () => {
  const server = await sharedServer();
  const { org, joinAs, api } = await openCompany("Connect", server);
  const { key } = await joinAs("owner", "olive");
  const viewer = await joinAs("viewer", "vera");
  const env = { TENANTRY_URL: server.url, TENANTRY_API_KEY: key };
  const terminal = await openTerminal({ env });
  const file = join(terminal.home, "acme.yaml");
  const edit = async (from: string, to: string): Promise<void> => {
    const text = await readFile(file, "utf8");
    expect(text).toContain(from);
    await writeFile(file, text.replace(from, to));
  };
  const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath: org.path });
  const hidden = Object.fromEntries(roleBindings.map(({ name }, index) => [name, `binding-${index + 1}`]));
  const names = { ...hidden, [org.name]: "acme", [server.url]: "http://localhost:8080", [file]: "acme.yaml" };
  const show = (...lines: Parameters<typeof transcribe>[1]) => transcribe(terminal, lines, names);

  const parts = [await show(`export ${org.name}`)];
  await writeFile(file, (await terminal.run(`export ${org.name}`)).stdout);
  parts.push(await show(`plan ${file}`));
  await edit("  - vera\n", "  - vera\n  - dora\n  - name: deployer\n    type: APPLICATION\n");
  await edit(
    "role_bindings:",
    "groups:\n  - name: sre\n    members: [dora, deploier]\nprojects:\n  - web\nrole_bindings:",
  );
  parts.push(await show(`plan ${file}`));
  await edit("deploier", "deployer");
  parts.push(await show(`plan ${file}`, `plan ${file} --output markdown`));
  parts.push(await show([`apply ${file}`, { answers: ["n"] }], [`apply ${file}`, { answers: ["y"] }], `plan ${file}`));
  const grant = `role_bindings:\n      - {name: sre-edits, role_path: /roles/editor, subject_path: ${org.path}/groups/sre}\n`;
  const expected = "expect:\n  - dora may iam.projects.update on web\n  - vera may not iam.projects.update on web\n";
  await edit("  - web\n", `  - name: web\n    ${grant}${expected}`);
  parts.push(await show(`plan ${file}`, `plan ${file} --output markdown`, [`apply ${file}`, { answers: ["y"] }]));
  const from = "--source https://git.example/acme.yaml@4f3c2a1";
  parts.push(await show(`plan ${file} ${from}`, [`apply ${file} ${from}`, { answers: ["y"] }]));
  await api.groups.createGroup({ parentPath: org.path, group: { name: "stray" } });
  await api.groups.updateGroup({
    path: `${org.path}/groups/sre`,
    group: { description: "By hand." },
    updateMask: { paths: ["description"] },
  });
  parts.push(
    await show(`plan ${file} ${from} --prune managed`, `plan ${file} ${from} --prune managed --output markdown`),
  );
  parts.push(await show(`plan ${file} --prune managed`, `plan ${file} --source @x`));
  await terminal.run(`apply ${file} ${from} --yes`);
  await terminal.run(`delete ${org.path}/groups/stray --yes`);
  await edit("[dora, deployer]", "[deployer]");
  parts.push(await show(`plan ${file} --prune all`, `plan ${file} --prune all --author vera --output markdown`));
  await edit(expected, "");
  await edit(`  - name: web\n    ${grant}`, "  - web\n");
  await edit("  - dora\n", "");
  parts.push(await show(`plan ${file}`, `plan ${file} --prune all`));
  await edit("groups:\n  - name: sre\n    members: [deployer]\n", "");
  await edit("projects:\n  - web\n", "");
  parts.push(await show(`apply ${file} --prune all`));
  parts.push(
    await show([`apply ${file} --prune all --max-removal-percent 100`, { answers: ["y"] }], `export ${org.name}`),
  );
  parts.push(await show(`export ${org.name} --output csv`, "plan", `plan ${file} --prune some`, "plan none.yaml"));
  await expect(parts.join("")).toMatchFileSnapshot("transcripts/org-files.txt");

  await edit("members:", "description: Makes everything.\nmembers:");
  const asViewer = { env: { TENANTRY_API_KEY: viewer.key }, isTerminal: false };
  const refused = await terminal.run(`apply ${file} --yes`, asViewer);
  const { error } = JSON.parse(refused.stderr) as {
    readonly error: { readonly status: string; readonly message: string };
  };
  expect([refused.code, error.status, error.message]).toEqual([
    4,
    "PERMISSION_DENIED",
    expect.stringContaining("iam.orgs.apply"),
  ]);
  const unasked = await terminal.run(`apply ${file}`, { isTerminal: false });
  expect([unasked.code, unasked.stderr]).toEqual([64, expect.stringContaining("--yes")]);
  const applied = await terminal.run(`apply ${file} --yes`, { isTerminal: false });
  expect([applied.code, JSON.parse(applied.stdout)]).toEqual([
    0,
    { change_count: 1, revision: expect.any(String) as string },
  ]);
});

test("each problem of a file is told with its line, to people in lines and else in one", async () => {
  const server = await sharedServer();
  const { org, joinAs } = await openCompany("Connect", server);
  const { key } = await joinAs("owner", "olive");
  const terminal = await openTerminal({ env: { TENANTRY_URL: server.url, TENANTRY_API_KEY: key } });
  const [yaml, json] = [join(terminal.home, "acme.yaml"), join(terminal.home, "acme.json")];
  const names = { [org.name]: "acme", [yaml]: "acme.yaml", [json]: "acme.json" };
  const parts: string[] = [];
  const show = async (text: string, ...lines: Parameters<typeof transcribe>[1]) => {
    await writeFile(yaml, text);
    parts.push(`--- acme.yaml\n${text.replace(org.name, "acme")}---\n${await transcribe(terminal, lines, names)}`);
  };
  const members = `org: ${org.name}\nmembers:\n  - olive\n  - name: dora\n    labels: {site: "no"}\n    tpye: USER\n`;
  await show(
    `${members}groups:\n  - name: sre\n    members:\n      - dora\n      - member_path: /orgs/other/members/x\n    subgroups: none\nproject: []\n`,
    `plan ${yaml}`,
    [`plan ${yaml}`, { isTerminal: false }],
  );
  await show(`org: ${org.name}\nmembers: [olive]\nexpect:\n  - olive may iam.orgs.get on nowhere\n`, `apply ${yaml}`);
  await show(`org: ${org.name}\nmembers:\n  - olive\n  - "dora\n`, `plan ${yaml}`);
  await show(`org: ${org.name}\nidentity_providers:\n  - name: okta\n    client_secret: 4815\n`, `plan ${yaml}`);
  const wrong = "members:\n  - name: dora\n    type: ROBOT\n    display_name: 7\n    labels: {site: 4}\n";
  const end =
    "groups:\n  - name: sre\n    members:\n      - member_path: members/dora\n        expire_time: tomorrow\n";
  await show(`org: ${org.name}\n${wrong}${end}`, `plan ${yaml}`);
  await writeFile(
    json,
    `{\n  "org": "${org.name}",\n  "members": [\n    "olive",\n    {"name": "dora", "state": "ACTIVE"}\n  ]\n}\n`,
  );
  parts.push(await transcribe(terminal, [`plan ${json}`], names));
  await expect(parts.join("\n")).toMatchFileSnapshot("transcripts/file-problems.txt");
});

test("limits of a file are planned with their values, and refused with their lines", async () => {
  const server = await sharedServer();
  const { org, joinAs } = await openCompany("Connect", server);
  const { key } = await joinAs("owner", "olive");
  const operator = createTransport("Connect", server.url, server.operatorKey);
  const [cpu, ram] = ["cpu", "ram"].map((start) => uniqueName(start).replaceAll("-", "_")) as [string, string];
  for (const name of [cpu, ram])
    await createClient(QuantityKindsService, operator).createQuantityKind({ quantityKind: { name, unit: "unit" } });
  const terminal = await openTerminal({ env: { TENANTRY_URL: server.url, TENANTRY_API_KEY: key } });
  const yaml = join(terminal.home, "acme.yaml");
  const names = {
    [org.name]: "acme",
    [yaml]: "acme.yaml",
    [cpu]: "cpu_cores",
    [ram]: "ram",
    [server.url]: "http://localhost:8080",
  };
  const parts: string[] = [];
  const show = async (text: string, ...lines: Parameters<typeof transcribe>[1]) => {
    await writeFile(yaml, text);
    const shown = text.replace(org.name, "acme").replaceAll(cpu, "cpu_cores").replaceAll(ram, "ram");
    parts.push(`--- acme.yaml\n${shown}---\n${await transcribe(terminal, lines, names)}`);
  };
  const withLimits = (ofOrg: string, ...ofShop: string[]): string =>
    `org: ${org.name}\nquota:\n  ${cpu}: ${ofOrg}\nprojects:\n  - name: shop\n    quota:\n${ofShop.map((each) => `      ${each}\n`).join("")}`;
  await show(withLimits("1000", `${cpu}: -1`, `${ram}: much`, "CPU cores: 4"), `plan ${yaml}`);
  await show(withLimits("1000", "cores: 4"), `plan ${yaml}`);
  await show(
    withLimits("1000", `${cpu}: 10`, `${ram}: 2147483648`),
    [`apply ${yaml}`, { answers: ["y"] }],
    `plan ${yaml}`,
  );
  await show(withLimits("2000", `${cpu}: 20`), `plan ${yaml}`, `apply ${yaml} --yes`);
  await show(withLimits("900", `${cpu}: 20`), `plan ${yaml} --prune all --max-removal-percent 100`);
  await expect(parts.join("\n")).toMatchFileSnapshot("transcripts/file-quotas.txt");
});

test("the help has every key that a file can have", async () => {
  const terminal = await openTerminal();
  const { code, stdout } = await terminal.run("help file");
  expect(code).toBe(0);
  await expect(stdout).toMatchFileSnapshot("transcripts/file-help.txt");
  const titles = stdout.split("\n").flatMap((line) => /^ {2,6}([a-z_]+):?(?: {2,}|$)/.exec(line)?.[1] ?? []);
  const schemas = [OrgSchema, ...Object.values(fileForms).map(({ schema }) => schema)];
  const fields = schemas.flatMap((schema) => fileFieldsOf(schema).map(({ name }) => name));
  expect(new Set(titles)).toEqual(new Set(["org", ...fields, ...sectionKeys, ...contents(fileSections), "expect"]));
});

function contents(sections: readonly FileSection[]): readonly string[] {
  return sections.flatMap((section) => [section.key, ...contents(section.contents ?? [])]);
}
