// Masks that name one entry of a map, over each protocol and over REST as a client writes them.
import { beforeAll, describe, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { protocols } from "../support/transports.ts";

let server: SharedServer;
let org: string;
beforeAll(async () => {
  server = await sharedServer();
  const api = createApi("gRPC", server.url, server.operatorKey);
  ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("masks") } }));
});

const before = { env: "prod", "cost-centre": "1", "example.com/cost": "1" };

async function createGroup(): Promise<string> {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const group = { name: uniqueName("group"), description: "as it was", labels: before };
  return (await api.groups.createGroup({ parentPath: org, group })).path;
}

const changes = [
  ["labels.cost-centre", { "cost-centre": "2" }, { ...before, "cost-centre": "2" }],
  ["labels.`cost-centre`", { "cost-centre": "2" }, { ...before, "cost-centre": "2" }],
  ["labels.`example.com/cost`", { "example.com/cost": "2" }, { ...before, "example.com/cost": "2" }],
  ["labels.env", {}, { "cost-centre": "1", "example.com/cost": "1" }],
  ["labels.nothing", {}, before],
] as const;

const mistakes = [
  "labels.",
  "labels..x",
  "labels.env.x",
  "labels.-x",
  "labels.`env",
  "labels.env[0]",
  "labels.a\u0000",
];

describe.each(protocols)("over %s", (protocol) => {
  test.each(changes)("%s changes one label", async (path, labels, after) => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const group = await createGroup();
    const updated = await api.groups.updateGroup({
      path: group,
      group: { description: "not in the mask", labels },
      updateMask: { paths: [path] },
    });
    expect(updated).toMatchObject({ labels: after, description: "as it was" });
  });

  test.each(mistakes)("%j, which no label can be, is refused", async (path) => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const group = await createGroup();
    const update = api.groups.updateGroup({
      path: group,
      group: { labels: { x: "y" } },
      updateMask: { paths: [path] },
    });
    expect(await failureOf(update)).toMatchObject({ code: "InvalidArgument", fields: ["update_mask"] });
    expect((await api.groups.getGroup({ path: group })).labels).toEqual(before);
  });
});

test.each(changes)("a query can have %s", async (path, labels, after) => {
  const group = await createGroup();
  const response = await fetch(`${server.url}/iam/v1alpha${group}?update_mask=${encodeURIComponent(path)}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ labels }),
  });
  expect(await response.json()).toMatchObject({ labels: after, description: "as it was" });
});
