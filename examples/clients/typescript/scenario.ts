// Drives a service over Connect: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
// a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the new Org.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Code, ConnectError, type Interceptor, type Transport, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { BadRequestSchema, ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { AccessService } from "./gen/iam/v1alpha/access_pb.ts";
import { ChangesService } from "./gen/iam/v1alpha/change_pb.ts";
import { GroupsService } from "./gen/iam/v1alpha/group_pb.ts";
import { type Member, MembersService } from "./gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "./gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "./gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "./gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "./gen/iam/v1alpha/role_pb.ts";
import { TokensService } from "./gen/iam/v1alpha/token_pb.ts";
import { OperationsService, Operation_State } from "./gen/resources/v1alpha/operation_pb.ts";
import { ResourcesService } from "./gen/resources/v1alpha/resource_pb.ts";
import { startSession } from "./session.ts";

const { TENANTRY_URL = "http://localhost:8080", TENANTRY_KEY = "", TENANTRY_ORG = "" } = process.env;

/** Sends an API key or access token with every call. */
const authenticate =
  (getCredential: () => Promise<string>): Interceptor =>
  (next) =>
  async (request) => {
    request.header.set("authorization", `Bearer ${await getCredential()}`);
    return next(request);
  };

/** Repeats calls that fail with UNAVAILABLE. A request_id makes that safe for writes. */
const retry: Interceptor = (next) => async (request) => {
  for (let delayMs = 100; ; delayMs *= 2) {
    try {
      return await next(request);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unavailable || delayMs > 1_000) throw error;
      await setTimeout(delayMs);
    }
  }
};

const connect = (getCredential: () => Promise<string>): Transport =>
  createConnectTransport({
    baseUrl: TENANTRY_URL,
    httpVersion: "2",
    interceptors: [authenticate(getCredential), retry],
    defaultTimeoutMs: 30_000,
  });

const tokens = createClient(
  TokensService,
  connect(async () => TENANTRY_KEY),
);
const session = await startSession(tokens);
const transport = connect(session.accessToken);
const members = createClient(MembersService, transport);
const org = `orgs/${TENANTRY_ORG}`;

async function createOrg(): Promise<string> {
  await createClient(OrgsService, transport).createOrg({ org: { name: TENANTRY_ORG } });
  const projects = createClient(ProjectsService, transport);
  const project = await projects.createProject({ parentPath: org, project: { name: "web" } });
  const names = ["alice", "bob", "carol", "dave", "erin"];
  await members.batchCreateMembers({ parentPath: org, requests: names.map((name) => ({ member: { name } })) });
  return project.path;
}

/** Yields all members, page by page. */
async function* listMembers(): AsyncGenerator<Member> {
  let pageToken = "";
  do {
    const page = await members.listMembers({ parentPath: org, pageSize: 2, filter: "type = USER", pageToken });
    yield* page.members;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

async function grantAndCheck(project: string): Promise<void> {
  const permission = "compute.instances.start";
  const role = await createClient(RolesService, transport).createRole({
    parentPath: org,
    role: { name: "starter", permissions: [permission] },
  });
  await createClient(RoleBindingsService, transport).createRoleBinding({
    parentPath: project,
    roleBinding: { name: "alice-starts", rolePath: role.path, subjectPath: `${org}/members/alice` },
  });
  const access = createClient(AccessService, transport);
  const resourcePath = `${project}/instances/db-1`;
  for (const [subject, expected] of Object.entries({ alice: true, bob: false })) {
    const answer = await access.checkAccess({ subjectPath: `${org}/members/${subject}`, permission, resourcePath });
    assert.equal(answer.allowed, expected);
  }
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => ConnectError.from(error),
  );
}

async function readErrors(): Promise<void> {
  const badName = await failureOf(members.createMember({ parentPath: org, member: { name: "Dora" } }));
  assert.equal(badName.code, Code.InvalidArgument);
  assert.equal(badName.findDetails(ErrorInfoSchema)[0]?.reason, "FIELD_INVALID");
  assert.equal(badName.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field, "member.name");
  const late = await failureOf(members.getMember({ path: `${org}/members/alice` }, { timeoutMs: 1 }));
  assert.equal(late.code, Code.DeadlineExceeded);
}

/** A repeated request_id gets the response of the first request: nothing is created twice. */
async function repeat(): Promise<void> {
  const groups = createClient(GroupsService, transport);
  const request = { parentPath: org, group: { name: "sre" }, requestId: randomUUID() };
  const first = await groups.createGroup(request);
  const again = await groups.createGroup(request);
  assert.equal(first.id, again.id);
}

async function createVolume(project: string): Promise<void> {
  const operations = createClient(OperationsService, transport);
  let operation = await createClient(ResourcesService, transport).createResource({
    parentPath: project,
    resource: {
      name: "disk-1",
      typePath: "/services/storage/resourceTypes/volumes",
      quantities: { instance_storage: 10_000_000 },
    },
  });
  while (!operation.done) {
    operation = await operations.waitOperation({ path: operation.path, timeout: { seconds: 10n } });
  }
  assert.equal(operation.state, Operation_State.SUCCEEDED);
}

/** Gets what is changed from when the stream has begun, which its first message says. */
async function watch(): Promise<void> {
  const group = { name: "watched" };
  const ended = new AbortController();
  const stream = createClient(ChangesService, transport).watchChanges({ parentPath: org }, { signal: ended.signal });
  let created: Promise<unknown> | undefined;
  for await (const { event, resumeRevision } of stream) {
    assert.notEqual(resumeRevision, "");
    created ??= createClient(GroupsService, transport).createGroup({ parentPath: org, group });
    if (event.case === "change" && event.value.resourcePath === `/${org}/groups/watched`) break;
  }
  ended.abort();
  await created;
}

async function refreshToken(): Promise<void> {
  const before = await session.accessToken();
  session.refreshNow();
  assert.notEqual(await session.accessToken(), before);
}

const project = await createOrg();
await refreshToken();
const names = (await Array.fromAsync(listMembers())).map(({ name }) => name);
assert.deepEqual(names, ["alice", "bob", "carol", "dave", "erin"]);
await grantAndCheck(project);
await readErrors();
await repeat();
await createVolume(project);
await watch();
console.log("typescript: all is well");
