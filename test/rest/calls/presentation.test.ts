// The format of responses: $alt, $prettyPrint, fields, Accept and Accept-Encoding.
import { create } from "@bufbuild/protobuf";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ArticleSchema } from "../gen/rest/test/v1/articles_pb.ts";
import { articles } from "../support/articles.ts";
import { type Endpoint, protocols } from "../support/listen.ts";

const path = "/v1/desks/1/articles/news";
const article = create(ArticleSchema, {
  path: "desks/1/articles/news",
  title: "news",
  etag: "r1",
  notes: [
    { author: "ann", text: "good" },
    { author: "bob", text: "bad" },
  ],
  labels: { topic: "x", "a.b": "y" },
});

describe.each(Object.entries(protocols))("over %s", (_name, listen) => {
  const open = (text = ""): Promise<Endpoint> =>
    listen({ routes: articles({ ...article, text }), systemParameters: ["key"] });

  test.each(["$prettyPrint=true", "prettyPrint=true", "%24prettyPrint=true", "key=1&$prettyPrint=true&key=2"])(
    "indents for ?%s",
    async (query) => {
      const { call } = await open();
      expect((await call({ path: `${path}?${query}` })).text).toMatch(/^\{\n {2}"path": "desks/);
    },
  );

  test.each([
    ["title", { title: "news" }],
    ["title,etag", { title: "news", etag: "r1" }],
    ["notes.author", { notes: [{ author: "ann" }, { author: "bob" }] }],
    [
      "notes,title",
      {
        notes: [
          { author: "ann", text: "good" },
          { author: "bob", text: "bad" },
        ],
        title: "news",
      },
    ],
    ["labels.topic", { labels: { topic: "x" } }],
  ])("returns a partial response for ?fields=%s", async (fields, expected) => {
    const { call } = await open();
    for (const name of ["fields", "$fields"]) {
      const { text } = await call({ path: `${path}?${name}=${fields}` });
      expect(JSON.parse(text)).toEqual(expected);
    }
  });

  test.each([
    ["fields=titel", "fields", "titel"],
    ["fields=", "fields", ""],
    ["fields=title&$fields=etag", "$fields", "twice"],
    ["$alt=xml", "$alt", 'must be json, ndjson or sse, got "xml"'],
    ["$alt=sse", "$alt", "must be json here, got sse"],
    ["prettyPrint=1", "$prettyPrint", "true or false"],
  ])("rejects ?%s", async (query, field, message) => {
    const { call } = await open();
    const { status, error } = await call({ path: `${path}?${query}` });
    expect([status, error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(error.details[1]).toMatchObject({ field_violations: [{ field }] });
  });

  test("binds a parameter to the request field of the same name", async () => {
    const { call } = await open();
    const answer = await call({ path: "/v1/articles:search?fields=x&$fields=title" });
    expect(JSON.parse(answer.text)).toEqual({ title: "x" });
  });

  test.each([
    [undefined, 200],
    ["*/*", 200],
    ["application/*", 200],
    ["text/html, application/json;q=0.1", 200],
    ["application/json; charset=utf-8", 200],
    ["text/html", 406],
    ["application/json;q=0, text/html", 406],
    ["application/json;q=0, */*", 406],
  ])("responds to Accept: %s with %i", async (accept, status) => {
    const { call } = await open();
    const answer = await call({ path, ...(accept !== undefined && { headers: { accept } }) });
    expect(answer.status).toBe(status);
    if (status === 406) expect(answer.error.message).toContain("Accept must allow application/json");
  });

  test("prefers $alt=json to Accept", async () => {
    const { call } = await open();
    expect((await call({ path: `${path}?$alt=json`, headers: { accept: "text/html" } })).status).toBe(200);
  });

  test.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip;q=0.5, br;q=0.8", "br"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["deflate", undefined],
    ["identity", undefined],
    ["gzip;q=0.1, identity;q=0.5", undefined],
  ])("compresses a long response to Accept-Encoding: %s with %s", async (accepted, coding) => {
    const { call } = await open("long ".repeat(1000));
    const answer = await call({ path, headers: { "accept-encoding": accepted } });
    expect([answer.status, answer.headers["content-encoding"], answer.headers["vary"]]).toEqual([
      200,
      coding,
      "accept-encoding",
    ]);
    const inflated = coding === "br" ? brotliDecompressSync : coding === "gzip" ? gunzipSync : (bytes: Buffer) => bytes;
    expect(JSON.parse(inflated(answer.bytes).toString())).toMatchObject({ title: "news" });
    expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
    expect(answer.headers["etag"]).toMatch(coding === undefined ? /^"r1~/ : /^W\/"r1~/);
    const { etag = "" } = answer.headers;
    const again = await call({ path, headers: { "accept-encoding": accepted, "if-none-match": etag } });
    // As the response would have them (RFC 9110, 15.4.5).
    expect([again.status, again.headers["etag"], again.headers["vary"]]).toEqual([304, etag, "accept-encoding"]);
  });

  test("does not compress a short response", async () => {
    const { call } = await open();
    const { headers } = await call({ path, headers: { "accept-encoding": "gzip" } });
    expect([headers["content-encoding"], headers["vary"]]).toEqual([undefined, undefined]);
  });
});
