// Tests that a list says at which revision of the org it was read, so that a watch goes on from there without a gap and without a double.
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { type Member, MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { createApi } from "../support/api.ts";
import { type CopyOfOrg, applyTo, comparable } from "../support/copy-of-org.ts";
import { writeAtRandom } from "../support/random-history.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type Watch, isSynced, watchLog } from "../support/watch-log.ts";

let server: SharedServer;
let second: SharedServer;
let company: Company;
let owner: Caller;
let parentPath: string;
beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  company = await openCompany("Connect", server);
  parentPath = company.org.path;
  owner = await company.joinAs("owner");
});

const isMember = (keyPath: string): boolean => /^\/orgs\/[^/]+\/members\/[^/]+$/.test(keyPath);

const keyOf = ({ id }: Member): string => `/orgs/@${company.org.id}/members/@${id}`;

const toCopy = (members: readonly Member[]): CopyOfOrg =>
  new Map(
    members.map((member) => {
      const resource = toJson(MemberSchema, member, { useProtoFieldName: true }) as JsonObject;
      return [keyOf(member), { resource, ownerPaths: [] }];
    }),
  );

/** Returns the members that a stream has shown up to a revision. */
function membersAt({ received }: Watch, revision: string): CopyOfOrg {
  const copy: CopyOfOrg = new Map();
  for (const message of received) {
    const { event, keyPath } = message;
    // A revision begins with its number.
    const isLater = event.case === "change" && event.value.revision.slice(0, 18) > revision.slice(0, 18);
    if (isMember(keyPath) && !isLater) applyTo(copy, message);
  }
  return copy;
}

/** Runs something while the org is written at random on another server. Returns the last revision. */
async function whileWriting(run: () => Promise<void>): Promise<string> {
  const stop = writeAtRandom(createApi("gRPC", second.url, owner.key), parentPath);
  await run().finally(stop);
  return (await owner.groups.createGroup({ parentPath, group: { name: `last${Date.now()}` } })).etag;
}

test("a list shows what the log says at its revision, and nothing else", async () => {
  const watch = watchLog(owner, { parentPath, initialState: true });
  await watch.until(isSynced);
  const lists: { readonly revision: string; readonly members: readonly Member[] }[] = [];
  const last = await whileWriting(async () => {
    const isWritten = () => new Set(lists.map(({ revision }) => revision)).size > 1;
    while (lists.length < 25 || !isWritten())
      lists.push(await owner.members.listMembers({ parentPath, pageSize: 1_000, showDeleted: true }));
  });
  await watch.until(({ resumeRevision }) => resumeRevision === last);
  watch.close();
  for (const { revision, members } of lists)
    expect(comparable(toCopy(members))).toEqual(comparable(membersAt(watch, revision)));
});

test("all pages of a list have the revision of the first, after which a watch has whatever a later page does not show", async () => {
  const copy: CopyOfOrg = new Map();
  const revisions = new Set<string>();
  const last = await whileWriting(async () => {
    let pageToken = "";
    do {
      const page = await owner.members.listMembers({ parentPath, pageSize: 5, pageToken, showDeleted: true });
      for (const [key, member] of toCopy(page.members)) copy.set(key, member);
      revisions.add(page.revision);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  });
  expect(revisions.size).toBe(1);
  const watch = watchLog(owner, { parentPath, afterRevision: [...revisions][0] ?? "" });
  await watch.until(({ resumeRevision }) => resumeRevision === last);
  watch.close();
  for (const message of watch.received) if (isMember(message.keyPath)) applyTo(copy, message);
  const { members } = await owner.members.listMembers({ parentPath, pageSize: 1_000, showDeleted: true });
  expect(comparable(copy)).toEqual(comparable(toCopy(members)));
});

test("a list that was answered before says the revision that it is at, and one of no single org says none", async () => {
  const revisionOf = async (): Promise<string> => (await owner.groups.listGroups({ parentPath })).revision;
  const { etag } = await owner.groups.createGroup({ parentPath, group: { name: "answered" } });
  expect([await revisionOf(), await revisionOf(), await revisionOf()]).toEqual([etag, etag, etag]);
  const { etag: next } = await owner.members.createMember({ parentPath, member: { name: "answered" } });
  expect([await revisionOf(), await revisionOf()]).toEqual([next, next]);
  expect((await company.api.groups.listGroups({ parentPath: "orgs/-", pageSize: 1 })).revision).toBe("");
  const filter = `name = "nobody"`;
  expect((await owner.members.listMembers({ parentPath, filter })).revision).toBe(next);
});
