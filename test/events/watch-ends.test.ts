// Tests what ends a stream of changes: whatever ends the right to see them, or the credential, and nothing is sent after that.
import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { endOfNext } from "../../src/changes/revision.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import {
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
} from "../support/token-servers.ts";
import { type Watch, isAbout, isSynced, watchLog } from "../support/watch-log.ts";

let place: SharedTokenServers;
let org: string;
beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
});

const write = async (): Promise<string> =>
  (await place.api.groups.createGroup({ parentPath: org, group: { name: uniqueName("group") } })).etag;

/** Writes, and waits until the streams have shown it. Returns the revision. */
async function writeShown(watches: readonly Watch[]): Promise<string> {
  const revision = await write();
  for (const watch of watches) await watch.until(({ resumeRevision }) => resumeRevision === revision);
  return revision;
}

const sessions = () => createClient(SessionsService, place.api.transport);

interface Way {
  /** Ends the right of a member to see changes, or its credential. */
  readonly end: (member: TokenMember, token: string) => Promise<unknown>;
  readonly code: "PermissionDenied" | "Unauthenticated";
}

async function deleteBindings({ path }: TokenMember): Promise<void> {
  const filter = `subject_path = "${path}"`;
  const { roleBindings } = await place.api.roleBindings.listRoleBindings({ parentPath: org, filter });
  for (const binding of roleBindings) await place.api.roleBindings.deleteRoleBinding({ path: binding.path });
}

const ofBoth: Readonly<Record<string, Way>> = {
  "the API key": {
    end: ({ keyPath }) => place.api.apiKeys.deleteApiKey({ path: keyPath }),
    code: "Unauthenticated",
  },
  "the API key, by rotation": {
    end: ({ keyPath: path }) => place.api.apiKeys.rotateApiKey({ path, name: uniqueName("next"), overlap: {} }),
    code: "Unauthenticated",
  },
  "the member, by suspension": {
    end: ({ path }) => place.api.members.suspendMember({ path }),
    code: "Unauthenticated",
  },
  "the member, by deletion": { end: ({ path }) => place.api.members.deleteMember({ path }), code: "Unauthenticated" },
  "the role binding": { end: deleteBindings, code: "PermissionDenied" },
  "the role binding, for a moment": {
    async end(member) {
      await deleteBindings(member);
      const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/owner", subjectPath: member.path };
      await place.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    },
    code: "PermissionDenied",
  },
};

const ofTokens: Readonly<Record<string, Way>> = {
  ...ofBoth,
  "the token": { end: (_member, token) => sendForm(place.servers[0], "revoke", { token }), code: "Unauthenticated" },
  "the session": {
    end: ({ path }, token) =>
      sessions().deleteSession({ path: `${path}/sessions/@${String(decodeJwt(token)["sid"])}` }),
    code: "Unauthenticated",
  },
  "the tokens of the member": {
    end: ({ path }) => place.api.members.revokeTokens({ path }),
    code: "Unauthenticated",
  },
};

describe.each([
  { credential: "an API key", ways: ofBoth },
  { credential: "an access token", ways: ofTokens },
])("a stream of a caller with $credential", ({ credential, ways }) => {
  test.each(Object.keys(ways))("ends with %s, and sends nothing that is written later", async (name) => {
    const { end, code } = ways[name] as Way;
    for (let round = 0; round < rounds(1, 700); round++) {
      const member = await createTokenMember(place.api, org, "owner");
      const scope: Record<string, string> = name === "the session" ? { scope: "offline_access" } : {};
      const bearer = credential === "an API key" ? member.key : await exchangeKey(place.servers[0], member.key, scope);
      const watches = place.servers.map(({ url }) => watchLog(createApi("gRPC", url, bearer), { parentPath: org }));
      for (const watch of watches) await watch.until(isSynced);
      const last = await writeShown(watches);
      await end(member, bearer);
      await write();
      for (const watch of watches) {
        expect(await failureOf(watch.ended)).toMatchObject({ code });
        expect({ round, last: watch.resumeRevision() }).toEqual({ round, last });
      }
    }
  });
});

test("a stream ends when its API key expires, and when a role binding does", async () => {
  const [{ url }] = place.servers;
  const openSynced = async (key: string | undefined): Promise<Watch> => {
    const watch = watchLog(createApi("gRPC", url, key), { parentPath: org });
    await watch.until(isSynced);
    return watch;
  };
  const { created: byKey } = await createBeforeEnd(async (expireTime) => {
    const { path: parentPath } = await createTokenMember(place.api, org, "owner");
    const key = await place.api.apiKeys.createApiKey({ parentPath, apiKey: { name: "short", expireTime } });
    return openSynced(key.secret);
  });
  const { created: byRole } = await createBeforeEnd(async (expireTime) => {
    const other = await createTokenMember(place.api, org, "owner");
    await deleteBindings(other);
    const roleBinding = { name: uniqueName("short"), rolePath: "/roles/owner", subjectPath: other.path, expireTime };
    await place.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    return openSynced(other.key);
  });
  expect(await failureOf(byKey.ended)).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
  expect(await failureOf(byRole.ended)).toMatchObject({ code: "PermissionDenied" });
});

test("a stream of a member of another org ends when it loses its role there", async () => {
  const { customerPath } = await place.api.orgs.getOrg({ path: org });
  const guest = await place.api.orgs.createOrg({ org: { name: uniqueName("guest"), customerPath } });
  const member = await createTokenMember(place.api, guest.path, "viewer");
  const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/owner", subjectPath: member.path };
  const { path } = await place.api.roleBindings.createRoleBinding({ parentPath: customerPath, roleBinding });
  const watches = place.servers.map(({ url }) => watchLog(createApi("gRPC", url, member.key), { parentPath: org }));
  for (const watch of watches) await watch.until(isSynced);
  const name = uniqueName("group");
  await place.api.groups.createGroup({ parentPath: org, group: { name } });
  for (const watch of watches) await watch.until(isAbout(name));
  const last = watches.map((watch) => watch.resumeRevision());
  await place.api.roleBindings.deleteRoleBinding({ path });
  await write();
  for (const [index, watch] of watches.entries()) {
    expect(await failureOf(watch.ended)).toMatchObject({ code: "PermissionDenied" });
    expect(watch.resumeRevision()).toBe(last[index]);
  }
});

test("a stream of an impersonator ends when its group no longer lets it impersonate", async () => {
  const { roles, groups, groupMembers, roleBindings } = place.api;
  const roleOf = (permission: string) =>
    roles.createRole({ parentPath: org, role: { name: uniqueName("role"), permissions: [permission] } });
  const bind = async (subjectPath: string, permission: string): Promise<string> => {
    const { path: rolePath } = await roleOf(permission);
    const roleBinding = { name: uniqueName("binding"), rolePath, subjectPath };
    return (await roleBindings.createRoleBinding({ parentPath: org, roleBinding })).path;
  };
  const application = await createTokenMember(place.api, org, "owner");
  const impersonator = await createTokenMember(place.api, org);
  const { path: parentPath } = await groups.createGroup({ parentPath: org, group: { name: uniqueName("group") } });
  await groupMembers.createGroupMember({ parentPath, groupMember: { memberPath: impersonator.path } });
  await bind(impersonator.path, "iam.changes.list");
  const path = await bind(parentPath, "iam.members.impersonate");
  const { members } = createApi("gRPC", place.servers[0].url, impersonator.key);
  const { accessToken } = await members.impersonateMember({ path: application.path });
  const watches = place.servers.map(({ url }) => watchLog(createApi("gRPC", url, accessToken), { parentPath: org }));
  for (const watch of watches) await watch.until(isSynced);
  const last = await writeShown(watches);
  await roleBindings.deleteRoleBinding({ path });
  await write();
  for (const watch of watches) {
    expect(await failureOf(watch.ended)).toMatchObject({ code: "Unauthenticated" });
    expect(watch.resumeRevision()).toBe(last);
  }
});

test("a stream that is refused to a member of another org is in the log of the org that it asks for", async () => {
  const guest = await place.api.orgs.createOrg({ org: { name: uniqueName("guest") } });
  const { key } = await createTokenMember(place.api, guest.path, "owner");
  const { ended } = watchLog(createApi("gRPC", place.servers[0].url, key), { parentPath: org });
  expect(await failureOf(ended)).toMatchObject({ code: "PermissionDenied" });
  const list = () => place.api.accessEvents.listAccessEvents({ parentPath: org, filter: "caller_type = FOREIGN" });
  await expect
    .poll(async () => (await list()).accessEvents)
    .toMatchObject([{ method: "iam.v1alpha.ChangesService/WatchChanges", resourcePath: org }]);
});

test("a stream ends at the deadline of its caller", async () => {
  const [{ url, operatorKey }] = place.servers;
  const { changes } = createApi("gRPC", url, operatorKey);
  // Nothing changes in it, as what has an end does in that of the other tests.
  const { path: parentPath } = await place.api.orgs.createOrg({ org: { name: uniqueName("quiet") } });
  const messages: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const message of changes.watchChanges({ parentPath }, { timeoutMs: 1_000 })) messages.push(message);
  };
  expect(await failureOf(read())).toMatchObject({ code: "DeadlineExceeded" });
  expect(messages.length).toBeLessThanOrEqual(1);
});

test("a stream ends that cannot go on to the head, since the log does not have what is between", async () => {
  const { path: parentPath, id, etag } = await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const watch = watchLog(place.api, { parentPath });
  await watch.until(isSynced);
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  // More than a page reads.
  await sql.query("update orgs set revision = $2 where id = $1", [id, endOfNext(etag, 10_000)]);
  await sql.close();
  expect(await failureOf(watch.ended)).toMatchObject({
    code: "Unavailable",
    reason: "STREAM_ENDED",
    metadata: { ended_by: "LOG" },
  });
});
