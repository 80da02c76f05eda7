// What bodies may take of the service, depending on who sends them.
import { connect } from "node:net";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const nested = `{"x":${"[".repeat(50)}${"]".repeat(50)}}`;
const deep = `{"x":[${Array.from({ length: 5_000 }, () => nested).join(",")}]}`;

describe("without credentials", () => {
  test.each([
    ["REST", "/iam/v1alpha/tokens:refresh", "application/json", 413],
    ["Connect", "/iam.v1alpha.TokensService/RefreshToken", "application/json", 429],
    [
      "Connect, with another content type",
      "/iam.v1alpha.TokensService/RefreshToken",
      "application/json;charset=utf-8",
      429,
    ],
    ["health over Connect", "/grpc.health.v1.Health/Check", "application/json", 429],
  ])("a body has at most 16 kB, also when it is decompressed: %s", async (_name, path, type, status) => {
    const send = async (body: string | Buffer, coding: Record<string, string> = {}): Promise<number> => {
      const headers = { "content-type": type, ...coding };
      const answer = await fetch(`${server.url}${path}`, { method: "POST", headers, body });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await send("{}")).not.toBe(status);
    expect(await send(`{"x":"${"y".repeat(16_384)}"}`)).toBe(status);
    expect(await send(gzipSync(deep), { "content-encoding": "gzip" })).toBe(status);
  });
});

test("without credentials, compressed bodies of an address are decompressed in turn, and an empty one keeps none waiting", async () => {
  const send = (body: Buffer): Promise<Response> =>
    fetch(`${server.url}/iam/v1alpha/tokens:refresh`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: new Uint8Array(body),
    });
  const statusOf = async (body: Buffer): Promise<number> => {
    const answer = await send(body);
    await answer.arrayBuffer();
    return answer.status;
  };
  const empty = gzipSync("");
  expect(await Promise.all(Array.from({ length: 20 }, () => statusOf(empty)))).toEqual(Array(20).fill(400));
  const startedAt = performance.now();
  expect(await Promise.all(Array.from({ length: 10 }, () => statusOf(gzipSync(deep))))).toEqual(Array(10).fill(413));
  // Two places, in each of which nothing is read for 100 ms after a body of an unknown length.
  expect(performance.now() - startedAt).toBeGreaterThan(350);
  expect(await statusOf(gzipSync("{}"))).toBe(400);
});

test("heads that announce long bodies keep no long body waiting", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const org = await operator.orgs.createOrg({ org: { name: uniqueName("org") } });
  const { hostname, port } = new URL(server.url);
  let answered = 0;
  for (let count = 0; count < 600; count++) {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.once("data", () => answered++);
    await once(socket, "connect");
    socket.write(
      `POST /iam/v1alpha${org.path}/members:batchCreate HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${server.operatorKey}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n",
    );
  }
  const requests = Array.from({ length: 500 }, (_, index) => ({
    member: { name: `member-${index}`, displayName: "X".repeat(200) },
  }));
  // More than 500 that waited would have it refused.
  const { members } = await operator.members.batchCreateMembers({ parentPath: org.path, requests });
  expect([members.length, answered]).toEqual([500, 0]);
});
