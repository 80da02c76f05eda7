// Tests how much a provider may give beyond what is wanted.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { OperationTypeSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let server: SharedServer;
let cloud: Cloud;

beforeAll(async () => {
  server = await sharedServer();
  cloud = await openCloud("gRPC", server.url, server.operatorKey);
});

type OperationType = MessageInitShape<typeof OperationTypeSchema>;

/** Creates a resource of a type with an operation `create`, and claims its creation. */
async function claimNew(create: Omit<OperationType, "$typeName" | "$unknown">, wanted: Record<string, number>) {
  const name = uniqueName("type");
  const { path: typePath } = await cloud.types.createResourceType({
    parentPath: cloud.servicePath,
    resourceType: { name, collection: name, operations: [{ verb: "create", ...create }, { verb: "delete" }] },
  });
  const resource = { name: uniqueName("r"), typePath, quantities: wanted };
  const { resourcePath } = await cloud.resources.createResource({ parentPath: cloud.project, resource });
  const claim = await cloud.claim();
  const complete = (givenQuantities: Record<string, number>) =>
    cloud.provider.completeOperation({ ...cloud.present(claim), givenQuantities });
  return { typePath, resourcePath, complete };
}

describe("a provider gives", () => {
  test.each<[rule: string, create: (kind: string) => object, wanted: number | undefined, most: number, beyond: number]>(
    [
      ["at most twice of what counts", (kind) => ({ quantities: [{ kind, counted: true }] }), 2, 4, 4.1],
      ["at most its surplus more", (kind) => ({ quantities: [{ kind, counted: true, surplus: 0.1 }] }), 0.7, 0.8, 0.9],
      ["nothing more with no surplus", (kind) => ({ quantities: [{ kind, counted: true, surplus: 0 }] }), 2, 2, 2.1],
      [
        "a surplus also of what does not count",
        (kind) => ({ quantities: [{ kind, counted: false, surplus: 1 }] }),
        2,
        3,
        3.1,
      ],
      [
        "the greater surplus of both lists",
        (kind) => ({
          quantities: [{ kind, counted: true, surplus: 1 }],
          givenQuantities: [{ kind, counted: true, surplus: 5 }],
        }),
        2,
        7,
        7.1,
      ],
      [
        "nothing that counts and nobody wants",
        (kind) => ({ givenQuantities: [{ kind, counted: true }] }),
        undefined,
        0,
        0.1,
      ],
      [
        "that up to its surplus",
        (kind) => ({ givenQuantities: [{ kind, counted: true, surplus: 3 }] }),
        undefined,
        3,
        3.1,
      ],
      [
        "that up to a maximum",
        (kind) => ({ givenQuantities: [{ kind, counted: true, maximum: 9 }] }),
        undefined,
        9,
        9.1,
      ],
    ],
  )("%s", async (_rule, create, wanted, most, beyond) => {
    const kind = cloud.cores;
    const { complete } = await claimNew(create(kind), wanted === undefined ? {} : { [kind]: wanted });
    const refused = await failureOf(complete({ [kind]: beyond }));
    expect(refused).toMatchObject({ code: "InvalidArgument", fields: [`given_quantities["${kind}"]`] });
    expect(refused.message).toContain(`must be at most ${most}, got ${beyond}: ${wanted ?? 0} is wanted`);
    expect((await complete({ [kind]: most })).givenQuantities).toEqual({ [kind]: most });
  });

  test("as much as it likes of what does not count", async () => {
    const { complete } = await claimNew({ quantities: [{ kind: cloud.ram, counted: false }] }, { [cloud.ram]: 1 });
    expect((await complete({ [cloud.ram]: 1e9 })).done).toBe(true);
  });

  test("not what is left of the org's limit, of which others could not use anything then", async () => {
    const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
    await quotas.updateQuota({ parentPath: cloud.org, quota: { limits: { [cloud.cores]: 1000 } } });
    const { usage } = await quotas.getQuota({ parentPath: cloud.org });
    const { complete } = await claimNew({ quantities: [{ kind: cloud.cores, counted: true }] }, { [cloud.cores]: 2 });
    const left = 1000 - (usage[cloud.cores] ?? 0);
    expect(await failureOf(complete({ [cloud.cores]: left }))).toMatchObject({ reason: "FIELD_INVALID" });
    await complete({});
    await cloud.create(uniqueName("another"), 50);
    await cloud.complete();
  });
});

test("a report is bounded as the operations of the type are, and a resource keeps what it has when less is allowed", async () => {
  const [kind, servicePath] = [cloud.cores, cloud.servicePath];
  const { typePath, resourcePath, complete } = await claimNew(
    { quantities: [{ kind, counted: true, surplus: 10 }] },
    { [kind]: 2 },
  );
  await complete({ [kind]: 5 });
  const report = (amount: number) =>
    cloud.provider.reportResource({ servicePath, resourcePath, givenQuantities: { [kind]: amount } });
  expect(await failureOf(report(12.1))).toMatchObject({ fields: [`given_quantities["${kind}"]`] });
  expect((await report(12)).givenQuantities).toEqual({ [kind]: 12 });
  const operations = [{ verb: "create", quantities: [{ kind, counted: true }] }, { verb: "delete" }];
  await cloud.types.updateResourceType({ path: typePath, resourceType: { operations } });
  expect(await failureOf(report(12.1))).toMatchObject({ fields: [`given_quantities["${kind}"]`] });
  expect((await report(12)).givenQuantities).toEqual({ [kind]: 12 });
  expect((await report(3)).givenQuantities).toEqual({ [kind]: 3 });
  expect(await failureOf(report(12))).toMatchObject({ fields: [`given_quantities["${kind}"]`] });
});
