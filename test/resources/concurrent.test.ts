// Operations of one resource at the same time: those that its type declares as concurrent run beside each other, and all others
// run alone.
import { expect, test } from "vitest";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { claimOf, useMachines } from "./machines.ts";

const { ACTIVE, FAILED, UPDATING } = Resource_State;
const maxConcurrent = 16;

const opened = useMachines();

test("concurrent operations run beside each other, and the resource is UPDATING until the last one ends", async () => {
  const { cloud, other, create, run, read, claimAll, complete } = opened();
  const path = await create("m");
  const started = [await run(path, "snapshot"), await run(path, "snapshot", {}, other), await run(path, "attach")];
  const [first, next, last] = started.map((each) => each.path);
  expect(await read(path)).toMatchObject({
    state: UPDATING,
    operationPath: first,
    operationPaths: [first, next, last],
  });

  const claims = await claimAll();
  expect(claims).toHaveLength(3);
  for (const claim of claims) expect(claim.resource?.path).toBe(path);
  const outputs = { address: "10.0.0.1" };
  await cloud.provider.completeOperation({ ...cloud.present(claimOf(claims, required(started[0]))), outputs });
  expect(await read(path)).toMatchObject({
    state: UPDATING,
    operationPath: next,
    operationPaths: [next, last],
    outputs,
  });
  await complete(claimOf(claims, required(started[2])), other);
  expect(await read(path)).toMatchObject({ state: UPDATING, operationPath: next, operationPaths: [next] });
  await complete(claimOf(claims, required(started[1])));
  expect(await read(path)).toMatchObject({ state: ACTIVE, operationPath: "", operationPaths: [], outputs });
});

test("an operation that is not concurrent runs alone", async () => {
  const { cloud, other, create, run, read } = opened();
  const path = await create("m");
  const { path: restart } = await run(path, "restart");
  expect(await read(path)).toMatchObject({ operationPath: restart, operationPaths: [restart] });
  for (const verb of ["snapshot", "restart"]) {
    const failure = await failureOf(run(path, verb));
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
    expect(failure.message).toContain(`wait for the operation ${restart}, or cancel it`);
  }
  await cloud.complete();

  const { path: one } = await run(path, "snapshot");
  expect((await failureOf(run(path, "restart"))).message).toContain(`wait for the operation ${one}, or cancel it`);
  await run(path, "snapshot");
  for (const failure of [
    await failureOf(run(path, "restart", {}, other)),
    await failureOf(cloud.resources.deleteResource({ path })),
    await failureOf(
      cloud.provider.reportResource({ servicePath: cloud.servicePath, resourcePath: path, state: FAILED }),
    ),
  ]) {
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
    expect(failure.message).toContain(`wait for its 2 operations, or cancel them; the first is ${one}`);
  }
  await cloud.complete();
  await cloud.complete();
  expect((await run(path, "restart")).verb).toBe("restart");
});

test("at most 16 run at once, also when more are started at the same time on two servers", async () => {
  const { cloud, other, create, run, read } = opened();
  const path = await create("m");
  const starts = Array.from({ length: maxConcurrent + 4 }, (_, index) =>
    failureOf(run(path, "snapshot", {}, index % 2 === 0 ? cloud : other)).catch(() => undefined),
  );
  const failures = (await Promise.all(starts)).filter((each) => each !== undefined);
  expect(failures).toHaveLength(4);
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" });
    expect(failure.metadata).toMatchObject({ resource: path, limit: String(maxConcurrent) });
    expect(failure.message).toContain("has 16 operations, which is as many as can run at once: wait for one");
  }
  const { operationPaths } = await read(path);
  expect(new Set(operationPaths).size).toBe(maxConcurrent);
  await cloud.complete();
  await run(path, "snapshot");
  expect((await read(path)).operationPaths).toHaveLength(maxConcurrent);
});

test("in a race on two servers, an operation that runs alone never runs beside others", async () => {
  const { cloud, other, create, run, read, claimAll, complete } = opened();
  let [alone, beside] = [0, 0];
  for (let round = 0; round < rounds(2, 200); round++) {
    const path = await create(`m${round}`);
    const verbs = ["snapshot", "snapshot", "restart", "snapshot", "restart", "snapshot"];
    const outcomes = await Promise.allSettled(
      verbs.map((verb, index) => run(path, verb, {}, (index + round) % 2 === 0 ? cloud : other)),
    );
    const started = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const verbsStarted = new Set(started.map(({ verb }) => verb));
    expect(verbsStarted.size).toBe(1);
    if (verbsStarted.has("restart")) alone++;
    else beside++;
    expect(started).toHaveLength(verbsStarted.has("restart") ? 1 : 4);
    expect((await read(path)).operationPaths.toSorted()).toEqual(started.map((each) => each.path).toSorted());
    const claims = await claimAll();
    await Promise.all(claims.map((claim, index) => complete(claim, index % 2 === 0 ? cloud : other)));
    expect(await read(path)).toMatchObject({ state: ACTIVE, operationPaths: [] });
  }
  expect(alone + beside).toBe(rounds(2, 200));
});

test("the database refuses a resource without an operation while several run, as an earlier server would leave it", async () => {
  const { sql, create, run, read } = opened();
  const path = await create("m");
  await run(path, "snapshot");
  const { id } = await read(path);
  const end = sql.query("update resources set state = 'ACTIVE', operation_id = null where id::text = $1", [id]);
  await expect(end).rejects.toMatchObject({ constraint: "resources_concurrent_check" });
  const replace = sql.query("update resources set operation_id = gen_random_uuid() where id::text = $1", [id]);
  await expect(replace).rejects.toMatchObject({ constraint: "resources_concurrent_check" });
});
