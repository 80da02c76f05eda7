// Tests what an operation tells those who wait for it while nobody carries it out, and how operations are found.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let sql: SqlClient;
let cloud: Cloud;

beforeAll(async () => {
  const server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("REST", server.url, server.operatorKey);
});
afterAll(() => sql.close());

const idIn = (path: string): string => path.slice(path.indexOf("@") + 1);
const makeDue = (path: string) =>
  sql.query("update operations set next_attempt_time = now() where id = $1", [idIn(path)]);
const read = (path: string): Promise<Operation> => cloud.operations.getOperation({ path });
const fail = async (reason: string, message: string, retry = true): Promise<Operation> =>
  cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason, message, retry });

describe("an operation that nobody has claimed", () => {
  test("says so, and since when it waits", async () => {
    const started = await cloud.create(uniqueName("db"));
    for (const operation of [started, await read(started.path)]) {
      expect(operation).toMatchObject({
        attempts: 0,
        nextAttemptTime: operation.createTime,
        pendingReason: `the provider of the service ${cloud.service} has not claimed it yet`,
      });
      expect(operation.lastError).toBeUndefined();
    }
    await cloud.complete();
  });
});

describe("an operation whose attempt has failed", () => {
  test("shows the attempts, the last error and when it is tried again, until it ends", async () => {
    const { path } = await cloud.create(uniqueName("db"));
    const given = await fail("NO_CAPACITY", "Zone a is full.");
    const waiting = await read(path);
    expect(given).toEqual(waiting);
    expect(waiting).toMatchObject({
      state: Operation_State.PENDING,
      attempts: 1,
      lastError: { reason: "NO_CAPACITY", message: "Zone a is full." },
      pendingReason: expect.stringMatching(/^attempt 1 of 10 failed; .* can claim it again from \d{4}-/),
    });
    expect(waiting.error).toBeUndefined();
    const [row] = await sql.query("select next_attempt_time > now() as later from operations where id = $1", [
      idIn(path),
    ]);
    expect(row).toEqual({ later: true });
    await makeDue(path);
    const claim = await cloud.claim();
    const running = await read(path);
    expect(running).toMatchObject({ state: Operation_State.RUNNING, attempts: 2, pendingReason: "" });
    expect(running.lastError).toMatchObject({ reason: "NO_CAPACITY" });
    // When the claim ends, which is when another provider can take it.
    expect(timestampMs(required(running.nextAttemptTime))).toBe(timestampMs(required(claim.claimExpireTime)));
    const done = await cloud.provider.completeOperation(cloud.present(claim));
    expect(done).toMatchObject({ state: Operation_State.SUCCEEDED, attempts: 2, pendingReason: "" });
    expect([done.lastError, done.error, done.nextAttemptTime]).toEqual([undefined, undefined, undefined]);
    expect(await read(path)).toEqual(done);
  });

  test("has the error of the last attempt as its own when it has FAILED", async () => {
    const { path } = await cloud.create(uniqueName("db"));
    await fail("BUSY", "");
    await makeDue(path);
    const failed = await fail("BROKEN", "No more.", false);
    expect(failed).toMatchObject({ state: Operation_State.FAILED, attempts: 2, error: { reason: "BROKEN" } });
    expect(failed.lastError).toBeUndefined();
  });

  test("shows nothing of an attempt that was only validated", async () => {
    const { path } = await cloud.create(uniqueName("db"));
    const claim = cloud.present(await cloud.claim());
    const before = await read(path);
    await cloud.provider.failOperation({ ...claim, reason: "BUSY", retry: true, validateOnly: true });
    expect(await read(path)).toEqual(before);
    await cloud.provider.completeOperation(claim);
  });
});

test("operations are filtered by their resource, state, verb and whether they are done", async () => {
  const [name, other] = [uniqueName("db"), uniqueName("db")];
  const created = await cloud.create(name);
  await cloud.complete();
  await cloud.create(other);
  await cloud.complete();
  const resized = required(
    await cloud.resources.runResource({
      path: cloud.pathOf(name),
      operation: "resize",
      quantities: { [cloud.cores]: 3 },
    }),
  );
  const list = async (filter: string): Promise<string[]> => {
    const found = await cloud.operations.listOperations({ parentPath: cloud.project, filter });
    return found.operations.map(({ path }) => path);
  };
  const ofResource = `resource_path = "${cloud.pathOf(name)}"`;
  expect(await list(ofResource)).toEqual([created.path, resized.path]);
  expect(await list(`${ofResource} AND done = false`)).toEqual([resized.path]);
  expect(await list(`${ofResource} AND done = true AND verb = "create"`)).toEqual([created.path]);
  expect(await list(`${ofResource} AND state = PENDING AND verb = (resize OR delete)`)).toEqual([resized.path]);
  await cloud.complete({ [cloud.cores]: 3 });
  const deleted = await cloud.resources.deleteResource({ path: cloud.pathOf(name) });
  await cloud.complete();
  const { resourcePath } = await read(deleted.path);
  expect(resourcePath).toMatch(/resources\/@/);
  // As the operations show it: what is gone has its id.
  expect(await list(`resource_path = "${resourcePath}"`)).toEqual([created.path, resized.path, deleted.path]);
  expect(await list(ofResource)).toEqual([]);
  expect(await failureOf(list("done = PENDING"))).toMatchObject({ fields: ["filter"] });
});
