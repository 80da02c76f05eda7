// The HTTP semantics of the standard methods: statuses, Location, ETag and conditional requests.
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ArticleSchema } from "../gen/rest/test/v1/articles_pb.ts";
import { articles } from "../support/articles.ts";
import { type Endpoint, protocols } from "../support/listen.ts";

const path = "/v1/desks/1/articles/news";
const existing = create(ArticleSchema, { path: "desks/1/articles/news", title: "news", etag: "r1" });

/** Returns the entity tag of the article, without quotes. */
async function tagIn(call: Endpoint["call"]): Promise<string> {
  return ((await call({ path })).headers["etag"] ?? "").slice(1, -1);
}

describe.each(Object.entries(protocols))("over %s", (_name, listen) => {
  const open = (): Promise<Endpoint> => listen({ routes: articles(structuredClone(existing)) });

  test("responds to a Create with 201 and a Location", async () => {
    const { call } = await open();
    const body = JSON.stringify({ title: "a b" });
    const created = await call({ method: "POST", path: "/v1/desks/1/articles", body });
    expect([created.status, created.headers["location"]]).toEqual([201, "/v1/desks/1/articles/a%20b"]);
    expect((await call({ path: created.headers["location"] ?? "" })).status).toBe(200);
  });

  test("responds to other POSTs with 200", async () => {
    const { call } = await open();
    const answer = await call({ method: "POST", path: `${path}:publish`, body: "{}" });
    expect([answer.status, answer.headers["location"]]).toEqual([200, undefined]);
  });

  test("responds to an Empty with 204 and no body", async () => {
    const { call } = await open();
    const { status, text, headers } = await call({ method: "DELETE", path });
    expect([status, text, headers["content-type"], headers["content-length"]]).toEqual([204, "", undefined, undefined]);
    expect((await call({ path })).status).toBe(404);
  });

  test("returns the etag of a resource as ETag", async () => {
    const { call } = await open();
    expect((await call({ path })).headers["etag"]).toMatch(/^"r1~[\w-]{22}"$/);
    const patched = await call({ method: "PATCH", path, body: '{"title":"new"}' });
    expect(patched.headers["etag"]).toMatch(/^"r2~[\w-]{22}"$/);
    expect((await call({ path })).headers["etag"]).toBe(patched.headers["etag"]);
  });

  test.each([
    [(tag: string) => `"${tag}"`, 304],
    [(tag: string) => `W/"${tag}"`, 304],
    [(tag: string) => `"r0", W/"${tag}"`, 304],
    [(tag: string) => tag, 304],
    [() => "*", 304],
    [() => '"r1"', 200],
    [() => `"r1~${"A".repeat(22)}"`, 200],
    [(tag: string) => `"r2${tag.slice(2)}"`, 200],
    [() => '"a,b"', 200],
  ])("responds to a GET with If-None-Match: %s with %i", async (tagOf, status) => {
    const { call } = await open();
    const tag = await tagIn(call);
    const answer = await call({ path, headers: { "if-none-match": tagOf(tag) } });
    expect([answer.status, answer.headers["etag"]]).toEqual([status, `"${tag}"`]);
    if (status === 304) expect([answer.text, answer.headers["content-type"]]).toEqual(["", undefined]);
  });

  test("returns another ETag for a partial response and for one in another format", async () => {
    const { call } = await open();
    const targets = ["", "?$fields=title,etag", "?$fields=title", "?$prettyPrint=true"].map((query) => path + query);
    const tags = [];
    for (const target of targets) tags.push((await call({ path: target })).headers["etag"] ?? "");
    expect(new Set(tags).size).toBe(targets.length);
    for (const [index, target] of targets.entries())
      for (const [each, tag] of tags.entries())
        expect((await call({ path: target, headers: { "if-none-match": tag } })).status).toBe(
          each === index ? 304 : 200,
        );
  });

  test("lets no cache answer a GET for the service", async () => {
    const { call } = await open();
    const read = await call({ path });
    const unchanged = await call({ path, headers: { "if-none-match": read.headers["etag"] ?? "" } });
    await call({ method: "DELETE", path });
    const missing = await call({ path });
    const seen = [read, unchanged, missing].map(({ status, headers }) => [status, headers["cache-control"]]);
    expect(seen).toEqual([200, 304, 404].map((status) => [status, "private, no-cache"]));
  });

  test("treats If-None-Match of a HEAD as that of a GET", async () => {
    const { call } = await open();
    const headers = { "if-none-match": await tagIn(call) };
    expect((await call({ method: "HEAD", path, headers })).status).toBe(304);
  });

  test.each([
    ['"r1"', 200],
    [`"r1~${"A".repeat(22)}"`, 200],
    ["*", 200],
    ['"r2"', 412],
    [`"r1~${"A".repeat(21)}"`, 412],
  ])("responds to a GET with If-Match: %s with %i", async (tag, status) => {
    const { call } = await open();
    expect((await call({ path, headers: { "if-match": tag } })).status).toBe(status);
  });

  test("updates and deletes only when If-Match matches", async () => {
    const { call } = await open();
    const stale = { "if-match": '"r0"' };
    const refused = await call({ method: "PATCH", path, headers: stale, body: '{"title":"new"}' });
    expect(refused.status).toBe(412);
    expect(refused.error).toMatchObject({ code: 412, status: "ABORTED" });
    expect((await call({ method: "DELETE", path, headers: stale })).status).toBe(412);
    const fresh = { "if-match": 'W/"r1"' };
    const updated = await call({ method: "PATCH", path, headers: fresh, body: '{"title":"new"}' });
    expect(updated.status).toBe(200);
    const headers = { "if-match": updated.headers["etag"] ?? "" };
    expect((await call({ method: "DELETE", path, headers })).status).toBe(204);
  });

  test("compares only what a write changes with If-Match", async () => {
    const { call } = await open();
    const headers = { "if-match": `"r1~${"A".repeat(22)}"` };
    const body = '{"title":"new","etag":"r1"}';
    expect((await call({ method: "PATCH", path, headers, body })).status).toBe(200);
    expect((await call({ method: "PATCH", path, headers, body: "{}" })).status).toBe(412);
  });

  test("returns 409 for a stale etag in the body", async () => {
    const { call } = await open();
    const answer = await call({ method: "PATCH", path, body: '{"etag":"r0"}' });
    expect([answer.status, answer.error.status]).toEqual([409, "ABORTED"]);
  });

  test("rejects an etag in the body or query that differs from If-Match", async () => {
    const { call } = await open();
    const headers = { "if-match": '"r1"' };
    const inBody = await call({ method: "PATCH", path, headers, body: '{"etag":"r2"}' });
    expect(inBody.error.message).toBe("etag: must be the same as in If-Match");
    const inQuery = await call({ method: "DELETE", path: `${path}?etag=r2`, headers });
    expect(inQuery.error.message).toBe("etag: must be the same as in If-Match");
    expect((await call({ path })).headers["etag"]).toMatch(/^"r1~/);
  });

  test.each([
    ["POST", `${path}:publish`, "if-match", '"r1"', "this method takes no etag"],
    ["PATCH", path, "if-match", '"r1", "r2"', "one entity tag"],
    ["PATCH", path, "if-none-match", '"r1"', "only for GET and HEAD"],
    ["PATCH", path, "if-match", '"r1', "must hold entity tags"],
    ["PATCH", path, "if-match", "", "must hold entity tags"],
  ])("rejects %s %s with an unsupported %s: %s", async (method, target, header, tag, message) => {
    const { call } = await open();
    const answer = await call({ method, path: target, headers: { [header]: tag }, body: "{}" });
    expect(answer.status).toBe(400);
    expect(answer.error.message).toContain(message);
  });

  test("accepts If-None-Match: * for a Create", async () => {
    const { call } = await open();
    const request = { method: "POST", path: "/v1/desks/1/articles", headers: { "if-none-match": "*" } };
    expect((await call({ ...request, body: '{"title":"new"}' })).status).toBe(201);
    expect((await call({ ...request, body: '{"title":"new"}' })).status).toBe(409);
  });
});
