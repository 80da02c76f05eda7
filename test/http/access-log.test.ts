import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { expect, it } from "vitest";
import { withAccessLog } from "../../src/http/access-log.ts";
import type { HttpHandler } from "../../src/http/http-messages.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { openRaw } from "./raw-client.ts";
import { startListener } from "./start-listener.ts";

type Line = Readonly<Record<string, unknown>>;

function createLog(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  return { logger: pino({ base: null, timestamp: false }, stream), lines };
}

/** Writes 12 bytes with three calls. `/fail` responds with 500. */
const handler: HttpHandler = (request, response) => {
  if (request.url?.startsWith("/fail")) response.statusCode = 500;
  if ("stream" in response) {
    response.write("é", "latin1");
    response.write(Buffer.from("12345"));
  } else {
    response.write("é", "latin1");
    response.write(Buffer.from("12345"));
  }
  response.end("123é4");
};

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

it("logs one line for each request and gives it an id", async () => {
  const { logger, lines } = createLog();
  await using server = await startListener(withAccessLog(handler, { logger, enabled: true }));
  const answered = await fetch(`${server.url}/iam/v1alpha/orgs?token=secret`, {
    method: "POST",
    body: "secret",
    headers: { authorization: "Bearer secret", "x-request-id": "mine-1" },
  });
  expect((await answered.bytes()).length).toBe(12);
  expect(answered.headers.get("x-request-id")).toBe("mine-1");
  const session = await openHttp2(server.url);
  const overHttp2 = await callHttp2(session, { ":path": "/fail?secret" });
  session.close();
  await expect.poll(() => lines).toHaveLength(2);
  const [first, second] = lines;
  expect(first).toEqual({
    level: 30,
    msg: "request",
    requestId: "mine-1",
    method: "POST",
    path: "/iam/v1alpha/orgs",
    status: 200,
    durationMs: expect.any(Number),
    protocol: "h1",
    bytes: 12,
  });
  expect(second).toMatchObject({ level: 40, path: "/fail", status: 500, protocol: "h2", bytes: 12, requestId: uuid });
  expect(overHttp2.headers["x-request-id"]).toBe(second?.["requestId"]);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

it("writes no control character of a path, which could steer the terminal of who reads the log", async () => {
  const written: string[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void written.push(line) });
  await using server = await startListener(withAccessLog(handler, { logger, enabled: true }));
  const session = await openHttp2(server.url);
  await callHttp2(session, { ":path": "/a\u009b31mb\u0085" });
  session.close();
  await expect.poll(() => written).toHaveLength(1);
  const [line = ""] = written;
  expect(line).not.toMatch(/[\u007f-\u009f]/);
  expect((JSON.parse(line) as Line)["path"]).toBe("/a\u009b31mb\u0085");
});

it("passes the generated id to the handler", async () => {
  const { logger, lines } = createLog();
  const echo: HttpHandler = ({ headers }, response) => void response.end(String(headers["x-request-id"]));
  await using server = await startListener(withAccessLog(echo, { logger, enabled: true }));
  const answered = await fetch(server.url, { headers: { "x-request-id": "not acceptable" } });
  const id = await answered.text();
  expect([id, answered.headers.get("x-request-id")]).toEqual([uuid, id]);
  await expect.poll(() => lines).toMatchObject([{ requestId: id }]);
});

it("logs no bytes for HEAD", async () => {
  const { logger, lines } = createLog();
  await using server = await startListener(withAccessLog(handler, { logger, enabled: true }));
  await fetch(server.url, { method: "HEAD" });
  const session = await openHttp2(server.url);
  await callHttp2(session, { ":path": "/", ":method": "HEAD" });
  session.close();
  await expect.poll(() => lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatchObject({ method: "HEAD", status: 200, bytes: 0 });
});

it("logs clients that disconnect before the response", async () => {
  const { logger, lines } = createLog();
  let begun = 0;
  const hang: HttpHandler = () => void (begun += 1);
  await using server = await startListener(withAccessLog(hang, { logger, enabled: true }));
  const { socket } = await openRaw(server.port);
  socket.write("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n");
  const session = await openHttp2(server.url);
  const cut = callHttp2(session, { ":path": "/hang" }).catch((error: unknown) => error);
  await expect.poll(() => begun).toBe(2);
  socket.destroy();
  session.destroy();
  expect(await cut).toEqual(new Error("the stream was cut"));
  await expect.poll(() => lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatchObject({ level: 30, status: 499, aborted: true, bytes: 0 });
});

it("logs nothing when it is disabled, but still generates ids", async () => {
  const { logger, lines } = createLog();
  await using server = await startListener(withAccessLog(handler, { logger, enabled: false }));
  expect((await fetch(server.url)).headers.get("x-request-id")).toEqual(uuid);
  await sleep(20);
  expect(lines).toEqual([]);
});

it("cuts long paths, of which somebody may send many", async () => {
  const { logger, lines } = createLog();
  await using server = await startListener(withAccessLog(handler, { logger, enabled: true }));
  const [fits, long] = [`/${"a".repeat(1_023)}`, `/${"b".repeat(8_000)}`];
  for (const path of [fits, long]) await (await fetch(server.url + path)).bytes();
  await expect
    .poll(() => lines.map(({ path }) => path))
    .toEqual([fits, `${long.slice(0, 1_024)}... (8001 characters)`]);
});
