// Tests that a caller with permission to check access can ask about subjects of its own org, and of orgs where it holds the
// permission. For all other subjects, every method of AccessService and AuthZEN responds as if they did not exist.
import { beforeAll, describe, expect, test } from "vitest";
import { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

/** A permission that is only in a role of the subject's own org. */
const secret = "vault.secrets.read";

interface Asked {
  readonly subject: string;
  /** The path of a project. */
  readonly resource: string;
  readonly org: string;
}

type Question = (asked: Asked) => readonly [path: string, body: object];

const member = (id: string) => ({ type: "member", id });
const project = (id: string) => ({ type: "project", id });
const action = { name: secret };
const check = ({ subject, resource }: Asked) => ({
  subject_path: subject,
  permission: secret,
  resource_path: resource,
});

/** The request of each method about a subject. */
const aboutSubjects: Readonly<Record<string, Question>> = {
  CheckAccess: (asked) => ["/iam/v1alpha/access:check", check(asked)],
  BatchCheckAccess: (asked) => ["/iam/v1alpha/access:batchCheck", { checks: [check(asked)] }],
  ListResources: ({ subject, org }) => [
    "/iam/v1alpha/access:listResources",
    { subject_path: subject, permission: secret, parent_path: org },
  ],
  ExplainAccess: (asked) => ["/iam/v1alpha/access:explain", check(asked)],
  Evaluate: ({ subject, resource }) => [
    "/access/v1/evaluation",
    { subject: member(subject), action, resource: project(resource) },
  ],
  EvaluateAll: ({ subject, resource }) => [
    "/access/v1/evaluations",
    { evaluations: [{ subject: member(subject), action, resource: project(resource) }] },
  ],
  SearchResources: ({ subject }) => [
    "/access/v1/search/resource",
    { subject: member(subject), action, resource: { type: "project" } },
  ],
  SearchActions: ({ subject, resource }) => [
    "/access/v1/search/action",
    { subject: member(subject), resource: project(resource) },
  ],
};

/** The requests about a resource and all subjects with access to it. */
const aboutResources: Readonly<Record<string, Question>> = {
  ListSubjects: ({ resource }) => ["/iam/v1alpha/access:listSubjects", { permission: secret, resource_path: resource }],
  SearchSubjects: ({ resource }) => [
    "/access/v1/search/subject",
    { subject: { type: "member" }, action, resource: project(resource) },
  ],
};

test("the tables have every method", () => {
  // TestPermissions is about the caller itself.
  const others = [...AccessService.methods, ...AuthorizationApiService.methods].filter(
    ({ name }) => name !== "TestPermissions",
  );
  expect(Object.keys({ ...aboutSubjects, ...aboutResources }).toSorted()).toEqual(
    others.map(({ name }) => name).toSorted(),
  );
});

let server: SharedServer;
let victim: Asked;
/** The callers' own resources; `victim` has those of another org. */
let ownProject: string;
let ownOrg: string;
const keys: Record<string, string> = {};

beforeAll(async () => {
  server = await sharedServer();
  const api = createApi("gRPC", server.url, server.operatorKey);
  keys["the operator"] = server.operatorKey;
  const createMember = async (parentPath: string, name: string) => {
    const { path } = await api.members.createMember({ parentPath, member: { name: name.replaceAll(" ", "-") } });
    const { secret: key = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "first" } });
    keys[name] = key;
    return path;
  };
  const bind = (parentPath: string, subjectPath: string, rolePath: string) =>
    api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: uniqueName("binding"), subjectPath, rolePath },
    });

  // Two orgs of one customer: a grant on the customer counts in both.
  const org = await api.orgs.createOrg({ org: { name: uniqueName("victim") } });
  const own = await api.orgs.createOrg({ org: { name: uniqueName("asker"), customerPath: org.customerPath } });
  const role = { name: "keeper", permissions: [secret] };
  const { path: keeper } = await api.roles.createRole({ parentPath: org.path, role });
  const subject = await createMember(org.path, "victim");
  await bind(org.path, subject, keeper);
  await bind(org.customerPath, subject, "/roles/admin");
  const createProject = async (parentPath: string) =>
    (await api.projects.createProject({ parentPath, project: { name: "web" } })).path;
  victim = { subject, resource: await createProject(org.path), org: org.path };
  ownOrg = own.path;
  ownProject = await createProject(own.path);

  const [checker, viewer] = ["/roles/access-checker", "/roles/viewer"];
  await bind(org.path, await createMember(org.path, "a viewer of its org"), viewer);
  await bind(org.customerPath, await createMember(own.path, "a viewer of the customer"), viewer);
  await bind(own.path, await createMember(own.path, "a checker of another org"), checker);
  await bind(ownProject, await createMember(own.path, "a checker of a project of another org"), checker);
  await bind(own.path, await createMember(own.path, "an owner of another org"), "/roles/owner");
  await createMember(own.path, "a member without a role");
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Returns the response without what it repeats of the request. */
async function ask(caller: string, question: Question, asked: Asked): Promise<Answer> {
  const [path, body] = question(asked);
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[caller]}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  let text = await response.text();
  for (const [name, value] of Object.entries(asked)) text = text.replaceAll(String(value), `<${name}>`);
  return { status: response.status, text: text.replaceAll(/"request_id": ?"[^"]*"/g, "") };
}

const strangers = [
  "a checker of another org",
  "a checker of a project of another org",
  "an owner of another org",
  "a member without a role",
];
const insiders = ["a viewer of its org", "a viewer of the customer", "the operator"];

const missing = (): readonly Asked[] => [
  { ...victim, subject: `${victim.org}/members/nobody` },
  { ...victim, subject: "/orgs/no-such-org/members/victim" },
];

describe.each(Object.entries(aboutSubjects))("%s", (_name, question) => {
  test.each(strangers)("reveals nothing to %s about a subject, on a resource of the caller", async (caller) => {
    const at = { resource: ownProject, org: ownOrg };
    const answer = await ask(caller, question, { ...victim, ...at });
    expect(answer.text).not.toContain("vault");
    for (const other of missing()) expect(await ask(caller, question, { ...other, ...at })).toEqual(answer);
  });

  test.each(strangers)("reveals nothing to %s about a subject, on a resource of the subject", async (caller) => {
    const answer = await ask(caller, question, victim);
    expect(answer.text).not.toContain("vault");
    for (const other of missing()) expect(await ask(caller, question, other)).toEqual(answer);
  });

  test.each(insiders)("responds to %s", async (caller) => {
    const answer = await ask(caller, question, victim);
    expect(answer.status).toBe(200);
    expect(await ask(caller, question, { ...victim, subject: `${victim.org}/members/nobody` })).not.toEqual(answer);
  });
});

describe.each(Object.entries(aboutResources))("%s", (_name, question) => {
  test.each(strangers)("reveals nothing to %s about a resource", async (caller) => {
    const answer = await ask(caller, question, victim);
    expect(answer.status).toBe(403);
    const others = [`${victim.org}/projects/none`, "/orgs/no-such-org/projects/web"];
    for (const resource of others) expect(await ask(caller, question, { ...victim, resource })).toEqual(answer);
  });

  test.each(insiders)("responds to %s", async (caller) => {
    const answer = await ask(caller, question, victim);
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("<subject>") as unknown });
  });
});

test("a name that an org of another customer has taken over reveals nothing about the previous org, with any max_staleness", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const name = uniqueName("moved");
  const [taken, taker] = await Promise.all([
    api.orgs.createOrg({ org: { name } }),
    api.orgs.createOrg({ org: { name: uniqueName("taker") } }),
  ]);
  const { path: hidden } = await api.members.createMember({ parentPath: taken.path, member: { name: "hidden" } });
  const bind = (parentPath: string, subjectPath: string, rolePath: string) =>
    api.roleBindings.createRoleBinding({ parentPath, roleBinding: { name: uniqueName("b"), subjectPath, rolePath } });
  await bind(taken.path, hidden, "/roles/viewer");
  const createCaller = async (parentPath: string, memberName: string) => {
    const { path } = await api.members.createMember({ parentPath, member: { name: memberName } });
    const { secret: key = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "first" } });
    return { path, key };
  };
  // The viewer of the customer reads about the org by its name; the other caller has access only to its own customer.
  const sister = await api.orgs.createOrg({ org: { name: uniqueName("sister"), customerPath: taken.customerPath } });
  const viewer = await createCaller(sister.path, "viewer");
  await bind(taken.customerPath, viewer.path, "/roles/viewer");
  const other = await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath: taker.customerPath } });
  const stranger = await createCaller(other.path, "stranger");
  await bind(taker.customerPath, stranger.path, "/roles/viewer");
  keys["viewer"] = viewer.key;
  keys["stranger"] = stranger.key;

  const question: Question = ({ org }) => [
    "/iam/v1alpha/access:listSubjects",
    { resource_path: org, permission: "iam.members.get", max_staleness: "60s" },
  ];
  const asked = { subject: hidden, resource: "-", org: taken.path };
  expect((await ask("viewer", question, asked)).text).toContain("<subject>");
  expect((await ask("the operator", question, asked)).text).toContain("<subject>");
  expect((await ask("stranger", question, asked)).status).toBe(403);
  await api.orgs.updateOrg({ path: taken.path, org: { name: uniqueName("before") } });
  await api.orgs.updateOrg({ path: taker.path, org: { name } });
  const answer = await ask("stranger", question, asked);
  expect(answer.status).toBe(200);
  expect(answer.text).not.toContain("<subject>");
  expect((await ask("viewer", question, asked)).status).toBe(403);
});
