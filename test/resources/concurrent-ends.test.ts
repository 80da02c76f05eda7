// What concurrent operations of one resource leave when they end: its state, what it uses, and what follows its project.
import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { failureOf } from "../support/failure.ts";
import { createTransport } from "../support/transports.ts";
import { claimOf, useMachines } from "./machines.ts";

const { ACTIVE, FAILED, UPDATING } = Resource_State;
const patience = { interval: 50 };

const opened = useMachines();

describe("the state of the resource", () => {
  test("stays UPDATING when one of several fails, and is then as before", async () => {
    const { create, run, read, claimAll, fail } = opened();
    const path = await create("m");
    const [one, next] = [await run(path, "snapshot"), await run(path, "snapshot")];
    const claims = await claimAll();
    await fail(claimOf(claims, one));
    expect(await read(path)).toMatchObject({ state: UPDATING, stateReason: "", operationPaths: [next.path] });
    await fail(claimOf(claims, next));
    expect(await read(path)).toMatchObject({ state: ACTIVE, stateReason: "", operationPaths: [] });
  });

  test.each([
    ["one of them succeeds", true, ACTIVE],
    ["all fail", false, FAILED],
  ])("of a FAILED one, when %s, and the quotas follow", async (_what, succeeds, state) => {
    const { server, cloud, machines, run, read, claimAll, complete, fail } = opened();
    const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
    const held = async () => {
      const { usage, reserved } = await quotas.getQuota({ parentPath: cloud.project });
      return [usage[cloud.cores] ?? 0, reserved[cloud.cores] ?? 0];
    };
    const resource = { name: "m", typePath: machines, quantities: { [cloud.cores]: 2 } };
    const { resourcePath: path } = await cloud.resources.createResource({ parentPath: cloud.project, resource });
    await fail(await cloud.claim());
    expect(await held()).toEqual([0, 0]);
    const started = [await run(path, "snapshot"), await run(path, "snapshot"), await run(path, "snapshot")];
    expect(await held()).toEqual([0, 2]);
    const claims = await claimAll();
    const [first, middle, last] = started.map((each) => claimOf(claims, each));
    await fail(required(first));
    expect(await held()).toEqual([0, 2]);
    await (succeeds ? complete : fail)(required(middle));
    expect(await held()).toEqual(succeeds ? [2, 0] : [0, 2]);
    expect((await read(path)).state).toBe(UPDATING);
    await fail(required(last));
    expect(await read(path)).toMatchObject({ state, stateReason: succeeds ? "" : "no" });
    expect(await held()).toEqual(succeeds ? [2, 0] : [0, 0]);
  });

  test("after operations that are cancelled, expire or run out of attempts", async () => {
    const { sql, cloud, create, run, read, claimAll, fail } = opened();
    const path = await create("m");
    const [cancelled, asked, exhausted] = [
      await run(path, "snapshot"),
      await run(path, "snapshot"),
      await run(path, "snapshot"),
    ];
    expect(await cloud.operations.cancelOperation({ path: cancelled.path })).toMatchObject({
      state: Operation_State.CANCELLED,
    });
    expect((await read(path)).operationPaths).toEqual([asked.path, exhausted.path]);
    const claims = await claimAll();
    await cloud.operations.cancelOperation({ path: asked.path });
    await sql.query("update operations set attempts = 10, next_attempt_time = now() where id::text = $1", [
      exhausted.id,
    ]);
    const ended = await cloud.operations.waitOperation({ path: exhausted.path, timeout: { seconds: 25n } });
    expect(ended.error?.reason).toBe("ATTEMPTS_EXHAUSTED");
    expect(await read(path)).toMatchObject({ state: UPDATING, operationPaths: [asked.path] });
    expect((await fail(claimOf(claims, asked))).state).toBe(Operation_State.CANCELLED);
    expect(await read(path)).toMatchObject({ state: ACTIVE, operationPaths: [] });
  });
});

test("what any of them wants the resource to use cannot be deleted", async () => {
  const { cloud, disks, create, run, read, claimAll, complete } = opened();
  const path = await create("m");
  const [one, two, three] = [await create("d1", disks), await create("d2", disks), await create("d3", disks)];
  const attaching = await run(path, "attach", { disk: one });
  const later = await run(path, "attach", { disk: two });
  const spare = await run(path, "spare", { spare: three });
  const usedBy = async (disk: string) => (await failureOf(cloud.resources.deleteResource({ path: disk }))).reason;
  const claims = await claimAll();

  await complete(claimOf(claims, later));
  for (const disk of [one, two, three]) expect(await usedBy(disk)).toBe("RESOURCE_IN_USE");
  await complete(claimOf(claims, spare));
  // The one that succeeds last counts.
  await complete(claimOf(claims, attaching));
  expect(Object.keys((await read(path)).references)).toEqual(["disk", "spare"]);
  expect(await usedBy(one)).toBe("RESOURCE_IN_USE");
  expect(await usedBy(three)).toBe("RESOURCE_IN_USE");
  await cloud.resources.deleteResource({ path: two });
});

test("what a cancelled one of them wanted can be deleted while the others run", async () => {
  const { cloud, disks, create, run } = opened();
  const path = await create("m");
  const [one, two] = [await create("d1", disks), await create("d2", disks)];
  const { path: attaching } = await run(path, "attach", { disk: one });
  await run(path, "spare", { spare: two });
  await cloud.operations.cancelOperation({ path: attaching });
  await cloud.resources.deleteResource({ path: one });
  expect(await failureOf(cloud.resources.deleteResource({ path: two }))).toMatchObject({ reason: "RESOURCE_IN_USE" });
});

describe("a Project with a resource on which several run", () => {
  test("is suspended after the last of them", async () => {
    const { cloud, create, run, read, claimAll, complete } = opened();
    const path = await create("m");
    const started = [await run(path, "snapshot"), await run(path, "snapshot")];
    await cloud.api.projects.suspendProject({ path: cloud.project });
    const claims = await claimAll();
    expect(claims).toHaveLength(2);
    await complete(claimOf(claims, required(started[1])));
    expect((await read(path)).state).toBe(UPDATING);
    await complete(claimOf(claims, required(started[0])));
    await expect
      .poll(async () => (await claimAll()).map(({ operation }) => operation?.verb), patience)
      .toEqual(["suspend"]);
  });

  test("is deleted with force: all of them are cancelled", async () => {
    const { sql, cloud, create, run, complete, fail } = opened();
    const path = await create("m");
    const started = [await run(path, "snapshot"), await run(path, "snapshot"), await run(path, "snapshot")];
    const claim = await cloud.claim();
    await cloud.api.projects.deleteProject({ path: cloud.project, force: true });
    const id = claim.resource?.id;
    const state = async () =>
      (
        await sql.query("select state, cardinality(concurrent_ids) as running from resources where id::text = $1", [id])
      )[0];
    await expect.poll(state, patience).toEqual({ state: "UPDATING", running: 1 });
    const rows = await sql.query(
      "select verb, state, cancel_requested as asked from operations where resource_id::text = $1 and verb = 'snapshot'",
      [id],
    );
    expect(rows.filter((each) => each["state"] === "CANCELLED")).toHaveLength(started.length - 1);
    expect(rows.filter((each) => each["state"] === "RUNNING" && each["asked"] === true)).toHaveLength(1);
    await fail(claim);
    await expect.poll(state, patience).toEqual({ state: "DELETING", running: 0 });
    await complete(await nextClaim());
    expect(await state()).toBeUndefined();
  });
});

async function nextClaim(): Promise<Claim> {
  const { cloud } = opened();
  const { claims } = await cloud.provider.claimOperations({ servicePath: cloud.servicePath, wait: { seconds: 20n } });
  return required(claims[0]);
}
