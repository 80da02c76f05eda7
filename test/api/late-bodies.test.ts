// Tests that a call whose body comes late is decided by what its credential is good for by then. On two servers with one database.
import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { BatchGetMembersRequestSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import {
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  exchangeKey,
  sharedTokenServers,
} from "../support/token-servers.ts";

let place: SharedTokenServers;
let org: string;
beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("org") } })).path;
});

interface Way {
  readonly credential: string;
  /** Takes something back; undefined for nothing. */
  readonly end?: () => Promise<unknown>;
}

const impersonate = async ({ key }: TokenMember, { path }: TokenMember): Promise<string> =>
  (await createApi("gRPC", place.servers[0].url, key).members.impersonateMember({ path })).accessToken;

const ways: Readonly<Record<string, (member: TokenMember) => Promise<Way>>> = {
  "nothing was taken back": async ({ key }) => ({ credential: key }),
  "its API key was deleted": async ({ key, keyPath }) => ({
    credential: key,
    end: () => place.api.apiKeys.deleteApiKey({ path: keyPath }),
  }),
  "all tokens of its member were revoked": async ({ key, path }) => ({
    credential: await exchangeKey(place.servers[0], key),
    end: () => place.api.members.revokeTokens({ path }),
  }),
  "its impersonator has lost the permission": async (member) => {
    const other = await createTokenMember(place.api, org, "admin");
    const bound = (await place.api.roleBindings.listRoleBindings({ parentPath: org })).roleBindings;
    const own = bound.find(({ subjectPath }) => subjectPath === other.path);
    // It keeps what it reads with.
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: other.path };
    await place.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    return {
      credential: await impersonate(other, member),
      end: () => place.api.roleBindings.deleteRoleBinding({ path: own?.path ?? "" }),
    };
  },
};

/** How each protocol sends a request. */
const forms: Readonly<Record<string, (path: string) => readonly [path: string, type: string, body: Buffer]>> = {
  REST: (path) => [
    `/iam/v1alpha${org}/members:batchGet`,
    "application/json",
    Buffer.from(JSON.stringify({ paths: [path] })),
  ],
  Connect: (path) => [
    "/iam.v1alpha.MembersService/BatchGetMembers",
    "application/json",
    Buffer.from(JSON.stringify({ parent_path: org, paths: [path] })),
  ],
  gRPC: (path) => {
    const message = toBinary(
      BatchGetMembersRequestSchema,
      create(BatchGetMembersRequestSchema, { parentPath: org, paths: [path] }),
    );
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return ["/iam.v1alpha.MembersService/BatchGetMembers", "application/grpc+proto", Buffer.concat([head, message])];
  },
};

/** Sends the last byte of a body after `meanwhile`, and later than a call that nothing holds up. Returns the body of the answer. */
async function sendLate(
  credential: string,
  [path, type, body]: ReturnType<(typeof forms)[string]>,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const session = connect(place.servers[1].url);
  onTestFinished(() => session.destroy());
  const authorization = `Bearer ${credential}`;
  const head = { ":method": "POST", ":path": path, "content-type": type, te: "trailers", authorization };
  const stream = session.request(head);
  // On a busy machine the server may see the head so late that it refuses the call before the last byte is sent.
  const closed = once(stream, "close");
  let answer = "";
  stream.setEncoding("latin1").on("data", (chunk: string) => (answer += chunk));
  stream.write(body.subarray(0, -1));
  await sleep(300);
  await meanwhile();
  await sleep(1_200);
  stream.end(body.subarray(-1));
  await closed;
  return answer;
}

test.each(Object.keys(ways))("a call whose body comes late answers by what is true then: %s", async (name) => {
  const outcomes = Object.entries(forms).map(async ([protocol, form]) => {
    const member = await createTokenMember(place.api, org, "viewer");
    const { path } = await place.api.members.createMember({ parentPath: org, member: { name: uniqueName("m") } });
    const { credential, end } = await (ways[name] ?? (() => Promise.reject(new Error())))(member);
    const answer = await sendLate(credential, form(path), async () => {
      await end?.();
      const update = { path, member: { displayName: "written-later" }, updateMask: { paths: ["display_name"] } };
      await place.api.members.updateMember(update);
    });
    return [protocol, answer.includes("written-later")];
  });
  const isAllowed = name === "nothing was taken back";
  expect(await Promise.all(outcomes)).toEqual(Object.keys(forms).map((protocol) => [protocol, isAllowed]));
});
