// Tests concurrent writes on two servers with one database, so that nothing in the memory of one process can help.
import { beforeAll, expect, test } from "vitest";
import pg from "pg";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type Failure, failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { numberOf } from "../../src/changes/revision.ts";

let first: SharedServer;
let second: SharedServer;
let apis: Api[];
beforeAll(async () => {
  first = await sharedServer();
  second = await secondSharedServer();
  // The first server creates the installation and its operator.
  apis = [createApi("Connect", first.url, first.operatorKey), createApi("gRPC", second.url, first.operatorKey)];
});

/** The clients of both servers, alternately. */
const api = (turn: number): Api => apis[turn % apis.length] as Api;

const createOrg = () => api(0).orgs.createOrg({ org: { name: uniqueName("race") } });

/** Returns the results of concurrent calls. */
async function outcomes(calls: Promise<unknown>[]): Promise<{ succeeded: number; failures: Failure[] }> {
  const failed = calls.map((call) => failureOf(call).catch(() => undefined));
  const failures = (await Promise.all(failed)).filter((failure) => failure !== undefined);
  return { succeeded: calls.length - failures.length, failures };
}

const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));

test("of many concurrent calls that create the same name, one succeeds", async () => {
  const { path: parentPath } = await createOrg();
  const { succeeded, failures } = await outcomes(
    times(20, (turn) => api(turn).members.createMember({ parentPath, member: { name: "alice" } })),
  );
  expect(succeeded).toBe(1);
  expect(new Set(failures.map((failure) => failure.reason))).toEqual(new Set(["RESOURCE_EXISTS"]));
});

test("of many concurrent calls that create the same org, one succeeds, and creates one customer", async () => {
  const name = uniqueName("race");
  const { succeeded } = await outcomes(times(20, (turn) => api(turn).orgs.createOrg({ org: { name } })));
  expect(succeeded).toBe(1);
  const { customers } = await api(0).customers.listCustomers({ filter: `name = "${name}"` });
  expect(customers).toHaveLength(1);
});

test("of many concurrent renames to the same name, one succeeds", async () => {
  const { path: parentPath } = await createOrg();
  const groups = await Promise.all(
    times(10, (turn) => api(turn).groups.createGroup({ parentPath, group: { name: `g${turn}` } })),
  );
  const { succeeded } = await outcomes(
    groups.map(({ path }, turn) => api(turn).groups.updateGroup({ path, group: { name: "winner" } })),
  );
  expect(succeeded).toBe(1);
});

test("concurrent subgroups never close a cycle", async () => {
  for (let round = 0; round < rounds(3, 100); round++) {
    const { path: parentPath } = await createOrg();
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => api(0).groups.createGroup({ parentPath, group: { name } })));
    const nest = (turn: number, outer: string, inner: string) =>
      api(turn).groupMembers.createSubgroup({
        parentPath: `${parentPath}/groups/${outer}`,
        subgroup: { groupPath: `${parentPath}/groups/${inner}` },
      });
    const { succeeded, failures } = await outcomes([nest(0, "a", "b"), nest(1, "b", "c"), nest(0, "c", "a")]);
    expect(succeeded).toBe(2);
    expect(failures.map((failure) => failure.reason)).toEqual(["SUBGROUP_CYCLE"]);
  }
});

test("a member that is deleted while joining groups is in none afterwards", async () => {
  const { path: parentPath } = await createOrg();
  for (let round = 0; round < rounds(3, 100); round++) {
    const name = `m${round}`;
    const { path: memberPath } = await api(0).members.createMember({ parentPath, member: { name } });
    const { path: group } = await api(0).groups.createGroup({ parentPath, group: { name: `g${round}` } });
    await outcomes([
      api(0).groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath } }),
      api(1).members.deleteMember({ path: memberPath }),
    ]);
    expect((await api(0).groupMembers.listGroupMembers({ parentPath: group })).members).toEqual([]);
  }
});

test("nothing is added to an org after its deletion has returned", async () => {
  for (let round = 0; round < rounds(2, 50); round++) {
    const { path: parentPath, id, customerPath } = await createOrg();
    await api(0).orgs.createOrg({ org: { name: uniqueName("sibling"), customerPath } });
    let deleted = false;
    let addedLater = 0;
    const writers = times(10, async (turn) => {
      for (let count = 0; count < 5; count++) {
        const startedLater = deleted;
        const call = api(turn).projects.createProject({
          parentPath: `orgs/@${id}`,
          project: { name: uniqueName("p") },
        });
        await call.then(
          () => startedLater && addedLater++,
          () => {},
        );
      }
    });
    await api(1).orgs.deleteOrg({ path: parentPath });
    deleted = true;
    await Promise.all(writers);
    expect(addedLater).toBe(0);
  }
});

test("a customer keeps one org when all are deleted concurrently", async () => {
  for (let round = 0; round < rounds(3, 100); round++) {
    const { path, customerPath } = await createOrg();
    const other = await api(1).orgs.createOrg({ org: { name: uniqueName("race"), customerPath } });
    const { succeeded, failures } = await outcomes([
      api(0).orgs.deleteOrg({ path }),
      api(1).orgs.deleteOrg({ path: other.path }),
    ]);
    expect(succeeded).toBe(1);
    expect(failures.map((failure) => failure.reason)).toEqual(["LAST_ORG"]);
  }
});

test("a customer that is deleted while it gets an org has no org left that is not deleted", async () => {
  for (let round = 0; round < rounds(3, 100); round++) {
    const { customerPath } = await createOrg();
    await outcomes([
      api(0).customers.deleteCustomer({ path: customerPath }),
      api(1).orgs.createOrg({ org: { name: uniqueName("race"), customerPath } }),
    ]);
    const orphans = await query(
      "select orgs.id from orgs join customers on customers.id = customer_id where customers.delete_time is not null and orgs.delete_time is null",
    );
    expect(orphans).toEqual([]);
  }
});

test("concurrent updates of different fields are both kept, and of those with the same etag one succeeds", async () => {
  const { path: parentPath } = await createOrg();
  const { path } = await api(0).members.createMember({ parentPath, member: { name: "alice" } });
  await Promise.all(
    times(20, (turn) =>
      api(turn).members.updateMember({
        path,
        member: { labels: { [`k${turn}`]: "v" } },
        updateMask: { paths: [`labels.k${turn}`] },
      }),
    ),
  );
  const { labels, etag } = await api(0).members.getMember({ path });
  expect(Object.keys(labels)).toHaveLength(20);
  const { succeeded, failures } = await outcomes(
    times(10, (turn) => api(turn).members.updateMember({ path, member: { description: `${turn}`, etag } })),
  );
  expect(succeeded).toBe(1);
  expect(new Set(failures.map((failure) => failure.reason))).toEqual(new Set(["ETAG_STALE"]));
});

test("every write that succeeded is in the change log, under revisions without gaps", async () => {
  const org = await createOrg();
  await Promise.all(
    times(60, (turn) => api(turn).projects.createProject({ parentPath: org.path, project: { name: `p${turn}` } })),
  );
  const rows = await query(
    `select revision, resource_path, method, after ->> 'name' as name from changes where org_id = '${org.id}' order by revision`,
  );
  expect(rows.map((row) => Number(numberOf(String(row["revision"]))))).toEqual(times(61, (index) => index + 1));
  const names = rows.slice(1).map((row) => String(row["name"]));
  expect(names.toSorted()).toEqual(times(60, (index) => `p${index}`).toSorted());
  expect(rows[1]).toMatchObject({ method: "iam.v1alpha.ProjectsService/CreateProject" });
});

const lockWaits = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Keeps all writes in an org waiting until this number of sessions waits for its lock, and what `start` has started is sent. */
async function behindLock<Result>(orgId: string, waiting: number, start: () => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: first.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [orgId]);
  const started = start();
  while ((await query(lockWaits)).length < waiting);
  await client.query("commit");
  await client.end();
  return started;
}

test("of writes that wait together, those that fail leave no trace, and the others their own", async () => {
  const org = await createOrg();
  const parentPath = org.path;
  const group = await api(0).groups.createGroup({ parentPath, group: { name: "g" } });
  const kinds: ((turn: number) => Promise<{ readonly etag: string }>)[] = [
    (turn) => api(turn).members.createMember({ parentPath, member: { name: `m${turn}`, labels: { turn: `${turn}` } } }),
    // Of these, one succeeds.
    (turn) => api(turn).members.createMember({ parentPath, member: { name: "same" } }),
    (turn) => api(turn).groups.updateGroup({ path: group.path, group: { displayName: `Group ${turn}` } }),
    // Of these, as many fail as come after another update.
    (turn) => api(turn).groups.updateGroup({ path: group.path, group: { etag: group.etag, description: `${turn}` } }),
    (turn) => api(turn).groups.updateGroup({ path: `${parentPath}/groups/none`, group: { displayName: "none" } }),
    // A write that changes access, and one that joins no others.
    (turn) => api(turn).projects.createProject({ parentPath, project: { name: `p${turn}` } }),
    (turn) => api(turn).groups.createGroup({ parentPath, group: { name: `g${turn}` }, requestId: crypto.randomUUID() }),
  ];
  const results = await behindLock(org.id, 4, () =>
    Promise.all(
      times(kinds.length * 8, (index) =>
        (kinds[index % kinds.length] as (typeof kinds)[number])(index).then(
          ({ etag }) => etag,
          async (error: unknown) => (await failureOf(Promise.reject(error))).reason,
        ),
      ),
    ),
  );
  const reasons = new Set(["RESOURCE_EXISTS", "ETAG_STALE", "RESOURCE_NOT_FOUND"]);
  const etags = results.filter((result) => !reasons.has(String(result)));
  const rows = await query(`select revision from changes where org_id = '${org.id}' order by revision`);
  const logged = rows.map(({ revision }) => String(revision));
  expect(logged.map((revision) => Number(numberOf(revision)))).toEqual(times(logged.length, (index) => index + 1));
  // Its creation, and that of the group.
  expect(logged.slice(2).toSorted()).toEqual(etags.map(String).toSorted());
  expect(results.filter((result) => result === "RESOURCE_NOT_FOUND")).toHaveLength(8);
});

test("an author that is removed while many of its writes wait makes none of them", async () => {
  const org = await createOrg();
  const parentPath = org.path;
  const { path } = await api(0).members.createMember({ parentPath, member: { name: "author" } });
  const roleBinding = { name: "author", subjectPath: path, rolePath: "/roles/admin" };
  const binding = await api(0).roleBindings.createRoleBinding({ parentPath, roleBinding });
  const { secret } = await api(0).apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  const author = createApi("gRPC", second.url, secret);
  const { succeeded, failures } = await behindLock(org.id, 4, async () => {
    const removal = api(0).roleBindings.deleteRoleBinding({ path: binding.path });
    while ((await query(lockWaits)).length === 0);
    const writes = outcomes(
      times(20, (turn) => author.members.createMember({ parentPath, member: { name: `m${turn}` } })),
    );
    await removal;
    return writes;
  });
  expect(succeeded).toBe(0);
  expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(["PERMISSION_DENIED"]));
});

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: first.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
