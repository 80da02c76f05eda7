// Bodies that wait for room before they are read or decompressed.
import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { BodyLimits } from "../../../src/rest/calls/body-limits.ts";
import { articles } from "../support/articles.ts";
import { protocols } from "../support/listen.ts";

const path = "/v1/desks/1/articles";
const long = `{"title":"new"${" ".repeat(200_000)}}`;

/** Room that calls wait for until it is given. */
function createRoom() {
  const waiting: { give: () => void; refuse: (error: Error) => void }[] = [];
  let left = 0;
  const limits = (): BodyLimits => {
    let hasRoom = false;
    return {
      maxBytes: 1_000_000,
      freeBytes: 65_536,
      makeRoom() {
        if (hasRoom) return undefined;
        hasRoom = true;
        return new Promise((give, refuse) => waiting.push({ give, refuse }));
      },
      leaveRoom: () => void left++,
    };
  };
  return { limits, waiting, left: () => left };
}

describe.each(Object.entries(protocols))("over %s", (name, listen) => {
  test.each<[string, Record<string, string>, Buffer]>([
    ["a long body", {}, Buffer.from(long)],
    [
      "a long body without an announced length",
      name === "HTTP/1.1" ? { "transfer-encoding": "chunked" } : {},
      Buffer.from(long),
    ],
    ["a short body that is compressed", { "content-encoding": "gzip" }, gzipSync('{"title":"new"}')],
    ["a long body that is compressed", { "content-encoding": "gzip" }, gzipSync(long, { level: 0 })],
  ])("%s waits for room, once, and then is read", async (_kind, headers, body) => {
    const { limits, waiting } = createRoom();
    const { call } = await listen({ routes: articles(), bodyLimits: limits });
    let answered = false;
    const call1 = call({ method: "POST", path, headers, body }).finally(() => (answered = true));
    await expect.poll(() => waiting.length).toBe(1);
    // Nothing is waited for but the room.
    expect((await call({ method: "POST", path, body: '{"title":"short"}' })).status).toBe(201);
    expect(answered).toBe(false);
    waiting[0]?.give();
    expect((await call1).status).toBe(201);
    expect(waiting).toHaveLength(1);
  });

  test("a body for which there is no room is refused with the error", async () => {
    const { limits, waiting, left } = createRoom();
    const { call } = await listen({ routes: articles(), bodyLimits: limits });
    const refused = call({ method: "POST", path, body: long });
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.refuse(new ConnectError("too many", Code.ResourceExhausted));
    expect([(await refused).status, left()]).toEqual([429, 1]);
  });

  test.each<[string, Record<string, string>, Buffer, number]>([
    ["is too long", {}, Buffer.alloc(1_000_001), 413],
    ["inflates to too much", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(1_000_001)), 413],
    ["is no gzip", { "content-encoding": "gzip" }, Buffer.from("x"), 400],
  ])("a body that %s leaves its room", async (_kind, headers, body, status) => {
    const { limits, waiting, left } = createRoom();
    const { call } = await listen({ routes: articles(), bodyLimits: limits });
    const refused = call({ method: "POST", path, headers, body });
    const giving = setInterval(() => waiting.pop()?.give(), 5);
    expect((await refused).status).toBe(status);
    clearInterval(giving);
    expect(left()).toBe(1);
  });

  test("a call whose body waited for room until its deadline has not sent it too slowly", async () => {
    const { limits } = createRoom();
    const { call } = await listen({ routes: articles(), bodyLimits: limits, timeoutMs: 1_500 });
    const late = await call({ method: "POST", path, body: long });
    expect([late.status, late.error.status]).toEqual([504, "DEADLINE_EXCEEDED"]);
  });
});
