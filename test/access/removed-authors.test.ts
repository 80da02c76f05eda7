// A write that was authorised and waits for its locks is not made if its author loses the permission meanwhile.
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type EveryCall, type Paths, callMethod, callsOf, oneOfTwo } from "./every-call.ts";
import { createEveryPlace } from "./every-place.ts";

interface WriteMethod {
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly rules: MethodRules;
}

/** What TokensService does follows from the credential in a request, not from permissions; test/api/token-revocation.test.ts. */
const writeMethods: readonly WriteMethod[] = [...createMethodTable(services)]
  .filter(([{ parent }]) => parent !== TokensService)
  .filter(([{ input }]) => input.fields.some(({ name }) => name === "validate_only"))
  // These ask for no role: a member may ask for access whatever it has lost.
  .filter(([, { openToMembers }]) => !openToMembers)
  .map(([method, rules]) => ({ name: rules.name, method: method as DescMethodUnary, rules }));

/** The first server carries out the removal, the second one the write. */
let servers: readonly TestServer[];
let operator: Api;
let sql: SqlClient;
/** Connections that hold locks. */
let locking: pg.Pool;
let acme: Org;
let paths: Paths;

beforeAll(async () => {
  const first = await startTestServer();
  servers = [first, await startTestServer({ databaseUrl: first.databaseUrl })];
  operator = createApi("gRPC", first.url, first.operatorKey);
  sql = await openSqlClient(first.databaseUrl);
  locking = new pg.Pool({ connectionString: first.databaseUrl });
  acme = await operator.orgs.createOrg({ org: { name: "acme" } });
  paths = await createEveryPlace(operator, acme);
});
afterAll(async () => {
  await Promise.all([sql.close(), locking.end()]);
  for (const server of servers.toReversed()) await server.close();
});

/** Somebody who may do everything in a place, and how the right is taken away. */
interface Author {
  readonly org: string;
  readonly key: string;
  readonly remove: () => Promise<unknown>;
}

/** Where an author is, and where their binding is. */
interface Kind {
  readonly org: () => string;
  readonly boundTo: () => string;
  /** Whether the author may make the call. */
  readonly may: (path: string) => boolean;
}

type Way = (typeof ways)[number];
const ways = [
  "the binding is deleted",
  "the membership in a group is deleted",
  "the group is deleted",
  "the key is deleted",
  "the member is suspended",
  "the member is deleted",
  "the binding expires",
  "the membership expires",
  "the key expires",
] as const;

const kinds: Readonly<Record<string, Kind>> = {
  "of the org": {
    org: () => acme.path,
    boundTo: () => acme.path,

    may: (path) => path.startsWith(acme.path),
  },
  "of the platform": { org: () => "/orgs/system", boundTo: () => "", may: () => true },
};

/** Authors whose binding alone is taken away, by their orgs: each is bound again for the next round. */
const bound = new Map<string, Promise<{ readonly path: string; readonly key: string }>>();

async function createMember(parentPath: string): Promise<{ readonly path: string; readonly key: string }> {
  const name = uniqueName("author");
  const { path } = await operator.members.createMember({ parentPath, member: { name } });
  const { secret } = await operator.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
  return { path, key: required(secret) };
}

/** Binds an author who loses the binding. */
async function bindAuthor({ org, boundTo }: Kind): Promise<Author> {
  const author = bound.get(org()) ?? createMember(org());
  bound.set(org(), author);
  const { path: subjectPath, key } = await author;
  const roleBinding = { name: uniqueName("author"), subjectPath, rolePath: "/roles/owner" };
  const { path } = await operator.roleBindings.createRoleBinding({ parentPath: boundTo(), roleBinding });
  return { org: org(), key, remove: () => operator.roleBindings.deleteRoleBinding({ path }) };
}

/** @param aheadMs how far ahead the end is of what expires. */
async function createAuthor(kind: Kind, way: Way, aheadMs: number): Promise<Author> {
  if (way === "the binding is deleted") return bindAuthor(kind);
  const { org, boundTo } = kind;
  const { members, apiKeys, groups, groupMembers, roleBindings } = operator;
  const parentPath = org();
  const name = uniqueName("author");
  const member = await members.createMember({ parentPath, member: { name } });
  const group = await groups.createGroup({ parentPath, group: { name } });
  const inGroup = ["the membership in a group is deleted", "the group is deleted", "the membership expires"].includes(
    way,
  );
  const end = new Date(Date.now() + aheadMs);
  const endOf = (expiring: Way): { expireTime?: Timestamp } =>
    way === expiring ? { expireTime: timestampFromDate(end) } : {};
  const { secret } = await apiKeys.createApiKey({
    parentPath: member.path,
    apiKey: { name, ...endOf("the key expires") },
  });
  const subjectPath = inGroup ? group.path : member.path;
  const membership = inGroup
    ? await groupMembers.createGroupMember({
        parentPath: group.path,
        groupMember: { memberPath: member.path, ...endOf("the membership expires") },
      })
    : undefined;
  const roleBinding = { name, subjectPath, rolePath: "/roles/owner", ...endOf("the binding expires") };
  await roleBindings.createRoleBinding({ parentPath: boundTo(), roleBinding });
  const expire = (): Promise<void> => sleep(Math.max(0, end.getTime() - Date.now()) + 5);
  const remove: Record<typeof way, () => Promise<unknown>> = {
    "the membership in a group is deleted": () => groupMembers.deleteGroupMember({ path: required(membership).path }),
    "the group is deleted": () => groups.deleteGroup({ path: group.path }),
    "the key is deleted": () => apiKeys.deleteApiKey({ path: `${member.path}/apiKeys/${name}` }),
    "the member is suspended": () => members.suspendMember({ path: member.path }),
    "the member is deleted": () => members.deleteMember({ path: member.path }),
    "the binding expires": expire,
    "the membership expires": expire,
    "the key expires": expire,
  };
  return { org: parentPath, key: required(secret), remove: remove[way] };
}

/** Takes locks that keep writes waiting. */
async function lock(
  statement: string,
  values: readonly string[],
  table?: string,
): Promise<{ release(): Promise<void> }> {
  const client = await locking.connect();
  await client.query("begin");
  await client.query(statement, [...values]);
  if (table !== undefined) await client.query(`lock table ${table} in share mode`);
  let released: Promise<void> | undefined;
  return { release: () => (released ??= client.query("rollback").then(() => client.release())) };
}

/** Resolves when this many sessions wait for a lock; false if the call ends before. */
async function waits(count: number, call: Promise<unknown>): Promise<boolean> {
  let ended = false;
  const end = (): void => void (ended = true);
  call.then(end, end);
  for (;;) {
    const [row] = await sql.query(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (row?.["count"] === count) return true;
    if (ended) return false;
    await sleep(15);
  }
}

/**
 * Plays one round: the write waits for its locks, and its author is removed before it gets them.
 *
 * @returns what became of the write.
 */
async function play(played: WriteMethod, kind: Kind, way: Way, aheadMs = 200): Promise<string> {
  const { method, rules } = played;
  const expires = way.endsWith("expires");
  const author = await createAuthor(kind, way, aheadMs).catch(async (error: unknown) => {
    // The end had passed before all was created.
    if (!expires || (await failureOf(Promise.reject(error))).code !== "InvalidArgument") throw error;
    return undefined;
  });
  if (author === undefined) return play(played, kind, way, aheadMs * 3);
  const { org, key, remove } = author;
  const isPossible = ({ about, path }: EveryCall): boolean => about === "present" && kind.may(path);
  const { request } = required(callsOf(method, rules, paths).find(isPossible));
  const name = org.slice("/orgs/".length);
  const ofAuthor = await lock("select from orgs where name = $1 for no key update", [name]);
  const ofOthers = await lock(
    `select (select count(*) from (select from orgs where name <> $1 for no key update) as others),
      (select count(*) from (select from customers for no key update) as customers)`,
    [name],
    // An org that is created with a new customer waits for nothing else.
    "customers",
  );
  const transport = createTransport("gRPC", required(servers[1]).url, key);
  const write = (): Promise<string> =>
    callMethod(transport, method, { ...request, ...oneOfTwo(method), validateOnly: false }).then(
      () => "made",
      async (error: unknown) => (await failureOf(Promise.reject(error))).code ?? "",
    );
  try {
    // The removal is before the write in the queue for a lock that both need.
    const removal = expires ? undefined : remove();
    if (removal !== undefined && !(await waits(1, removal))) return "the removal did not wait";
    const call = write();
    if (!(await waits(expires ? 1 : 2, call))) {
      // The end had passed before the call arrived.
      if (expires && aheadMs < 10_000) {
        await Promise.all([ofAuthor.release(), ofOthers.release()]);
        return await play(played, kind, way, aheadMs * 3);
      }
      return `did not wait: ${await call}`;
    }
    if (expires) await remove();
    await ofAuthor.release();
    await removal;
    await ofOthers.release();
    return await call;
  } finally {
    await Promise.all([ofAuthor.release(), ofOthers.release()]);
  }
}

const refusals = new Set(["PermissionDenied", "Unauthenticated"]);

const mayCall = (kind: Kind, { method, rules }: WriteMethod): boolean =>
  callsOf(method, rules, paths).some(({ about, path }) => about === "present" && kind.may(path));

/** The methods that meet every way and every kind of author: a write of one resource, and one that confirms each of several. */
const meetEveryWay: readonly string[] = [
  "iam.v1alpha.ProjectsService/CreateProject",
  "iam.v1alpha.GroupsService/BatchDeleteGroups",
];

/** Returns the first kind of author that may call a method. */
const firstKindOf = (method: WriteMethod): Kind => required(Object.values(kinds).find((kind) => mayCall(kind, method)));

/**
 * Reports whether a method meets a way and a kind of author in `npm test`, because every method confirms its author alike: all meet
 * the first way, of the first kind of author that may call them. In `npm run soak`, all meet every way and every kind.
 */
function meets(method: WriteMethod, kind: Kind, way: Way): boolean {
  return meetEveryWay.includes(method.name) || (way === ways[0] && firstKindOf(method) === kind);
}

describe.each(Object.entries(kinds))("an author %s", (_kind, kind) => {
  test.each(ways)(
    "makes no write that waits while %s, whatever the method",
    { timeout: soakTimeoutMs },
    async (way) => {
      const methods = writeMethods.filter((method) => mayCall(kind, method));
      expect(methods.length).toBeGreaterThan(50);
      const own = methods.filter((method) => meets(method, kind, way));
      expect(own.length).toBeGreaterThanOrEqual(meetEveryWay.length);
      const outcomes: Record<string, string> = {};
      for (const method of rounds(own, methods)) {
        const outcome = await play(method, kind, way);
        if (!refusals.has(outcome)) outcomes[method.name] = outcome;
      }
      expect(outcomes).toEqual({});
    },
  );
});
