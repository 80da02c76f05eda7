import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHostileServer, hostileRequests, isAlive } from "./support/hostile-requests.ts";

const server = createHostileServer();
let port = 0;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each(hostileRequests.map((request) => [request.name, request.status, request] as const))(
  "responds to %s with %i, and to the next request",
  async (_name, status, { send }) => {
    const answer = await send(port);
    expect(answer.status, answer.text.slice(0, 1000)).toBe(status);
    // A response does not grow with the request: it names at most 20 fields, whose paths have at most 100 names.
    expect(answer.text.length).toBeLessThan(40_000);
    expect(await isAlive(port)).toBe(true);
  },
);
