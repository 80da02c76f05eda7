// What follows a valid write on its connection changes nothing about its answer.
import { beforeAll, expect, test } from "vitest";
import { exchange } from "../http/raw-client.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
let org: string;
beforeAll(async () => {
  server = await sharedServer();
  const api = createApi("REST", server.url, server.operatorKey);
  org = (await api.orgs.createOrg({ org: { name: uniqueName("org") } })).path;
});

const rest = (group: string) => ({ status: 201, path: `/iam/v1alpha${org}/groups`, message: { name: group } });
const connect = (group: string) => ({
  status: 200,
  path: "/iam.v1alpha.GroupsService/CreateGroup",
  message: { parentPath: org, group: { name: group } },
});

const big = `X-Big: ${"x".repeat(20_000)}`;
const garbage = "garbage\r\n\r\n";

test.each([
  ["one byte after Connection: close", "HTTP/1.1", "Connection: close\r\n", "x", []],
  ["a head of 20 kB after Connection: close", "HTTP/1.1", "Connection: close\r\n", `GET / HTTP/1.1\r\n${big}`, []],
  ["a tail over HTTP/1.0", "HTTP/1.0", "", garbage, []],
  ["a body one byte longer", "HTTP/1.1", "", "x", [400]],
  ["a second head that is garbage", "HTTP/1.1", "", garbage, [400]],
  ["a second head of 20 kB", "HTTP/1.1", "", `GET / HTTP/1.1\r\n${big}`, [431]],
] as const)("a write that is done is answered: %s", async (_name, version, header, tail, refusals) => {
  const api = createApi("REST", server.url, server.operatorKey);
  for (const call of [rest, connect]) {
    const group = uniqueName("group");
    const { status: done, path, message } = call(group);
    const body = JSON.stringify(message);
    const head =
      `POST ${path} ${version}\r\nHost: a\r\n${header}Authorization: Bearer ${server.operatorKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const received = await exchange(Number(new URL(server.url).port), head + body + tail);
    expect(Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status))).toEqual([
      done,
      ...refusals,
    ]);
    expect(received).toContain(group);
    expect((await api.groups.getGroup({ path: `${org}/groups/${group}` })).name).toBe(group);
  }
});
