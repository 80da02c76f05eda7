// Tests how the pages of a list become lines, with a list that the test makes.
import { once } from "node:events";
import { type IncomingMessage, type RequestListener, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, onTestFinished, test, vi } from "vitest";
import { GroupSchema, GroupsService, type ListGroupsRequest } from "../../../gen/iam/v1alpha/group_pb.ts";
import { type RestHandlerOptions, createRestHandler } from "../../../src/rest/rest-handler.ts";

/** Serves pages by their numbers, which are the tokens. Returns the URL of the list. */
async function serve(
  page: (number: number, request: ListGroupsRequest) => Promise<readonly string[] | undefined>,
  options: Partial<RestHandlerOptions> = {},
): Promise<string> {
  const handler = createRestHandler({
    ...options,
    routes: (router) =>
      router.service(GroupsService, {
        async listGroups(request) {
          const number = Number(request.pageToken);
          const names = await page(number, request);
          const groups = (names ?? []).map((name) => create(GroupSchema, { name }));
          return { groups, nextPageToken: names === undefined ? "" : String(number + 1) };
        },
      }),
  });
  const server = createServer(handler as RequestListener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/iam/v1alpha/orgs/acme/groups`;
}

const headers = { accept: "application/x-ndjson" };

const parse = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

test("each page passes the gate as a call of its own, with the arguments of the first", async () => {
  const seen: string[] = [];
  let gates = 0;
  const url = await serve(
    async (number, { filter, pageSize }) => {
      seen.push(`${number} ${filter} ${pageSize}`);
      return number < 3 ? [`a${number}`, `b${number}`] : undefined;
    },
    { requestGate: () => void gates++ },
  );
  const response = await fetch(`${url}?filter=x&page_size=2`, { headers });
  expect(parse(await response.text())).toMatchObject(["a0", "b0", "a1", "b1", "a2", "b2"].map((name) => ({ name })));
  expect(seen).toEqual(["0 x 2", "1 x 2", "2 x 2", "3 x 2"]);
  expect(gates).toBe(4);
});

test.each(["gate", "method"])(
  "an error of the %s after the first line is the last line, with where to go on",
  async (by) => {
    let gates = 0;
    const refused = new ConnectError("no longer", Code.PermissionDenied);
    const url = await serve(
      async (number) => {
        if (by === "method" && number === 2) throw refused;
        return [`g${number}`];
      },
      {
        requestGate() {
          if (by === "gate" && ++gates === 3) throw refused;
        },
      },
    );
    const response = await fetch(url, { headers });
    expect(response.status).toBe(200);
    expect(parse(await response.text())).toMatchObject([
      { name: "g0" },
      { name: "g1" },
      { error: { code: 403, status: "PERMISSION_DENIED", message: "no longer" }, next_page_token: "2" },
    ]);
  },
);

test("a page has as long as a call, and all together as long as the client waits", async () => {
  // Only this test moves the clock of deadlines, so none passes because the machine is busy.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const url = await serve(
    async (number) => {
      vi.advanceTimersByTime(2_000);
      return number < 20 ? [`g${number}`] : undefined;
    },
    { timeoutMs: 3_000 },
  );
  expect(parse(await (await fetch(url, { headers })).text())).toHaveLength(20);
});

test("a client that reads nothing is read no further pages for, and one that goes ends the list", async () => {
  let last = 0;
  const long = "x".repeat(64_000);
  const url = await serve(async (number) => {
    last = number;
    return [long];
  });
  const request = httpRequest(url, { headers });
  request.on("error", () => {});
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  // Until the buffers of both sockets are full. Then, no page follows while many turns of the event loop pass.
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = last === before;
        before = last;
        return isStill;
      },
      { interval: 300 },
    )
    .toBe(true);
  response.on("error", () => {});
  response.destroy();
  const atEnd = last;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(last - atEnd).toBeLessThanOrEqual(2);
});

test("for a client that reads nothing for as long as a page may take, the list ends, and says where to go on", async () => {
  const long = "x".repeat(64_000);
  let failed = 0;
  const url = await serve(async () => [long], {
    timeoutMs: 1_500,
    mapError(error) {
      failed++;
      return error;
    },
  });
  const request = httpRequest(url, { headers });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await expect.poll(() => failed).toBe(1);
  const lines = parse(await readText(response));
  // The page whose lines were not read comes again.
  const nextPageToken = String(lines.length - 2);
  expect(lines.at(-1)).toMatchObject({ error: { status: "DEADLINE_EXCEEDED" }, next_page_token: nextPageToken });
});
