// What the service connects to for identity providers, whose URLs orgs choose.
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGuardedFetch } from "../../src/identity/oidc/guarded-fetch.ts";
import type { ResolveHost } from "../../src/identity/outgoing/guarded-request.ts";
import { mayConnect } from "../../src/identity/outgoing/public-address.ts";
import { createSlots } from "../../src/identity/outgoing/slots.ts";
import { findUrlProblem } from "../../src/identity/outgoing/url-problem.ts";

/** Counts connections, and sends nothing. */
const server = createServer((socket) => {
  connections++;
  socket.on("error", () => {}).end();
});
let connections = 0;
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

test.each([
  ["8.8.8.8", true],
  ["172.15.0.1", true],
  ["172.32.0.1", true],
  ["2606:4700::1111", true],
  ["::ffff:8.8.8.8", true],
  ["0.0.0.0", false],
  ["10.1.2.3", false],
  ["100.64.0.1", false],
  ["127.0.0.1", false],
  ["127.255.255.254", false],
  ["168.63.129.16", false],
  ["169.254.169.254", false],
  ["172.16.0.1", false],
  ["172.31.255.255", false],
  ["192.168.1.1", false],
  ["198.18.0.1", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["::7f00:1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:a9fe:a9fe", false],
  ["0:0:0:0:0:ffff:7f00:1", false],
  ["::ffff:0:127.0.0.1", false],
  ["64:ff9b::10.0.0.1", false],
  ["64:ff9b:1::1", false],
  ["100::1", false],
  ["2001::1", false],
  ["2001:db8::1", false],
  ["2002:7f00:1::", false],
  ["fc00::1", false],
  ["fd00:ec2::254", false],
  ["fe80::1", false],
  ["fe80::1%eth0", false],
  ["fec0::1", false],
  ["ff02::1", false],
  ["not an address", false],
])("connects to %s: %s", (address, expected) => {
  expect(mayConnect(address, [])).toBe(expected);
});

test("an allowed network is allowed in all spellings, and no other", () => {
  const networks = ["10.1.0.0/16"];
  const expected = { "10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": false };
  for (const [address, may] of Object.entries(expected))
    expect([address, mayConnect(address, networks)]).toEqual([address, may]);
  expect(findUrlProblem("http://10.1.2.3", networks)).toMatch(/https/);
  expect(findUrlProblem("http://127.0.0.1", ["127.0.0.1/32"])).toBeUndefined();
  expect(findUrlProblem("http://127.0.0.2", ["127.0.0.1/32"])).toMatch(/https/);
});

describe("a host name", () => {
  const fetchWith = (networks: readonly string[], resolveHost: ResolveHost) =>
    createGuardedFetch({ networks, resolveHost, timeoutMs: 5_000, maxBytes: 1_000 })(
      `https://login.example.com:${port}/`,
      {},
    );

  test.each([["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]])(
    "with the address %s %s is not connected to",
    async (...addresses) => {
      const before = connections;
      const call = fetchWith([], async () => addresses.filter((address) => address !== undefined));
      await expect(call).rejects.toThrow("has an address that is not public");
      expect(connections).toBe(before);
    },
  );

  test("is resolved once, and the connection goes to the checked address, whatever DNS says then", async () => {
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    let asked = 0;
    const before = connections;
    const call = fetchWith(["127.0.0.1/32"], async () => answers[asked++] ?? []);
    // The name is in no DNS, so that any other lookup would fail before a connection.
    await expect(call).rejects.toThrow("cannot be reached");
    expect([asked, connections - before]).toEqual([1, 1]);
  });

  test("without an address is an error that says so", async () => {
    await expect(fetchWith([], async () => [])).rejects.toThrow("login.example.com has no address");
  });
});

test("slots are bounded for each key and for all, and come back", async () => {
  const withSlot = createSlots({ perKey: 2, total: 3, full: () => new Error("full") });
  const ends: (() => void)[] = [];
  const hold = (key: string): Promise<void> => withSlot(key, () => new Promise((resolve) => ends.push(resolve)));
  const held = [hold("a"), hold("a"), hold("b")];
  await expect(hold("a")).rejects.toThrow("full");
  await expect(hold("c")).rejects.toThrow("full");
  for (const end of ends) end();
  await Promise.all(held);
  expect(await withSlot("a", async () => "again")).toBe("again");
});
