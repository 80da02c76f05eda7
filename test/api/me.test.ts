import { type Client, createClient } from "@connectrpc/connect";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { CallerCredential_Kind as Kind, MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { Member_State, Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sharedTokenServers,
} from "../support/token-servers.ts";
import { type Protocol, createTransport, protocols } from "../support/transports.ts";

let place: SharedTokenServers;
let org: Org;
let web: string;
let owner: TokenMember;
let viewer: TokenMember;

beforeAll(async () => {
  place = await sharedTokenServers();
  org = await place.api.orgs.createOrg({ org: { name: uniqueName("acme"), displayName: "Acme" } });
  web = (await place.api.projects.createProject({ parentPath: org.path, project: { name: "web" } })).path;
  owner = await createTokenMember(place.api, org.path, "owner");
  viewer = await createTokenMember(place.api, org.path, "viewer");
});

/** On the other server than the one that issues tokens. */
const clientOf = (credential: string, protocol: Protocol = "gRPC"): Client<typeof MeService> =>
  createClient(MeService, createTransport(protocol, place.servers[1].url, credential));

const prefixOf = (key: string): string => key.slice(0, 21);

/** What all credentials have that are not narrowed. */
const wide = { scopes: [], projectPath: "", allowedAddresses: [], impersonatorPath: "" };

async function createKey(fields: { scopes?: string[]; allowedAddresses?: string[]; expireTime?: Timestamp }) {
  const apiKey = { name: uniqueName("key"), ...fields };
  const { path, secret = "" } = await place.api.apiKeys.createApiKey({ parentPath: owner.path, apiKey });
  return { path, secret };
}

/** Returns what `exp` of a token says. */
const expiryOf = (token: string): Date => new Date(Number(decodeJwt(token).exp) * 1_000);

const sessionPathOf = (token: string, { path }: TokenMember): string =>
  `${path}/sessions/@${String(decodeJwt(token)["sid"])}`;

describe.each(protocols)("over %s", (protocol) => {
  test("callers learn their member, org and API key", async () => {
    const { $typeName: _name, member, org: own, credential } = await clientOf(viewer.key, protocol).getMe({});
    const name = viewer.path.split("/").at(-1);
    const { path, id } = viewer;
    const type = Member_Type.APPLICATION;
    expect(member).toMatchObject({ path, id, name, displayName: name, type, state: Member_State.ACTIVE });
    expect(own).toMatchObject({ path: org.path, id: org.id, displayName: "Acme" });
    expect(credential).toMatchObject({
      kind: Kind.API_KEY,
      apiKeyPath: viewer.keyPath,
      sessionPath: "",
      clientId: prefixOf(viewer.key),
      ...wide,
    });
    expect(credential?.expireTime).toBeUndefined();
  });

  test("a text that is no credential is refused", async () => {
    const asked = clientOf("nonsense", protocol).getMe({});
    expect(await failureOf(asked)).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
  });
});

test("REST answers at /iam/v1alpha/me, and 401 without a credential", async () => {
  const url = `${place.servers[0].url}/iam/v1alpha/me`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${owner.key}` } });
  const text = await response.text();
  expect([response.status, JSON.parse(text)]).toMatchObject([
    200,
    { member: { path: owner.path, type: "APPLICATION", state: "ACTIVE" }, credential: { kind: "API_KEY" } },
  ]);
  expect(text).not.toContain(owner.key);
  expect((await fetch(url)).status).toBe(401);
});

describe("the credential", () => {
  test("of an API key has its limits", async () => {
    const limits = {
      scopes: ["iam.groups.*"],
      allowedAddresses: ["127.0.0.0/8", "::1/128"],
      expireTime: timestampFromDate(new Date("2100-01-01")),
    };
    const { path, secret } = await createKey(limits);
    const { member, credential } = await clientOf(secret).getMe({});
    expect(member?.path).toBe(owner.path);
    expect(credential).toMatchObject({ kind: Kind.API_KEY, apiKeyPath: path, clientId: prefixOf(secret), ...limits });
  });

  test("of a token names the API key for which it was issued", async () => {
    const token = await exchangeKey(place.servers[0], owner.key);
    const { credential } = await clientOf(token).getMe({});
    const clientId = prefixOf(owner.key);
    expect(credential).toMatchObject({ kind: Kind.ACCESS_TOKEN, apiKeyPath: owner.keyPath, sessionPath: "", clientId });
    expect(credential).toMatchObject(wide);
    expect(credential?.expireTime && timestampDate(credential.expireTime)).toEqual(expiryOf(token));
  });

  test("of a token expires with the overlap of an API key that was rotated", async () => {
    const { path, secret } = await createKey({});
    const token = await exchangeKey(place.servers[0], secret);
    await place.api.apiKeys.rotateApiKey({ path, name: uniqueName("key"), overlap: { seconds: 60n } });
    const { expireTime } = await place.api.apiKeys.getApiKey({ path });
    expect(expireTime).toBeDefined();
    expect((await clientOf(token).getMe({})).credential?.expireTime).toEqual(expireTime);
  });

  test("of a narrowed token has its scopes and its project, also after the project was deleted", async () => {
    const project = await place.api.projects.createProject({ parentPath: org.path, project: { name: "old" } });
    const token = await exchangeKey(place.servers[0], owner.key, { scope: "iam.members.get", project: project.path });
    const narrowing = async () => (await clientOf(token).getMe({})).credential;
    expect(await narrowing()).toMatchObject({ scopes: ["iam.members.get"], projectPath: project.path });
    await place.api.projects.deleteProject({ path: project.path });
    expect(await narrowing()).toMatchObject({ projectPath: `${org.path}/projects/@${project.id}` });
  });

  test("of a session token names the session, and is refused when the session is deleted", async () => {
    const token = await exchangeKey(place.servers[0], viewer.key, { scope: "offline_access", project: web });
    const sessionPath = sessionPathOf(token, viewer);
    const { credential } = await clientOf(token).getMe({});
    const expected = { kind: Kind.ACCESS_TOKEN, apiKeyPath: "", sessionPath, projectPath: web };
    expect(credential).toMatchObject({ ...expected, clientId: prefixOf(viewer.key) });
    await createClient(SessionsService, place.api.transport).deleteSession({ path: sessionPath });
    expect(await failureOf(clientOf(token).getMe({}))).toMatchObject({
      code: "Unauthenticated",
      metadata: { ended_by: "SESSION_ENDED" },
    });
  });

  test.each(["API key", "session"])("of an impersonation names the impersonator and its %s", async (what) => {
    const isKey = what === "API key";
    const own = isKey ? owner.key : await exchangeKey(place.servers[0], owner.key, { scope: "offline_access" });
    const { members } = createApi("gRPC", place.servers[0].url, own);
    const { accessToken } = await members.impersonateMember({ path: viewer.path });
    const { member, credential } = await clientOf(accessToken).getMe({});
    expect(member?.path).toBe(viewer.path);
    expect(credential).toMatchObject({
      kind: Kind.ACCESS_TOKEN,
      impersonatorPath: owner.path,
      apiKeyPath: isKey ? owner.keyPath : "",
      sessionPath: isKey ? "" : sessionPathOf(own, owner),
    });
  });
});

test("a suspended member is refused, and a member of a suspended org still learns who it is", async () => {
  const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("umbrella") } });
  const [one, other] = [await createTokenMember(place.api, path), await createTokenMember(place.api, path)];
  await place.api.members.suspendMember({ path: one.path });
  expect(await failureOf(clientOf(one.key).getMe({}))).toMatchObject({ code: "Unauthenticated" });
  await place.api.orgs.suspendOrg({ path });
  expect((await clientOf(other.key).getMe({})).member?.path).toBe(other.path);
});
