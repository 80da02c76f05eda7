// Random sequences of calls of customers and providers to two servers, one of which stops and starts, compared at every step
// with a naive model.
import { createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { fuzzParameters } from "../support/fuzz-parameters.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";
import { type ModelOperation, type ModelResource, createNaiveModel, projectCount, scopes } from "./naive-model.ts";

let server: SharedServer;
let second: SharedServer;
let sql: SqlClient;

beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
});

const stepsPerRun = rounds(40, 100);

const kinds = [
  "create",
  "create",
  "create",
  "burst",
  "resize",
  "start",
  "snapshot",
  "snapshot",
  "delete",
  "delete",
  "undelete",
  "purge",
  "claim",
  "claim",
  "claim",
  "complete",
  "complete",
  "surplus",
  "fail",
  "fail",
  "retry",
  "cancel",
  "limit",
  "report",
  "abandon",
  "exhaust",
  "late",
  "restart",
] as const;

const namesOf = (states: object): ReadonlyMap<unknown, string> =>
  new Map(Object.entries(states).map(([name, value]) => [value, name]));
const resourceStates = namesOf(Resource_State);
const operationStates = namesOf(Operation_State);

const step = fc.record({
  kind: fc.constantFrom(...kinds),
  /** Chooses among what the step can be done with. */
  which: fc.nat(999),
  /** Tenths of a core; the type requires at least five. */
  amount: fc.integer({ min: 5, max: 40 }),
  onSecond: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A claim that a provider believes to hold. */
interface Held {
  readonly claim: Claim;
  readonly resource: ModelResource;
  readonly operation: ModelOperation;
  readonly attempt: number;
}

async function openWorld() {
  const cloud = await openCloud("REST", server.url, server.operatorKey);
  const { api, org } = cloud;
  const { customerPath } = await api.orgs.getOrg({ path: org });
  const other = (await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } })).path;
  const projects: string[] = [cloud.project];
  for (const [parentPath, name] of [
    [org, "b"],
    [other, "c"],
    [other, "d"],
  ] as const) {
    projects.push((await api.projects.createProject({ parentPath, project: { name } })).path);
  }
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  const pathOf = new Map([customerPath, org, other, ...projects].map((path, index) => [required(scopes[index]), path]));
  const model = createNaiveModel();
  const held: Held[] = [];
  let names = 0;
  const { operations: ofCloud } = await cloud.types.getResourceType({ path: cloud.typePath });
  // Only quotas limit what is given.
  const unbounded = ofCloud.map(({ quantities, ...operation }) => ({
    ...operation,
    quantities: quantities.map((variable) => ({ ...variable, surplus: 1e6 })),
  }));
  const ofInstances = [...unbounded, { verb: "snapshot", concurrent: true }];
  await cloud.types.updateResourceType({ path: cloud.typePath, resourceType: { operations: ofInstances } });
  const { path: disks } = await cloud.types.createResourceType({
    parentPath: cloud.servicePath,
    resourceType: {
      name: "disks",
      collection: "disks",
      operations: [...ofInstances, { verb: "undelete" }, { verb: "purge" }],
    },
  });

  const clients = (onSecond: boolean): ResourcesApi =>
    onSecond ? createResourcesApi("gRPC", second.url, server.operatorKey) : cloud;
  const isCurrent = ({ operation, attempt }: Held): boolean =>
    operation.state === "RUNNING" && operation.attempts === attempt;

  /** Sets when operations can be claimed, as if the time had passed: nothing becomes due by itself. */
  const schedule = (path: string, when: string) =>
    sql.query(`update operations set next_attempt_time = ${when} where id = $1`, [path.slice(path.indexOf("@") + 1)]);

  /** Compares whether a call was granted. */
  const expectGrant = async (isGranted: boolean, call: Promise<unknown>): Promise<void> => {
    if (isGranted) await call;
    else expect(await failureOf(call)).toMatchObject({ reason: "QUOTA_EXCEEDED" });
  };

  const perform = async ({ kind, which, amount, onSecond }: Step): Promise<void> => {
    const { resources, operations, provider } = clients(onSecond);
    const pick = <Item>(items: readonly Item[]): Item | undefined => items[which % Math.max(items.length, 1)];
    const all = [...model.resources.values()];
    const isIdle = ({ operations: running }: ModelResource): boolean => running.length === 0;
    const idle = pick(all.filter((each) => isIdle(each) && each.state !== "DELETED"));
    const deleted = pick(all.filter((each) => isIdle(each) && each.state === "DELETED"));
    const existing = pick(all.filter(({ state }) => state !== "DELETED"));
    const busy = pick(all.flatMap((resource) => resource.operations.map((operation) => ({ resource, operation }))));
    const current = pick(held.filter(isCurrent));
    const quantities = { [cloud.cores]: amount / 10 };
    const present = (claim: Claim) => cloud.present(claim);

    const run = async (verb: "resize" | "start" | "delete"): Promise<void> => {
      if (idle === undefined) return;
      const { path } = idle;
      const started = model.change(idle, verb, verb === "resize" ? amount : undefined);
      const call =
        verb === "delete"
          ? resources.deleteResource({ path })
          : resources.runResource({ path, operation: verb, ...(verb === "resize" && { quantities }) });
      if (started === undefined) return expectGrant(false, call);
      Object.assign(started, { path: (await call).path });
      model.operations.push(started);
    };

    /** The path by id, which finds deleted resources. */
    const byId = async ({ path }: ModelResource): Promise<string> => {
      const [parentPath = "", name = ""] = path.split("/resources/");
      const page = await resources.listResources({ parentPath, filter: `name = "${name}"`, showDeleted: true });
      return `${parentPath}/resources/@${required(page.resources[0]).id}`;
    };

    const runDeleted = async (resource: ModelResource, verb: "undelete" | "purge"): Promise<void> => {
      const path = await byId(resource);
      const started = model.change(resource, verb, undefined);
      const call =
        verb === "undelete" ? resources.undeleteResource({ path }) : resources.runResource({ path, operation: verb });
      if (started === undefined) return expectGrant(false, call);
      Object.assign(started, { path: (await call).path });
      model.operations.push(started);
    };

    const snapshot = async (resource: ModelResource): Promise<void> => {
      const { path, operations: running } = resource;
      const call = resources.runResource({ path, operation: "snapshot" });
      if (running.some(({ verb }) => verb !== "snapshot")) {
        expect(await failureOf(call)).toMatchObject({ reason: "STATE_FORBIDS" });
      } else if (running.length === 16) {
        expect(await failureOf(call)).toMatchObject({ reason: "LIMIT_EXCEEDED" });
      } else {
        const started = model.change(resource, "snapshot", undefined);
        if (started === undefined) return expectGrant(false, call);
        Object.assign(started, { path: (await call).path });
        model.operations.push(started);
      }
    };

    switch (kind) {
      case "snapshot":
        return existing && snapshot(existing);
      case "undelete":
      case "purge":
        return deleted && runDeleted(deleted, kind);
      case "create": {
        const project = which % projectCount;
        const parentPath = required(projects[project]);
        const name = `r${names++}`;
        let begun: ModelOperation | undefined;
        const canBeRestored = which % 3 > 0;
        const path = `${parentPath}/resources/${name}`;
        const isGranted = model.create({ path, project, canBeRestored }, amount, (each) => (begun = each));
        const resource = { name, typePath: canBeRestored ? disks : cloud.typePath, quantities };
        const call = resources.createResource({ parentPath, resource });
        if (!isGranted || begun === undefined) return expectGrant(false, call);
        Object.assign(begun, { path: (await call).path });
        model.operations.push(begun);
        return;
      }
      case "burst": {
        // They wait for each other on two servers. They want the same, so it does not matter which of them fit.
        const project = which % projectCount;
        const parentPath = required(projects[project]);
        const calls = Array.from({ length: 2 + (which % 6) }, (_, index) => {
          const name = `r${names++}`;
          const resource = { name, typePath: cloud.typePath, quantities };
          const call = clients(index % 2 === 0).resources.createResource({ parentPath, resource });
          return { path: `${parentPath}/resources/${name}`, call };
        });
        const outcomes = await Promise.allSettled(calls.map(({ call }) => call));
        for (const [index, outcome] of outcomes.entries()) {
          if (outcome.status === "rejected") continue;
          const { path } = required(calls[index]);
          const begun: ModelOperation[] = [];
          expect(model.create({ path, project, canBeRestored: false }, amount, (each) => begun.push(each))).toBe(true);
          model.operations.push(Object.assign(required(begun[0]), { path: outcome.value.path }));
        }
        for (const [index, { status }] of outcomes.entries()) {
          if (status === "fulfilled") continue;
          const { path, call } = required(calls[index]);
          await expectGrant(
            model.create({ path, project, canBeRestored: false }, amount, () => {}),
            call,
          );
        }
        return;
      }
      case "resize":
      case "start":
      case "delete":
        return run(kind);
      case "claim": {
        // What waits for its next attempt, or is held by a provider that has died, becomes due now.
        const { claims } = await provider.claimOperations({
          servicePath: cloud.servicePath,
          claimDuration: { seconds: 3600n },
        });
        const running = all.flatMap((each) => each.operations);
        const waiting = running.filter((each) => each.state === "PENDING" && !isLater.has(each));
        if (waiting.length > 0 || dead.size > 0) expect(claims).toHaveLength(1);
        for (const claim of claims) {
          const operation = required(running.find(({ path }) => path === claim.operation?.path));
          const resource = required(all.find((each) => each.operations.includes(operation)));
          expect(operation.state === "RUNNING").toBe(dead.delete(operation));
          expect(claim.attempt).toBe(++operation.attempts);
          expect(claim.resource?.name).toBe(resource.path.split("/").at(-1));
          operation.state = "RUNNING";
          held.push({ claim, resource, operation, attempt: claim.attempt });
        }
        return;
      }
      case "complete":
      case "surplus": {
        if (current === undefined) return;
        const { claim, resource, operation } = current;
        const surplus = kind === "surplus" && operation.wanted !== undefined ? amount : 0;
        const amounts = surplus === 0 ? {} : { [cloud.cores]: (required(operation.wanted) + surplus) / 10 };
        const isGranted = model.complete(resource, operation, surplus);
        if (isGranted) dead.delete(operation);
        return expectGrant(isGranted, provider.completeOperation({ ...present(claim), givenQuantities: amounts }));
      }
      case "fail":
      case "retry": {
        if (current === undefined) return;
        const { claim, resource, operation } = current;
        // A purge that failed is started again by the service, at a time that the model does not know.
        const ends = kind === "fail" || operation.attempts >= 10;
        if (operation.verb === "purge" && ends && !operation.cancelRequested) return;
        model.fail(resource, operation, kind === "retry");
        dead.delete(operation);
        await provider.failOperation({ ...present(claim), reason: "BUSY", message: "busy", retry: kind === "retry" });
        if (operation.state !== "PENDING") return;
        // Half of the operations wait for long.
        const waits = which % 2 === 0 && operation.attempts < 9;
        if (waits) isLater.add(operation);
        await schedule(operation.path, waits ? "now() + interval '1 day'" : "now()");
        return;
      }
      case "cancel": {
        if (busy === undefined) return;
        const { resource, operation } = busy;
        model.cancel(resource, operation);
        isLater.delete(operation);
        await operations.cancelOperation({ path: operation.path });
        return;
      }
      case "abandon":
        if (current === undefined) return;
        // The provider dies, and its lease expires. The last attempt is left to `exhaust`.
        if (current.operation.attempts >= 10) return;
        dead.add(current.operation);
        await schedule(current.operation.path, "now()");
        return;
      case "exhaust": {
        // Waits for the job of a server, so it is rare.
        if (current === undefined || which % 4 !== 0 || current.operation.verb === "purge") return;
        const { path } = current.operation;
        current.operation.attempts = 10;
        dead.delete(current.operation);
        model.exhaust(current.resource, current.operation);
        await sql.query("update operations set attempts = 10, next_attempt_time = now() where id = $1", [
          path.slice(path.indexOf("@") + 1),
        ]);
        await operations.waitOperation({ path, timeout: { seconds: 25n } });
        return;
      }
      case "late": {
        const lost = pick(held.filter((each) => !isCurrent(each)));
        if (lost === undefined) return;
        const late = provider.completeOperation(present(lost.claim));
        expect(await failureOf(late)).toMatchObject({ reason: "CLAIM_VOID" });
        return;
      }
      case "limit": {
        const scope = required(scopes[which % scopes.length]);
        const { used, reserved } = model.sumOf(scope);
        // Below what is used, a little above it, or none.
        const limit = [Math.max(0, used + reserved - amount), used + reserved + amount, undefined][which % 3];
        if (limit === undefined) model.limits.delete(scope);
        else model.limits.set(scope, limit);
        await quotas.updateQuota({
          parentPath: required(pathOf.get(scope)),
          quota: { limits: limit === undefined ? {} : { [cloud.cores]: limit / 10 } },
          updateMask: { paths: [`limits.${cloud.cores}`] },
        });
        return;
      }
      case "report": {
        if (idle === undefined) return;
        const state = which % 2 === 0 ? "ACTIVE" : "FAILED";
        const given = which % 4 < 2 ? undefined : idle.wanted + amount;
        const isGranted = model.report(idle, state, given);
        const call = provider.reportResource({
          servicePath: cloud.servicePath,
          resourcePath: idle.path,
          state: Resource_State[state],
          stateReason: "seen",
          givenQuantities: given === undefined ? {} : { [cloud.cores]: given / 10 },
        });
        return expectGrant(isGranted, call);
      }
      case "restart":
        if (which % 4 !== 0) return;
        second = await secondSharedServer();
    }
  };

  /** Operations that are not due, and those whose claim has expired. */
  const isLater = new Set<ModelOperation>();
  const dead = new Set<ModelOperation>();

  /** What the API shows, in the lines of the model. The attempts are not shown. */
  const shown = async (onSecond: boolean): Promise<string[]> => {
    const { resources, operations } = clients(onSecond);
    const lines: string[] = [];
    for (const scope of scopes) {
      const { limits, usage, reserved } = await quotas.getQuota({ parentPath: required(pathOf.get(scope)) });
      const [limit = "-", used = 0, pending = 0] = [limits, usage, reserved].map((each) => each[cloud.cores]);
      lines.push(`${scope}: ${limit} ${used} ${pending}`);
    }
    for (const parentPath of projects) {
      const page = await resources.listResources({ parentPath, pageSize: 1000, showDeleted: true });
      for (const { name, state, quantities, givenQuantities } of page.resources) {
        const [wanted, given = "-"] = [quantities[cloud.cores], givenQuantities[cloud.cores]];
        lines.push(`${parentPath}/resources/${name}: ${resourceStates.get(state)} ${wanted} ${given}`);
      }
      const ended = await operations.listOperations({ parentPath, pageSize: 1000 });
      for (const { path, verb, state, cancelRequested, done } of ended.operations) {
        lines.push(`${path}: ${verb} ${operationStates.get(state)} ${cancelRequested} ${done}`);
      }
    }
    return lines.toSorted();
  };

  const ids = [customerPath, org, other, ...projects];
  const scopeIds: string[] = [];
  for (const path of ids) {
    const [table, id] = [path.split("/").at(-2), path.split("/").at(-1)];
    const parent =
      table === "projects" ? `and org_id = (select id from orgs where name = '${path.split("/")[2]}')` : "";
    const [row] = await sql.query(`select id::text from ${table} where (name = $1 or '@' || id = $1) ${parent}`, [id]);
    scopeIds.push(String(row?.["id"]));
  }

  /** What the database has. */
  const stored = async (): Promise<string[]> => {
    const rows = await sql.query(
      `select scopes.name || ': ' || coalesce(trim_scale(maximum)::text, '-') || ' ' || coalesce(trim_scale(used), 0)
          || ' ' || coalesce(trim_scale(reserved), 0) as line
        from unnest($1::uuid[], $2::text[]) as scopes (id, name)
        left join quotas on quotas.scope_id = scopes.id and kind = $3
      union all
      select '/orgs/' || orgs.name || '/projects/' || projects.name || '/resources/' || resources.name || ': '
          || case when resources.delete_time is null then resources.state else 'DELETED' end
          || ' ' || (quantities ->> $3) || ' ' || coalesce(given_quantities ->> $3, '-')
        from resources join orgs on orgs.id = resources.org_id
        join projects on projects.org_id = orgs.id and projects.id = resources.project_id
        where projects.id = any($1::uuid[])
      union all
      select '/orgs/' || orgs.name || '/projects/' || projects.name || '/operations/@' || operations.id || ': ' || verb || ' '
          || operations.state || ' ' || cancel_requested || ' ' || (end_time is not null)
        from operations join orgs on orgs.id = operations.org_id
        join projects on projects.org_id = orgs.id and projects.id = operations.project_id
        where projects.id = any($1::uuid[])`,
      [scopeIds, scopes, cloud.cores],
    );
    return rows.map(({ line }) => String(line)).toSorted();
  };
  return { model, perform, shown, stored };
}

test(
  "each step leaves the quotas, resources and operations that the model has",
  async () => {
    const counts: Record<string, number> = {};
    const property = fc.asyncProperty(
      fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun }),
      async (steps) => {
        const world = await openWorld();
        for (const each of steps) {
          await world.perform(each);
          counts[each.kind] = (counts[each.kind] ?? 0) + 1;
          expect(await world.stored(), JSON.stringify(each)).toEqual(world.model.lines());
        }
        expect(await world.shown(false)).toEqual(world.model.lines());
        expect(await world.shown(true)).toEqual(world.model.lines());
        for (const { state } of world.model.operations) counts[state] = (counts[state] ?? 0) + 1;
      },
    );
    const parameters = fuzzParameters(1);
    await fc.assert(property, { ...parameters, endOnFailure: true });
    // A single run may be without one of them.
    if (parameters.numRuns < 10) return;
    for (const state of ["SUCCEEDED", "FAILED", "CANCELLED"]) expect(counts[state], state).toBeGreaterThan(0);
  },
  soakTimeoutMs,
);
