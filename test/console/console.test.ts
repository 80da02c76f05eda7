// The files of the console, over real sockets, from a folder as a build makes it.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, brotliDecompressSync, gzipSync, gunzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConsole } from "../../src/console/console.ts";
import { answerError } from "../../src/http/plain-error.ts";
import { unpaced } from "../../src/http/request-pace.ts";
import { callHttp2, openHttp2 } from "../http/http2-client.ts";
import { startListener } from "../http/start-listener.ts";

const script = `console.log(${JSON.stringify("x".repeat(2_000))});\n`;
const icon = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const index = "<!doctype html><title>Console</title>";
const secret = "beside the build";

/** A build, beside a secret that is not of it. */
function makeBuild(): URL {
  const folder = mkdtempSync(join(tmpdir(), "tenantry-console-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "console/assets/inner"), { recursive: true });
  writeFileSync(join(folder, "console/index.html"), index);
  writeFileSync(join(folder, "console/assets/main-AbC1.js"), script);
  writeFileSync(join(folder, "console/assets/main-AbC1.js.br"), brotliCompressSync(script));
  writeFileSync(join(folder, "console/assets/main-AbC1.js.gz"), gzipSync(script));
  writeFileSync(join(folder, "console/assets/logo-AbC1.png"), "png");
  writeFileSync(join(folder, "console/assets/icon-AbC1.svg"), icon);
  writeFileSync(join(folder, "console/assets/inner/secret.js"), secret);
  writeFileSync(join(folder, "secret.js"), secret);
  return pathToFileURL(`${join(folder, "console")}/`);
}

async function start(folder: URL | undefined) {
  const refuse = (): never => {
    throw new Error("no session is asked for");
  };
  const answer = createConsole({
    folder,
    browserSessions: { find: refuse, forget: refuse, end: refuse, issueToken: refuse },
    signInChoices: { find: refuse },
    count: refuse,
    originOf: refuse,
    logger: { error: refuse } as never,
  });
  const server = await startListener((request, response) => {
    const answered = answer(request, response, unpaced);
    if (answered !== undefined) return answered === true ? undefined : answered;
    const message = "elsewhere";
    answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message });
    return undefined;
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** Sends a target that clients would normalise first. */
async function statusOfRaw(port: number, target: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const piece of socket) text += String(piece);
  return text;
}

describe("each address below /console/", () => {
  test.each([
    "/console/",
    "/console/orgs/acme/members?filter=a",
    "/console/session/x",
    "/console/index.html",
    "/console//x",
  ])("answers %s with the one page, which only runs and loads what is its own", async (path) => {
    const { url } = await start(makeBuild());
    const response = await fetch(`${url}${path}`);
    expect([response.status, await response.text()]).toEqual([200, index]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("/console leads to it, and so does / for a browser, but not for a program", async () => {
    const { url } = await start(makeBuild());
    const at = async (path: string, accept: string) => {
      const { status, headers } = await fetch(`${url}${path}`, { headers: { accept }, redirect: "manual" });
      return [status, headers.get("location")];
    };
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    expect(await at("/console", "*/*")).toEqual([308, "/console/"]);
    expect(await at("/", browser)).toEqual([303, "/console/"]);
    for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5"]) {
      expect(await at("/", accept)).toEqual([404, null]);
    }
    for (const other of ["/consoles", "/console.html", "/docs"]) expect(await at(other, browser)).toEqual([404, null]);
  });

  test("refuses other methods than GET and HEAD", async () => {
    const { url } = await start(makeBuild());
    for (const path of ["/console/", "/console/assets/main-AbC1.js"]) {
      const response = await fetch(`${url}${path}`, { method: "POST" });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });
});

describe("a file of the console", () => {
  test.each([
    ["gzip, deflate, br, zstd", "br", (body: Buffer) => brotliDecompressSync(body)],
    ["gzip", "gzip", (body: Buffer) => gunzipSync(body)],
    ["br;q=0, gzip;q=0", undefined, (body: Buffer) => body],
    [undefined, undefined, (body: Buffer) => body],
  ])("is sent for Accept-Encoding %s as the build has compressed it: %s", async (accepted, coding, decode) => {
    const { port } = await start(makeBuild());
    const socket = connect(port, "127.0.0.1");
    const header = accepted === undefined ? "" : `Accept-Encoding: ${accepted}\r\n`;
    socket.write(`GET /console/assets/main-AbC1.js HTTP/1.1\r\nHost: localhost\r\n${header}Connection: close\r\n\r\n`);
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    const whole = Buffer.concat(pieces);
    const end = whole.indexOf("\r\n\r\n");
    const head = whole.subarray(0, end).toString().toLowerCase();
    expect(/content-encoding: (\w+)/.exec(head)?.[1]).toBe(coding);
    expect(head).toContain("vary: accept-encoding");
    expect(head).toContain("cache-control: public, max-age=31536000, immutable");
    expect(head).toContain("content-type: text/javascript; charset=utf-8");
    expect(decode(whole.subarray(end + 4)).toString()).toBe(script);
  });

  test("is not sent again to who has it, and to HEAD only described", async () => {
    const { url } = await start(makeBuild());
    const file = `${url}/console/assets/main-AbC1.js`;
    const etag = (await fetch(file)).headers.get("etag") ?? "";
    const statusFor = async (known: string) => (await fetch(file, { headers: { "if-none-match": known } })).status;
    expect(await Promise.all(["*", etag, `"other", ${etag}`, 'W/"other"'].map(statusFor))).toEqual([
      304, 304, 304, 200,
    ]);
    const head = await fetch(file, { method: "HEAD", headers: { "accept-encoding": "identity" } });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      String(script.length),
      "",
    ]);
  });

  test("is the same over HTTP/2", async () => {
    const { url } = await start(makeBuild());
    const session = await openHttp2(url);
    onTestFinished(() => session.close());
    const { status, headers, body } = await callHttp2(session, { ":path": "/console/assets/main-AbC1.js" });
    expect([status, headers["cache-control"], body]).toEqual([200, "public, max-age=31536000, immutable", script]);
    expect((await callHttp2(session, { ":path": "/console/orgs/acme" })).body).toBe(index);
  });

  test.each([
    "../../secret.js",
    "..%2f..%2fsecret.js",
    "%2e%2e/%2e%2e/secret.js",
    "inner/secret.js",
    "..\\..\\secret.js",
    "main-AbC1.js%00",
    "main-AbC1.js/",
    "main-AbC1.js.br",
    "",
    "__proto__",
    "index.html",
    "main-Old1.js",
  ])("is none at %j", async (name) => {
    const { port } = await start(makeBuild());
    const text = await statusOfRaw(port, `/console/assets/${name}`);
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text.toLowerCase()).toContain("cache-control: no-store");
    expect(text).not.toContain(secret);
    expect(text).toContain("PAGE_NOT_FOUND");
  });
});

test("its icon is that of all pages that name none, and where it was not built they have none", async () => {
  const { url } = await start(makeBuild());
  const response = await fetch(`${url}/favicon.ico`);
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    200,
    "image/svg+xml",
    icon,
  ]);
  expect((await fetch(`${(await start(undefined)).url}/favicon.ico`)).status).toBe(204);
});

test("a console that was not built says so, and how to build it", async () => {
  const { url } = await start(undefined);
  for (const path of ["/console/", "/console/orgs/acme", "/console/assets/main-AbC1.js"]) {
    const response = await fetch(`${url}${path}`);
    const text = await response.text();
    expect([response.status, response.headers.get("cache-control")]).toEqual([501, "no-store"]);
    expect([text.includes("was not built"), text.includes("npm ci")]).toEqual([true, true]);
  }
  const root = await fetch(`${url}/`, { headers: { accept: "text/html" } });
  expect(await root.json()).toMatchObject({ error: { message: "elsewhere" } });
});
