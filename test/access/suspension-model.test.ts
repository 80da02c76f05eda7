// Compares all ways to ask for access, and to use it, with a model, in each state of an org and a project in it.
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";
import {
  type ModelCondition,
  type ModelMember,
  type ModelResource,
  mayDo,
  seesThroughAllOrgs,
  seesThroughAllProjects,
} from "./suspension-model.ts";

const start = "compute.instances.start";
const [getOrg, getProject, listBindings] = ["iam.orgs.get", "iam.projects.get", "iam.roleBindings.list"] as const;
const getBinding = "iam.roleBindings.get";
const asked = [getOrg, getProject, listBindings, start];

/** What roles hold of what is asked about; the predefined ones as docs/roles.md says. */
const rolePermissions: Readonly<Record<string, readonly string[]>> = {
  viewer: [getOrg, getProject, listBindings, getBinding],
  admin: [...asked, getBinding, "iam.projects.activate"],
  owner: [...asked, getBinding, "iam.projects.activate", "iam.orgs.activate"],
  starter: [start],
  "org-lifter": ["iam.orgs.activate"],
  "project-lifter": ["iam.projects.activate"],
  lifter: ["iam.orgs.activate", "iam.projects.activate"],
};

type ScopeName = "platform" | "customer" | "org" | "web";

/** Conditions in CEL and for the model, over the paths of the org and the project. */
const conditions: Readonly<
  Record<string, { text: (org: string, web: string) => string; of: (org: string, web: string) => ModelCondition }>
> = {
  "on the org": {
    text: (org) => `resource.path == "${org}"`,
    of:
      (org) =>
      ({ path }) =>
        path === org,
  },
  "on the project": {
    text: (_org, web) => `resource.path == "${web}"`,
    of:
      (_org, web) =>
      ({ path }) =>
        path === web,
  },
  "in the project": {
    text: (_org, web) => `resource.path.startsWith("${web}/")`,
    of:
      (_org, web) =>
      ({ path }) =>
        path.startsWith(`${web}/`),
  },
  "by a label of the org": {
    text: () => `"tier" in resource.labels`,
    of:
      () =>
      ({ labels }) =>
        "tier" in labels,
  },
  "by a label of the project": {
    text: () => `"env" in resource.labels`,
    of:
      () =>
      ({ labels }) =>
        "env" in labels,
  },
};

/** A role, where it is bound, and its condition. */
type Grant = readonly [role: string, on: ScopeName, condition?: string];

const ofViewer: Grant = ["viewer", "org"];
const conditionNames = Object.keys(conditions);
const fewConditions = ["on the org", "on the project", "by a label of the org"];

/** Members by the org that they are in, with what they hold. */
const casts: Readonly<Record<"own" | "sibling" | "system", readonly (readonly Grant[])[]>> = {
  own: [
    [],
    [ofViewer],
    [["viewer", "web"]],
    ...(["org-lifter", "project-lifter", "lifter"] as const).flatMap((role) => [
      [ofViewer, [role, "org"] as const],
      [ofViewer, [role, "web"] as const],
    ]),
    [ofViewer, ["org-lifter", "org"], ["project-lifter", "web"]],
    [["owner", "web"]],
    [ofViewer, ["starter", "org"], ["lifter", "org"]],
    ...(["viewer", "admin", "owner"] as const).map((role) => [[role, "customer"] as const]),
    ...conditionNames.map((condition) => [
      ofViewer,
      ["starter", "org"] as const,
      ["lifter", "org", condition] as const,
    ]),
    ...conditionNames.map((condition) => [["owner", "org", condition] as const]),
  ],
  sibling: [
    ...(["viewer", "admin", "owner"] as const).map((role) => [[role, "customer"] as const]),
    ...fewConditions.map((condition) => [["viewer", "customer"] as const, ["owner", "customer", condition] as const]),
  ],
  system: [
    ...(["viewer", "admin", "owner"] as const).map((role) => [[role, "platform"] as const]),
    ...fewConditions.map((condition) => [["viewer", "platform"] as const, ["owner", "platform", condition] as const]),
  ],
};

interface Actor extends ModelMember {
  readonly title: string;
  readonly caller: Caller;
  readonly isOwn: boolean;
}

let server: TestServer;
let company: Company;
let operator: ReturnType<typeof accessOf>;
let model: Readonly<Record<ScopeName | "shop", ModelResource>>;
/** What is asked about. */
let resources: readonly ModelResource[];
let actors: Actor[];
/** The path of a role binding on the project. */
let binding = "";

const accessOf = (key: string) => createClient(AccessService, createTransport("gRPC", server.url, key));

function modelOf(org: string, web: string): Readonly<Record<ScopeName | "shop", ModelResource>> {
  const common = { labels: {}, isSuspended: false };
  const platform: ModelResource = { ...common, kind: "platform", path: "", parent: undefined };
  const customer: ModelResource = { ...common, kind: "customer", path: company.org.customerPath, parent: platform };
  const ofOrg: ModelResource = { ...common, kind: "org", path: org, labels: { tier: "gold" }, parent: customer };
  const project = (path: string, labels = {}): ModelResource => ({
    ...common,
    kind: "project",
    path,
    labels,
    parent: ofOrg,
  });
  return { platform, customer, org: ofOrg, web: project(web, { env: "dev" }), shop: project(`${org}/projects/shop`) };
}

beforeAll(async () => {
  server = await startTestServer();
  company = await openCompany("gRPC", server);
  operator = accessOf(server.operatorKey);
  const { api, org, bind } = company;
  await api.orgs.updateOrg({ path: org.path, org: { labels: { tier: "gold" } }, updateMask: { paths: ["labels"] } });
  for (const project of [{ name: "web", labels: { env: "dev" } }, { name: "shop" }]) {
    await api.projects.createProject({ parentPath: org.path, project });
  }
  const sibling = await openCompany("gRPC", server, org.customerPath);
  const homes = { own: org.path, sibling: sibling.org.path, system: "/orgs/system" };
  model = modelOf(org.path, `${org.path}/projects/web`);
  const content = (parent: ModelResource, path: string): ModelResource => ({
    kind: "content",
    path: `${parent.path}/${path}`,
    labels: parent.labels,
    parent,
    isSuspended: false,
  });
  const { web, shop } = model;
  resources = [
    model.org,
    web,
    shop,
    content(model.org, "buckets/logs"),
    content(web, "instances/db-1"),
    { ...content(model.org, "projects/none"), kind: "missing project" },
  ];
  const custom = new Map<string, string>();
  for (const name of ["starter", "org-lifter", "project-lifter", "lifter"]) {
    const role = { name, permissions: [...required(rolePermissions[name])] };
    custom.set(name, (await api.roles.createRole({ parentPath: org.path, role })).path);
  }
  const otherOrg: ModelResource = { kind: "org", path: "", labels: {}, parent: undefined, isSuspended: false };
  const join = async (home: keyof typeof homes, grants: readonly Grant[]): Promise<Actor> => {
    const caller = await company.join(uniqueName("actor"), homes[home]);
    for (const [role, on, condition] of grants) {
      const text = condition === undefined ? "" : required(conditions[condition]).text(org.path, web.path);
      await bind(model[on].path, custom.get(role) ?? role, caller, text);
    }
    const bindings = grants.map(([role, on, condition]) => ({
      on: model[on],
      permissions: required(rolePermissions[role]),
      condition: condition === undefined ? undefined : required(conditions[condition]).of(org.path, web.path),
    }));
    const title = `${home}: ${grants.map((grant) => grant.join(" ")).join(", ")}`;
    return { title, caller, isOwn: home === "own", org: home === "own" ? model.org : otherOrg, bindings };
  };
  const drawn = (Object.keys(casts) as (keyof typeof casts)[]).flatMap((home) =>
    casts[home].map((grants) => [home, grants] as const),
  );
  actors = [];
  for (const [home, grants] of drawn) actors.push(await join(home, grants));
  const inWeb = { parentPath: web.path };
  binding = required((await api.roleBindings.listRoleBindings(inWeb)).roleBindings[0]).path;
});
afterAll(() => server.close());

const states = ["nothing", "the project", "the org and the project", "the org"] as const;

async function suspend(what: (typeof states)[number]): Promise<void> {
  const { orgs, projects } = company.api;
  const [org, web] = [{ path: model.org.path }, { path: model.web.path }];
  if (model.org.isSuspended) await orgs.activateOrg(org);
  if (model.web.isSuspended) await projects.activateProject(web);
  model.org.isSuspended = what.includes("org");
  model.web.isSuspended = what.includes("project");
  if (model.web.isSuspended) await projects.suspendProject(web);
  if (model.org.isSuspended) await orgs.suspendOrg(org);
}

const questions = (some: readonly Actor[] = actors) =>
  some.flatMap((actor) =>
    resources.flatMap((resource) => asked.map((permission) => ({ actor, resource, permission }))),
  );
type Question = ReturnType<typeof questions>[number];
const requestOf = ({ actor, resource, permission }: Question) => ({
  subjectPath: actor.caller.path,
  resourcePath: resource.path,
  permission,
});

/** Which questions a way answers, all others without an answer. */
type Way = (all: readonly Question[]) => Promise<readonly (boolean | undefined)[]>;

/** Answers each question by itself, some at once. */
const each =
  (ask: (question: Question) => Promise<boolean> | undefined): Way =>
  async (all) => {
    const answers: (boolean | undefined)[] = [];
    for (let from = 0; from < all.length; from += 50) {
      answers.push(...(await Promise.all(all.slice(from, from + 50).map(async (question) => ask(question)))));
    }
    return answers;
  };

/** In `npm test`, each actor takes a turn in one of several ways and states, unless all are asked about at once. */
const actorStep = rounds(12, 1);

/** Answers by whether what is asked for is in a list. Questions with the same key share it. */
const inList = (
  keyOf: (question: Question) => string | undefined,
  list: (question: Question) => Promise<readonly string[]>,
  item: (question: Question) => string,
): Way => {
  return async (all) => {
    const lists = new Map<string, Promise<readonly string[]>>();
    return each((question) => {
      const key = keyOf(question);
      if (key === undefined) return undefined;
      const found = lists.get(key) ?? list(question);
      lists.set(key, found);
      return found.then((items) => items.includes(item(question)));
    })(all);
  };
};

async function authzen(endpoint: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}/access/v1/${endpoint}`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

const typeOf = ({ kind }: ModelResource): string => (kind === "org" || kind === "project" ? kind : "instance");
const evaluationOf = ({ actor, resource, permission }: Question) => ({
  subject: { type: "member", id: actor.caller.path },
  action: { name: permission },
  resource: { type: typeOf(resource), id: resource.path },
});
const search = async (kind: string, body: object, field: string): Promise<readonly string[]> => {
  const { results } = await authzen(`search/${kind}`, { ...body, page: { limit: 1000 } });
  return (results as Record<string, string>[]).map((result) => required(result[field]));
};

const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => {
      expect(ConnectError.from(error).code).toBe(Code.PermissionDenied);
      return false;
    },
  );

const isProject = ({ resource }: Question): boolean => resource.kind === "project";

const ways: Readonly<Record<string, Way>> = {
  CheckAccess: each(async (question) => (await operator.checkAccess(requestOf(question))).allowed),
  BatchCheckAccess: async (all) => {
    const answers: boolean[] = [];
    for (let from = 0; from < all.length; from += 1000) {
      const checks = all.slice(from, from + 1000).map(requestOf);
      answers.push(...(await operator.batchCheckAccess({ checks })).results.map(({ allowed }) => allowed));
    }
    return answers;
  },
  // Says that a project does not exist.
  ExplainAccess: each((question) =>
    question.resource.kind === "missing project"
      ? undefined
      : operator.explainAccess(requestOf(question)).then(({ allowed }) => allowed),
  ),
  ListSubjects: inList(
    ({ actor, resource, permission }) => (actor.isOwn ? `${resource.path} ${permission}` : undefined),
    async (question) => (await operator.listSubjects({ ...requestOf(question), pageSize: 1000 })).subjectPaths,
    ({ actor }) => actor.caller.path,
  ),
  ListResources: inList(
    (question) => (isProject(question) ? `${question.actor.caller.path} ${question.permission}` : undefined),
    async (question) =>
      (await operator.listResources({ ...requestOf(question), parentPath: model.org.path })).resourcePaths,
    ({ resource }) => resource.path,
  ),
  TestPermissions: inList(
    ({ actor, resource }) => `${actor.caller.path} ${resource.path}`,
    async ({ actor, resource }) =>
      (await actor.caller.access.testPermissions({ resourcePath: resource.path, permissions: asked })).permissions,
    ({ permission }) => permission,
  ),
  "an evaluation of AuthZEN": each(
    async (question) => (await authzen("evaluation", evaluationOf(question)))["decision"] === true,
  ),
  "evaluations of AuthZEN": async (all) => {
    const answers: boolean[] = [];
    for (let from = 0; from < all.length; from += 100) {
      const { evaluations } = await authzen("evaluations", {
        evaluations: all.slice(from, from + 100).map(evaluationOf),
      });
      answers.push(...(evaluations as { decision: boolean }[]).map(({ decision }) => decision));
    }
    return answers;
  },
  "a search for actions": inList(
    // Only permissions that this service knows, or a role of the subject's org names.
    ({ actor, resource, permission }) => (permission === start ? undefined : `${actor.caller.path} ${resource.path}`),
    (question) => {
      const { subject, resource } = evaluationOf(question);
      return search("action", { subject, resource }, "name");
    },
    ({ permission }) => permission,
  ),
  "a search for subjects": inList(
    ({ actor, resource, permission }) => (actor.isOwn ? `${resource.path} ${permission}` : undefined),
    (question) => search("subject", { ...evaluationOf(question), subject: { type: "member" } }, "id"),
    ({ actor }) => actor.caller.path,
  ),
  "a call": each(({ actor: { caller }, resource: { kind, path }, permission }) => {
    if (kind !== "org" && kind !== "project") return undefined;
    if (permission === listBindings) return succeeds(caller.roleBindings.listRoleBindings({ parentPath: path }));
    if (permission === getProject && kind === "project") return succeeds(caller.projects.getProject({ path }));
    return permission === getOrg && kind === "org" ? succeeds(caller.orgs.getOrg({ path })) : undefined;
  }),
};

/** Are quick also for all actors. */
const atOnce = new Set(["BatchCheckAccess", "ListSubjects", "evaluations of AuthZEN", "a search for subjects"]);

describe.each(states)("while %s is suspended", (what) => {
  beforeAll(() => suspend(what));

  test.each(Object.entries(ways))("%s answers as docs/roles.md says", async (name, ask) => {
    const turn = states.indexOf(what) + Object.keys(ways).indexOf(name);
    const some = actors.filter((_actor, index) => atOnce.has(name) || (index + turn) % actorStep === 0);
    const all = questions(some);
    const answers = await ask(all);
    const wrong = all.filter(({ actor, permission, resource }, index) => {
      const answer = answers[index];
      return answer !== undefined && answer !== mayDo(actor, permission, resource);
    });
    expect(answers.some((answer) => answer !== undefined)).toBe(true);
    if (atOnce.has(name)) expect(answers).toEqual(expect.arrayContaining([true, false]));
    const shown = wrong.map(({ actor, permission, resource }) => `${actor.title}: ${permission} on ${resource.path}`);
    expect(shown).toEqual([]);
  });

  test.each([
    ["orgs/-/projects/-", "/orgs/-", seesThroughAllOrgs],
    ["projects/-", "", seesThroughAllProjects],
  ] as const)("what is in a project is shown through %s as docs/roles.md says", async (_title, anyOrg, sees) => {
    const parentPath = `${anyOrg || model.org.path}/projects/-`;
    const { id } = await company.api.roleBindings.getRoleBinding({ path: binding });
    const wrong = await Promise.all(
      actors.map(async (actor) => {
        const { roleBindings } = actor.caller;
        const listAll = async () => (await roleBindings.listRoleBindings({ parentPath, pageSize: 1000 })).roleBindings;
        const getOne = async () => [await roleBindings.getRoleBinding({ path: `${parentPath}/roleBindings/@${id}` })];
        const isShown = (read: () => Promise<{ readonly path: string }[]>): Promise<boolean> =>
          read().then(
            (found) => found.some(({ path }) => path === binding),
            () => false,
          );
        const answers = { list: await isShown(listAll), get: await isShown(getOne) };
        const [list, get] = [sees(actor, "list", model.web, model.org), sees(actor, "get", model.web, model.org)];
        const expected = { list, get };
        return isDeepStrictEqual(answers, expected) ? [] : [`${actor.title}: ${JSON.stringify(answers)}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });
});
