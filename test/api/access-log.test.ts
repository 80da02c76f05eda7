// The line of a call in the access log says who called what and how it ended, over every protocol.
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport, protocols } from "../support/transports.ts";

type Line = Readonly<Record<string, unknown>>;

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const meOver = (protocol: Protocol, key: string) => createClient(MeService, createTransport(protocol, server.url, key));

/** Returns the line of the request with an id. */
async function lineOf(requestId: string): Promise<Line> {
  const find = (): Line[] =>
    server.logLines
      .filter((line) => line.includes(requestId) && line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as Line);
  await expect.poll(find).toHaveLength(1);
  return find()[0] ?? {};
}

describe.each(protocols)("over %s", (protocol) => {
  const headers = (requestId: string) => ({ headers: { "x-request-id": requestId } });

  test("the line names the method, the code, the address, the caller by a path, and its credential", async () => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const requestId = uniqueName("me");
    const { member } = await meOver(protocol, server.operatorKey).getMe({}, headers(requestId));
    const { caller, ...line } = await lineOf(requestId);
    expect(line).toMatchObject({ level: 30, address: "127.0.0.1", rpc: "iam.v1alpha.MeService/GetMe", code: "OK" });
    const found = await api.members.getMember({ path: String(caller) });
    expect(found.path).toBe(member?.path);
    const key = `${String(caller)}/apiKeys/@${String(line["credential"])}`;
    expect((await api.apiKeys.getApiKey({ path: key })).path).toBe(`${found.path}/apiKeys/first`);
  });

  test.each([
    [
      "NOT_FOUND",
      30,
      (api: ReturnType<typeof createApi>, id: string) => api.orgs.getOrg({ path: "orgs/none-of-it" }, headers(id)),
    ],
    [
      "INVALID_ARGUMENT",
      30,
      (api: ReturnType<typeof createApi>, id: string) => api.orgs.getOrg({ path: "orgs/-" }, headers(id)),
    ],
  ])("a call that fails has its code: %s", async (code, level, call) => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const requestId = uniqueName("fails");
    await failureOf(call(api, requestId));
    expect(await lineOf(requestId)).toMatchObject({
      level,
      code,
      rpc: "iam.v1alpha.OrgsService/GetOrg",
      caller: expect.any(String),
    });
  });

  test("a caller that is not known has an address, and a code", async () => {
    const requestId = uniqueName("stranger");
    await failureOf(meOver(protocol, "tk_wrong").getMe({}, headers(requestId)));
    const line = await lineOf(requestId);
    expect(line).toMatchObject({ address: "127.0.0.1", code: "UNAUTHENTICATED" });
    expect([line["caller"], line["credential"]]).toEqual([undefined, undefined]);
  });
});

test("a page has an address, and no call", async () => {
  const requestId = uniqueName("page");
  await fetch(`${server.url}/docs`, { redirect: "manual", headers: { "x-request-id": requestId } });
  const line = await lineOf(requestId);
  expect([line["address"], line["rpc"], line["code"]]).toEqual(["127.0.0.1", undefined, undefined]);
});

test("a request that REST cannot read has its status and its code", async () => {
  const requestId = uniqueName("unread");
  const { status } = await fetch(`${server.url}/iam/v1alpha/orgs`, {
    method: "POST",
    body: "{",
    headers: {
      "x-request-id": requestId,
      "content-type": "application/json",
      authorization: `Bearer ${server.operatorKey}`,
    },
  });
  const line = await lineOf(requestId);
  expect([status, line["status"], line["code"], line["rpc"]]).toEqual([
    400,
    400,
    "INVALID_ARGUMENT",
    "iam.v1alpha.OrgsService/CreateOrg",
  ]);
});
