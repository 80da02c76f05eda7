// A GET with the ETag of an answer is answered 304 exactly as long as a plain GET has that answer, whatever other servers write.
import { createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { readHttpRules } from "../../src/rest/routing/http-rules.ts";
import { readConventions } from "../../src/rest/routing/method-conventions.ts";
import { services } from "../../src/rpc/services.ts";
import { type FurnishedOrg, furnishOrg } from "../access/furnish-org.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { createTokenMember } from "../support/token-servers.ts";
import { callMethod } from "../support/workplace.ts";
import {
  type WrittenResource,
  canBeRenamed,
  stateVerbsOf,
  verbsOf,
  writtenResources,
} from "../support/written-resources.ts";

let one: SharedServer;
let other: SharedServer;
let writer: Api;
let org: Org;
let furnished: FurnishedOrg;
let started: Started;
let ids: Readonly<Record<string, string>>;
/** The URLs of one resource in each place. */
let urls: readonly string[];

/** Nobody changes it, so it has no etag. */
const predefinedRole = "/roles/viewer";

/** The paths of all methods whose answers have an ETag: `/iam/v1alpha/orgs/*\/members/*`. */
const templates: readonly string[] = services.flatMap(({ methods }) =>
  methods.flatMap((method) =>
    readHttpRules(method)
      .filter((rule) => rule.httpMethod === "GET" && readConventions(method, rule, "").etag !== undefined)
      .map(({ path }) => path.replace(/\{\w+=([^}]+)\}/g, "$1")),
  ),
);

beforeAll(async () => {
  one = await sharedServer();
  other = await secondSharedServer();
  writer = createApi("gRPC", one.url, one.operatorKey);
  org = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } });
  furnished = await furnishOrg(writer, org);
  ids = { ...furnished.ids, ...(await bindElsewhere()), roles: predefinedRole };
  started = await startOthers();
  const parents = ["customers", "orgs", "orgs/projects"];
  const quotas = Object.fromEntries(parents.map((each) => [`${each}/quota`, `${required(ids[each])}/quota`]));
  urls = Object.values({ ...ids, ...quotas, operation: started.operationPath, session: started.sessionPath }).map(
    (path) => {
      const template = templates.find((each) => matches(each, path)) ?? "";
      return `${other.url}${template.split("/").slice(0, 3).join("/")}${path}`;
    },
  );
});

const matches = (template: string, path: string): boolean =>
  new RegExp(
    `^/[^/]+/[^/]+${template
      .split("/")
      .slice(3)
      .map((part) => (part === "*" ? "/[^/]+" : `/${part}`))
      .join("")}$`,
  ).test(`/area/version${path}`);

/** Creates role bindings outside of the org. Returns their paths. */
async function bindElsewhere(): Promise<Record<string, string>> {
  const bind = async (parentPath: string, subjectPath: string, rolePath = predefinedRole): Promise<string> => {
    const roleBinding = { name: uniqueName("bound"), rolePath, subjectPath };
    const { id } = await writer.roleBindings.createRoleBinding({ parentPath, roleBinding });
    return `${parentPath}/roleBindings/@${id}`;
  };
  const operator = "/orgs/system/members/operator";
  const rolePath = required(furnished.names["orgs/roles"]);
  const member = required(furnished.ids["orgs/members"]);
  return {
    "binding of a custom role": await bind(required(furnished.ids["orgs"]), member, rolePath),
    "customers/roleBindings": await bind(required(furnished.ids["customers"]), member),
    "services/roleBindings": await bind(required(furnished.ids["services"]), operator),
    roleBindings: await bind("", operator),
  };
}

/** Writes that are done one after the other. The last one of several undoes the others. */
type Writes = readonly (() => Promise<unknown>)[];

/** The writes of one resource in each place that change what is in its answer, and that others show. */
function writesOf(resource: WrittenResource): Writes[] {
  const path = ids[resource.place.pattern.join("/")] ?? "";
  const { nouns, change } = resource;
  const call = (verb: string, request: object) => () =>
    callMethod(resource, writer, `${verb}${nouns.one}`, { path, ...request });
  const update = (fields: object): Writes => [call("Update", { [resource.field.localName]: fields })];
  return [
    ...(canBeRenamed(resource) ? [update({ name: uniqueName("new") })] : []),
    ...(verbsOf(resource).includes("Update") ? [update(change)] : []),
    ...(stateVerbsOf(resource).includes("Suspend") ? [[call("Suspend", {}), call("Activate", {})]] : []),
  ];
}

/** An Operation that waits for its provider, and a Session with the last of its refresh tokens. */
interface Started {
  readonly operationPath: string;
  readonly sessionPath: string;
  refreshToken: string;
}

async function startOthers(): Promise<Started> {
  const { transport } = writer;
  const path = required(furnished.ids["orgs/projects/resources"]);
  const operation = await createClient(ResourcesService, transport).runResource({ path, operation: "start" });
  const { path: parentPath, key } = await createTokenMember(writer, org.path);
  const headers = { authorization: `Bearer ${key}` };
  const { refreshToken } = await createClient(TokensService, transport).issueToken({ startSession: true }, { headers });
  const { sessions } = await writer.sessions.listSessions({ parentPath });
  return {
    operationPath: `${required(furnished.ids["orgs/projects"])}/operations/@${operation.id}`,
    sessionPath: `${required(furnished.ids["orgs"])}${required(sessions[0]).path.slice(org.path.length)}`,
    refreshToken,
  };
}

/** Writes of what has no Update. */
function otherWrites(): Writes[] {
  const { transport } = writer;
  const servicePath = required(ids["services"]);
  const provider = createClient(ProviderService, transport);
  let claimToken = "";
  const setLimit = (requested: number) => () =>
    createClient(QuotasService, transport).updateQuota({
      parentPath: required(ids["orgs"]),
      quota: { limits: { requested } },
    });
  const claim = async () => {
    const { claims } = await provider.claimOperations({ servicePath });
    ({ claimToken } = required(claims[0]));
  };
  const complete = () => provider.completeOperation({ servicePath, operationPath: started.operationPath, claimToken });
  const refresh = async () => {
    const { refreshToken } = started;
    Object.assign(started, await createClient(TokensService, transport).refreshToken({ refreshToken }));
  };
  return [[setLimit(0), setLimit(1)], [claim, complete], [refresh], ...linkedWrites()];
}

/** Writes of the Member and the Group that a membership and a subgroup show. */
function linkedWrites(): Writes[] {
  const linkedBy = (link: string, collection: string): string =>
    `${required(ids["orgs"])}/${collection}/${required(ids[link]?.split("/").at(-1))}`;
  const member = { path: linkedBy("orgs/groups/members", "members") };
  const group = { path: linkedBy("orgs/groups/subgroups", "groups") };
  return [
    [() => writer.members.updateMember({ ...member, member: { name: uniqueName("new"), displayName: "New" } })],
    [() => writer.members.suspendMember(member), () => writer.members.activateMember(member)],
    [() => writer.groups.updateGroup({ ...group, group: { name: uniqueName("new") } })],
  ];
}

interface Answer {
  readonly status: number;
  readonly tag: string;
  readonly body: string;
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${one.operatorKey}`, ...headers } });
  return { status: response.status, tag: response.headers.get("etag") ?? "", body: await response.text() };
}

const etagIn = ({ body }: Answer): unknown => (JSON.parse(body) as { readonly etag: unknown }).etag;

test("there is a resource for each method whose answers have an ETag", () => {
  const paths = urls.map((url) => url.slice(other.url.length));
  const pathOf = (url: string): string =>
    url
      .split("/")
      .slice(3)
      .map((part) => `/${part}`)
      .join("");
  for (const template of templates)
    expect(
      paths.some((path) => matches(template, pathOf(path))),
      template,
    ).toBe(true);
});

test("a GET is answered 304 exactly while a plain GET has the same answer, and If-Match holds while its `etag` is the same", async () => {
  const seen = new Map<string, Answer>();
  for (const url of urls) seen.set(url, await get(url));
  expect(urls.filter((url) => seen.get(url)?.tag === "")).toEqual([urls.find((url) => url.endsWith(predefinedRole))]);
  let changedByOthers = 0;

  const compare = async (url: string): Promise<void> => {
    const before = required(seen.get(url));
    const now = await get(url);
    const again = await get(url, { "if-none-match": before.tag });
    // The sessions of a member end when it is suspended.
    if (now.status === 404) expect(again.status).toBe(404);
    if (now.status !== 200) return;
    seen.set(url, now);
    const isSame = now.body === before.body;
    expect([again.status, again.tag], url).toEqual([isSame ? 304 : 200, now.tag]);
    if (isSame) return;
    const isSameRow = etagIn(now) === etagIn(before);
    expect((await get(url, { "if-match": before.tag })).status, url).toBe(isSameRow ? 200 : 412);
    if (isSameRow) changedByOthers++;
  };

  const tagged = urls.filter((url) => seen.get(url)?.tag !== "");
  for (let round = 0; round < rounds(1, 50); round++) {
    const writes = [...writtenResources.flatMap(writesOf), ...(round === 0 ? otherWrites() : [])];
    const [shuffled] = fc.sample(fc.shuffledSubarray(writes, { minLength: writes.length }), 1);
    for (const [index, together] of required(shuffled).entries()) {
      for (const [step, write] of together.entries()) {
        await write();
        const isUndoneNext = step < together.length - 1;
        if (isUndoneNext || index % 6 === 0) await Promise.all(tagged.map(compare));
      }
    }
  }
  expect(changedByOthers).toBeGreaterThan(0);
});
