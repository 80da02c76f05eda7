// What words of a command line mean, by what is sent.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sendJson, startHostileService } from "./hostile-service.ts";
import { openTerminal } from "./terminal.ts";

const key = "tenantry_secret";

test("--no-wait does not wait for the operation, and --no-browser opens none", async () => {
  const { url, requests } = await startHostileService((request, response) => {
    if (request.method === "POST") return sendJson(response, { path: "/orgs/a/projects/p/operations/o", done: false });
    sendJson(response, { issuer: url, tenantry_command_line_client_id: "c" });
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  const created = await terminal.run("create orgs/a/projects/p/resources/r --no-wait --output name");
  expect(created).toMatchObject({ code: 0, stdout: "/orgs/a/projects/p/operations/o\n" });
  expect(requests).toHaveLength(1);
  const opened: string[] = [];
  const stopping = new AbortController();
  await terminal.run("login --no-browser", {
    signal: stopping.signal,
    onOutput: () => setImmediate(() => stopping.abort()),
    openBrowser: (address) => Promise.resolve(void opened.push(address)),
  });
  expect(opened).toEqual([]);
});

test.each([
  ["login https://iam.example.com", "tenantry login --server URL"],
  ["logout acme", "tenantry logout --profile NAME"],
  ["whoami alice", "tenantry whoami"],
  ["edit orgs/a orgs/b", "tenantry edit orgs/a"],
  ["wait orgs/a/projects/p/operations/o x", "tenantry wait orgs/a/projects/p/operations/o"],
  ["watch orgs/a orgs/b", "tenantry watch orgs/a"],
])("%s has a word too many", async (line, next) => {
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run(line)).toMatchObject({ code: 64, stderr: expect.stringContaining(`next: ${next}\n`) });
  expect(requests).toEqual([]);
});

test.each([
  ["create orgs/a/members/dora --columns nmae", "did you mean name?"],
  ["update orgs/a/members/dora orgs/a/groups/sre --description x --columns type", '"type"'],
  ["create orgs/a/members/dora --output csv --columns nmae", "did you mean name?"],
  ["create orgs/a/members/dora --output tabel", "did you mean table?"],
  ["api POST orgs/a/members --output tabel", "did you mean table?"],
  ["edit orgs/a --output tabel", "did you mean table?"],
])("%s calls nothing, since its answer could not be shown", async (line, message) => {
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run(line)).toMatchObject({ code: 64, stderr: expect.stringContaining(message) });
  expect(requests).toEqual([]);
});

/** Returns the body that a command sends. */
async function bodyOf(line: string): Promise<unknown> {
  const bodies: unknown[] = [];
  const { url } = await startHostileService((_request, response, body) => {
    // After an answer of no, what a question names is looked up.
    if (body !== "") bodies.push(JSON.parse(body));
    sendJson(response, {});
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key, TENANTRY_ORG: "a" } });
  const ran = await terminal.run(line);
  expect(ran.stderr).not.toContain("error");
  return bodies[0];
}

test.each([
  ["roles/viewer", "/roles/viewer"],
  ["viewer", "/roles/viewer"],
  ["deployer", "/orgs/a/roles/deployer"],
  ["roles/deployer", "/orgs/a/roles/deployer"],
  ["/roles/deployer", "/roles/deployer"],
  ["orgs/b/roles/viewer", "/orgs/b/roles/viewer"],
])("the role %s is %s, as in the path of a command, but for the predefined ones", async (given, sent) => {
  expect(await bodyOf(`create roleBindings/x --role-path ${given} --subject-path groups/sre`)).toEqual({
    name: "x",
    role_path: sent,
    subject_path: "/orgs/a/groups/sre",
  });
});

test("a name alone is that of a member, or of what the field refers to", async () => {
  const subject = await bodyOf("create roleBindings/x --subject-path alice");
  expect(subject).toEqual({ name: "x", subject_path: "/orgs/a/members/alice" });
  const inGroup = await bodyOf("create groups/sre/members --member-path alice");
  expect(inGroup).toEqual({ member_path: "/orgs/a/members/alice" });
  const group = await bodyOf("create groups/sre/subgroups --group-path ops");
  expect(group).toEqual({ group_path: "/orgs/a/groups/ops" });
  const question = await bodyOf("check alice iam.members.get");
  expect(question).toMatchObject({ subject_path: "/orgs/a/members/alice", resource_path: "/orgs/a" });
});

test("collections in the paths of flags are written as those of commands can be", async () => {
  expect(await bodyOf("create roleBindings/x --subject-path Groups/sre")).toEqual({
    name: "x",
    subject_path: "/orgs/a/groups/sre",
  });
});

test.each([
  ["--expire-time 2026-12-31", { expire_time: "2027-01-01T00:00:00Z" }],
  ["--expire-time 2028-02-28", { expire_time: "2028-02-29T00:00:00Z" }],
  ["--expire-time 2026-12-31T00:00:00Z", { expire_time: "2026-12-31T00:00:00Z" }],
  ["--start-time 2026-12-31", { start_time: "2026-12-31T00:00:00Z" }],
])("a day is its end in UTC for what ends, and its beginning for what begins: %s", async (flags, sent) => {
  expect(await bodyOf(`create roleBindings/x ${flags}`)).toEqual({ name: "x", ...sent });
});

test.each([
  ["--from-time 2025-11-01 --to-time 2025-11-30", "2025-11-01T00:00:00Z", "2025-12-01T00:00:00Z"],
  ["--from-time 2025-11-01T12:00:00Z --to-time 2025-11-01T13:00:00Z", "2025-11-01T12:00:00Z", "2025-11-01T13:00:00Z"],
  ["--from-time 7d --to-time 12h", expect.any(String), expect.any(String)],
])("what usage is asked of is in the past: %s", async (flags, from, to) => {
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key, TENANTRY_ORG: "a" } });
  expect((await terminal.run(`query usage --step 1h --group-by project --group-by org ${flags}`)).stderr).toBe("");
  const { searchParams, pathname } = new URL(String(requests[0]?.line.slice(4)), url);
  expect(pathname).toBe("/iam/v1alpha/orgs/a/usage:query");
  expect(searchParams.getAll("group_by")).toEqual(["PROJECT", "ORG"]);
  const given = ["step", "from_time", "to_time"].map((name) => searchParams.get(name));
  expect(given).toEqual(["3600s", from, to]);
  const [begins, ends] = [Date.parse(String(given[1])), Date.parse(String(given[2]))];
  expect(begins).toBeLessThan(ends);
  if (flags.includes("7d")) expect(ends - begins).toBe(6.5 * 86_400_000);
});

test("a day that is not over does not lead to a time in the future", async () => {
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key, TENANTRY_ORG: "a" } });
  const today = new Date().toISOString().slice(0, 10);
  expect((await terminal.run(`query usage --from-time 7d --to-time ${today}`)).stderr).toBe("");
  const to = new URL(String(requests[0]?.line.slice(4)), url).searchParams.get("to_time");
  expect(to === null || Date.parse(to) <= Date.now()).toBe(true);
});

test("flags add to the maps of a file", async () => {
  const bodies: unknown[] = [];
  const { url, requests } = await startHostileService((_request, response, body) => {
    bodies.push(JSON.parse(body));
    sendJson(response, {});
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  const file = join(terminal.home, "member.yaml");
  await writeFile(file, "display_name: Dora\nlabels: {site: north, team: sre}\n");
  await terminal.run(`update orgs/a/members/dora --file ${file} --label team=dev --label site- --label x=y`);
  await terminal.run(`create orgs/a/members/dora --file ${file} --label x=y`);
  await terminal.run("update orgs/a/members/dora --label x=y --label z-");
  expect(bodies).toEqual([
    { display_name: "Dora", labels: { team: "dev", x: "y" } },
    { name: "dora", display_name: "Dora", labels: { site: "north", team: "sre", x: "y" } },
    { labels: { x: "y" } },
  ]);
  const masks = requests.map(({ line }) => new URL(line.split(" ")[1] ?? "", url).searchParams.get("update_mask"));
  expect(masks).toEqual(["display_name,labels", null, "labels.x,labels.z"]);
});

test("standard input is read once, for all paths", async () => {
  const bodies: unknown[] = [];
  const { url, requests } = await startHostileService((_request, response, body) => {
    bodies.push(JSON.parse(body));
    sendJson(response, {});
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  const updated = await terminal.run("update orgs/a/members/dora orgs/a/members/olive --file - --label x=y", {
    input: "description: on call",
  });
  expect(updated.code).toBe(0);
  expect(requests.map(({ line }) => line.split("?")[0])).toEqual([
    "PATCH /iam/v1alpha/orgs/a/members/dora",
    "PATCH /iam/v1alpha/orgs/a/members/olive",
  ]);
  const body = { description: "on call", labels: { x: "y" } };
  expect(bodies).toEqual([body, body]);
});
