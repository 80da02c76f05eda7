// Over REST, a list is sent as lines of JSON to who accepts them: all pages, each decided for itself.
import { beforeAll, expect, test } from "vitest";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
let company: Company;
let owner: Caller;
beforeAll(async () => {
  server = await sharedServer();
  company = await openCompany("gRPC", server);
  owner = await company.joinAs("owner");
  const { path: parentPath } = company.org;
  for (const name of ["a", "b", "c", "d", "e"]) await owner.groups.createGroup({ parentPath, group: { name } });
});

const lines = "application/x-ndjson";

const get = (path: string, { accept = lines, key = owner.key, method = "GET" } = {}): Promise<Response> =>
  fetch(`${server.url}/iam/v1alpha${company.org.path}${path}`, {
    method,
    headers: { accept, authorization: `Bearer ${key}` },
  });

const parse = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test.each(["/groups?page_size=2", "/groups?page_size=1000", "/groups?page_size=5"])(
  "%s has all pages in lines",
  async (path) => {
    const response = await get(path);
    expect(response.headers.get("content-type")).toBe(lines);
    expect(response.headers.get("vary")).toContain("accept");
    const groups = parse(await response.text());
    const whole = (await (await get("/groups", { accept: "application/json" })).json()) as { groups: unknown[] };
    expect(groups).toEqual(whole.groups);
    expect(groups).toHaveLength(5);
  },
);

test("the changes of an org are exported with their proofs, from a page token on, and filtered", async () => {
  const path = "/changes?order_by=time&view=PROVED";
  await get(path, { accept: "application/json" });
  const all = parse(await (await get(`${path}&page_size=3`)).text());
  expect(all.length).toBeGreaterThan(8);
  expect(all.every(({ proof }) => typeof proof === "object")).toBe(true);
  const first = (await (await get(`${path}&page_size=3`, { accept: "application/json" })).json()) as Record<
    string,
    string
  >;
  const token = encodeURIComponent(first["next_page_token"] ?? "");
  expect(parse(await (await get(`${path}&page_size=3&page_token=${token}`)).text())).toEqual(all.slice(3));
  const filter = encodeURIComponent('resource_type = "Group"');
  expect(parse(await (await get(`/changes?filter=${filter}&page_size=2`)).text())).toHaveLength(5);
});

test("fields are those of the list, and no items are no lines", async () => {
  const some = parse(await (await get("/groups?fields=groups.name&page_size=2")).text());
  expect(some).toEqual(["a", "b", "c", "d", "e"].map((name) => ({ name })));
  const none = await get("/groups?filter=name%3Dnone");
  expect([none.status, none.headers.get("content-type"), await none.text()]).toEqual([200, lines, ""]);
});

test("what is refused before the first line is an error as for other calls; a HEAD has no lines", async () => {
  const stranger = await company.join("stranger");
  const denied = await get("/groups", { key: stranger.key });
  expect(denied.status).toBe(403);
  expect(await denied.json()).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
  const invalid = await get("/groups?page_size=-1");
  expect(invalid.status).toBe(400);
  const head = await get("/groups", { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, lines, ""]);
  expect((await get("/groups/a")).status).toBe(406);
  expect((await get("/groups", { accept: "*/*" })).headers.get("content-type")).toBe("application/json");
  expect((await get("/groups", { accept: `${lines}, application/json;q=0.5` })).headers.get("content-type")).toBe(
    lines,
  );
});
