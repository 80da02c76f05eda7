// Tests that random sequences of transitions never lead to an invalid state. Sequential ones have the results of a model;
// concurrent ones, on two servers, have results that some order of them could have.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";

let first: SharedServer;
let second: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  first = await sharedServer();
  second = await secondSharedServer();
  sql = await openSqlClient(first.databaseUrl);
});
afterAll(() => sql.close());

const actions = ["suspend", "activate", "delete", "undelete", "purge", "rename"] as const;
type Action = (typeof actions)[number];

const kinds = ["customer", "org", "project", "member"] as const;
type Kind = (typeof kinds)[number];

interface Step {
  readonly kind: Kind;
  readonly which: number;
  readonly action: Action;
}

const steps = (options: fc.ArrayConstraints) =>
  fc.array(
    fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(1), action: fc.constantFrom(...actions) }),
    options,
  );

/** A customer with two orgs, and two projects and two members in the first org. */
interface World {
  readonly ids: Readonly<Record<Kind, readonly string[]>>;
  act(api: Api, step: Step): Promise<unknown>;
}

async function makeWorld(api: Api): Promise<World> {
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { customerPath, path: parentPath } = org;
  const { id: customer } = await api.customers.getCustomer({ path: customerPath });
  const other = await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } });
  const projects = [];
  const members = [];
  for (const name of ["one", "two"]) {
    projects.push(await api.projects.createProject({ parentPath, project: { name } }));
    members.push(await api.members.createMember({ parentPath, member: { name } }));
  }
  const ids = {
    customer: [customer, customer],
    org: [org.id, other.id],
    project: projects.map(({ id }) => id),
    member: members.map(({ id }) => id),
  };
  return {
    ids,
    act(client, { kind, which, action }) {
      const id = ids[kind][which] ?? "";
      const prefix = kind === "project" || kind === "member" ? `orgs/@${org.id}/` : "";
      const path = `${prefix}${kind}s/@${id}`;
      const type = kind.charAt(0).toUpperCase() + kind.slice(1);
      const service = client[`${kind}s`] as unknown as Record<string, (request: object) => Promise<unknown>>;
      if (action === "rename") {
        return service[`update${type}`]?.({ path, [kind]: { name: uniqueName("new") } }) ?? Promise.resolve();
      }
      return service[`${action}${type}`]?.({ path }) ?? Promise.resolve();
    },
  };
}

/** A model of the transitions, as the documentation describes them. `take` returns false if a step must be refused. */
class Model {
  readonly states: Record<string, string> = {};
  readonly before: Record<string, string> = {};
  readonly givenUp = new Set<string>();
  readonly withCustomer = new Set<string>();
  readonly world: World;

  constructor(world: World) {
    this.world = world;
    for (const id of Object.values(world.ids).flat()) this.states[id] = "ACTIVE";
  }

  take(step: Step): boolean {
    const { ids } = this.world;
    const id = ids[step.kind][step.which] ?? "";
    const [customer = ""] = ids.customer;
    const [firstOrg = ""] = ids.org;
    if (step.kind === "customer" && (step.action === "suspend" || step.action === "activate")) return true;
    if ((step.kind === "project" || step.kind === "member") && this.states[firstOrg] !== "ACTIVE") return false;
    const state = this.states[id];
    switch (step.action) {
      case "rename":
        return state !== "DELETED";
      case "suspend":
        return this.move(id, ["ACTIVE"], "SUSPENDED");
      case "activate":
        return this.move(id, ["SUSPENDED"], "ACTIVE");
      case "delete": {
        const live = ids.org.filter((org) => this.states[org] !== "DELETED");
        if (state === "DELETED" || (step.kind === "org" && live.length === 1)) return false;
        this.remove(id);
        if (step.kind === "customer") {
          for (const org of live) {
            this.remove(org);
            this.withCustomer.add(org);
          }
        }
        return true;
      }
      case "undelete": {
        if (state !== "DELETED" || this.givenUp.has(id)) return false;
        if (step.kind === "org" && this.states[customer] === "DELETED") return false;
        const along = step.kind === "customer" ? ids.org.filter((org) => this.comesAlong(org)) : [];
        if (step.kind === "customer" && along.length === 0) return false;
        for (const each of [id, ...along]) {
          this.states[each] = this.before[each] ?? "";
          this.withCustomer.delete(each);
        }
        return true;
      }
      case "purge":
        if (state !== "DELETED") return false;
        for (const each of step.kind === "customer" ? [id, ...ids.org] : [id]) this.givenUp.add(each);
        return true;
    }
  }

  private comesAlong(org: string): boolean {
    return this.withCustomer.has(org) && !this.givenUp.has(org);
  }

  private move(id: string, from: readonly string[], to: string): boolean {
    if (!from.includes(this.states[id] ?? "")) return false;
    this.states[id] = to;
    return true;
  }

  private remove(id: string): void {
    this.before[id] = this.states[id] ?? "";
    this.states[id] = "DELETED";
  }
}

/** Returns the states of all resources, from the tables. */
async function readStates({ ids }: World): Promise<Record<string, string>> {
  const rows = await sql.query(
    `select id, case when delete_time is null then state else 'DELETED' end as state from (
       select id, delete_time, state from orgs union all select id, delete_time, state from projects
       union all select id, delete_time, state from members
       union all select id, delete_time, 'ACTIVE' from customers) as each
     where id = any ($1)`,
    [Object.values(ids).flat()],
  );
  return Object.fromEntries(rows.map(({ id, state }) => [String(id), String(state)]));
}

const settings = (): fc.Parameters<unknown> => ({
  numRuns: Number(process.env["TENANTRY_STATE_RUNS"] ?? rounds(3, 1_000)),
  ...(process.env["TENANTRY_STATE_SEED"] !== undefined && { seed: Number(process.env["TENANTRY_STATE_SEED"]) }),
});

test("sequential transitions succeed or are refused as in the model, with the same states", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  await fc.assert(
    fc.asyncProperty(steps({ minLength: 5, maxLength: 40 }), async (sequence) => {
      const world = await makeWorld(api);
      const model = new Model(world);
      for (const step of sequence) {
        if (model.take(step)) await world.act(api, step);
        else
          expect(await failureOf(world.act(api, step)), JSON.stringify(step)).toMatchObject({
            code: "FailedPrecondition",
          });
        expect(await readStates(world), JSON.stringify(step)).toEqual(model.states);
      }
    }),
    settings(),
  );
});

/** The transitions of each method; `*` stands for any state but DELETED. */
const moves: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  Suspend: [["ACTIVE", "SUSPENDED"]],
  Activate: [["SUSPENDED", "ACTIVE"]],
  Delete: [
    ["ACTIVE", "DELETED"],
    ["SUSPENDED", "DELETED"],
  ],
  Undelete: [
    ["DELETED", "ACTIVE"],
    ["DELETED", "SUSPENDED"],
  ],
  Purge: [["DELETED", "DELETED"]],
  Update: [
    ["ACTIVE", "ACTIVE"],
    ["SUSPENDED", "SUSPENDED"],
  ],
};

interface LoggedState {
  readonly state?: string;
  readonly delete_time: string | null;
  readonly changed_revision: string;
}

const loggedState = ({ state = "ACTIVE", delete_time: time }: LoggedState): string =>
  time === null ? state : "DELETED";

test("concurrent transitions on two servers are neither lost, nor doubled, nor made from a wrong state", async () => {
  const clients = [first, second].map(({ url }) => createApi("gRPC", url, first.operatorKey));
  const [api] = clients as [Api, Api];
  await fc.assert(
    fc.asyncProperty(steps({ minLength: 20, maxLength: 60 }), async (sequence) => {
      const world = await makeWorld(api);
      const results = await Promise.all(
        sequence.map(async (step, index) => {
          const call = world.act(clients[index % 2] as Api, step);
          return call.then(
            () => "done",
            async () => (await failureOf(call)).code,
          );
        }),
      );
      expect(results.filter((result) => result !== "done" && result !== "FailedPrecondition")).toEqual([]);

      // The change log of each resource is a chain of valid transitions that ends in the state in the tables.
      const states = await readStates(world);
      for (const [id, state] of Object.entries(states)) {
        const lines = await sql.query(
          "select method, before, after from changes where resource_id = $1 order by org_id, revision, position",
          [id],
        );
        let last: LoggedState | undefined;
        for (const { method, before, after } of lines as {
          method: string;
          before: LoggedState;
          after: LoggedState;
        }[]) {
          if (last === undefined) expect(before).toBeNull();
          else {
            expect(before.changed_revision).toBe(last.changed_revision);
            const [, verb = ""] = /\/(Suspend|Activate|Delete|Undelete|Purge|Update)/.exec(method) ?? [];
            expect(moves[verb], method).toContainEqual([loggedState(before), loggedState(after)]);
          }
          last = after;
        }
        expect(last && loggedState(last)).toBe(state);
      }
      const [customer = ""] = world.ids.customer;
      const liveOrgs = world.ids.org.filter((id) => states[id] !== "DELETED");
      if (states[customer] !== "DELETED") expect(liveOrgs.length).toBeGreaterThan(0);
      else expect(liveOrgs).toEqual([]);
    }),
    settings(),
  );
});
