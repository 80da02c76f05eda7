// Tests that no read reaches what is suspended through `-`: every method whose path accepts `-`, in every form. The methods are those
// of the descriptors.
import { type DescMethodUnary, toJsonString } from "@bufbuild/protobuf";
import { type Transport, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { services } from "../../src/rpc/services.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";
import { type Request, callMethod, eachOf, unaryMethods } from "./every-call.ts";
import { type FurnishedOrg, furnishOrg } from "./furnish-org.ts";
import { type WildcardCall, readsThroughWildcards, wildcardCallsOf } from "./wildcard-calls.ts";

const methods = unaryMethods(services).filter(({ rules }) => readsThroughWildcards(rules));

/** Have no parent that `-` could stand for. */
const withoutParent = [
  "iam.v1alpha.OrgsService/GetOrg",
  "iam.v1alpha.ChangesService/ListChanges",
  "iam.v1alpha.ChangesService/GetChangesHead",
  "iam.v1alpha.AccessEventsService/ListAccessEvents",
  "iam.v1alpha.FindingsService/ListFindings",
  "iam.v1alpha.OrgFilesService/ExportOrg",
  "iam.v1alpha.OrgFilesService/PlanOrg",
];

/** Accepts `-` only to say, after the decision, that it does not. */
const refusing = ["iam.v1alpha.AccessService/ListResources"];

/** Reads of projects themselves, which can be read while they are suspended. */
const ofProjects = new Set(
  ["GetProject", "ListProjects", "BatchGetProjects"].map((name) => `iam.v1alpha.ProjectsService/${name}`),
);

/** Say nothing of what is in the org but what a receiver has answered. */
const ofReceivers = [
  ...["TestWebhook", "ListWebhookDeliveries"].map((name) => `iam.v1alpha.WebhooksService/${name}`),
  ...["InspectEventStream", "PollEventStream", "VerifyEventStream"].map(
    (name) => `iam.v1alpha.EventStreamsService/${name}`,
  ),
];

const unmarked = new Set([...withoutParent, ...refusing, ...ofReceivers]);

interface Place {
  readonly company: Company;
  readonly furnished: FurnishedOrg;
  /** A part of every path in the org. */
  readonly mark: string;
}

/** An answer, or the failure, as text. */
type Answer = string;

let server: TestServer;
/** An org that is suspended, one in which a project is, and one in which nothing is. */
let places: Readonly<Record<"org" | "project" | "nothing", Place>>;
/** A viewer of the platform, one of the customer of the place, and the operator. */
let callers: Readonly<
  Record<"org" | "project", Readonly<Record<"auditor" | "customerAuditor" | "operator", Transport>>>
>;
/** The answers to the auditor before the suspension, by method and path. */
const before = new Map<string, Answer>();

const keyOf = (what: string, name: string, { about }: WildcardCall): string => `${what} ${name} ${about}`;

async function openPlace(): Promise<Place> {
  const company = await openCompany("gRPC", server);
  return { company, furnished: await furnishOrg(company.api, company.org), mark: `/orgs/${company.org.name}/` };
}

beforeAll(async () => {
  server = await startTestServer();
  places = { org: await openPlace(), project: await openPlace(), nothing: await openPlace() };
  const join = async (parent: string, scope: string): Promise<Caller> => {
    const member = await places.org.company.join(uniqueName("auditor"), parent);
    await places.org.company.bind(scope, "viewer", member);
    return member;
  };
  const auditor = await join("/orgs/system", "");
  const transportsOf = async ({ company }: Place) => {
    const sibling = await openCompany("gRPC", server, company.org.customerPath);
    return {
      auditor: auditor.transport,
      customerAuditor: (await join(sibling.org.path, company.org.customerPath)).transport,
      operator: createTransport("gRPC", server.url, server.operatorKey),
    };
  };
  callers = { org: await transportsOf(places.org), project: await transportsOf(places.project) };
  for (const what of ["org", "project"] as const) {
    await eachOf(methods, async ({ name, method, rules }) => {
      for (const call of wildcardCallsOf(method, rules, places[what].furnished)) {
        before.set(keyOf(what, name, call), await answerOf(callers[what].auditor, method, call.request));
      }
    });
  }
  await places.org.company.api.orgs.suspendOrg({ path: places.org.company.org.path });
  const path = required(places.project.furnished.names["orgs/projects"]);
  await places.project.company.api.projects.suspendProject({ path });
});
afterAll(() => server.close());

/** Returns the answer without what each call has of its own. */
async function answerOf(transport: Transport, method: DescMethodUnary, request: Request): Promise<Answer> {
  return callMethod(transport, method, request).then(
    (answer) => toJsonString(method.output, answer as never),
    async (error: unknown) => {
      const { requestId: _id, ...failure } = await failureOf(Promise.reject(error));
      return JSON.stringify(failure);
    },
  );
}

/** Returns the failure without what the path in the request contains. */
function withoutPath(answer: Answer): string {
  return answer.replaceAll(/\/orgs\/[^\s"]*/g, "<path>");
}

describe.each(["org", "project"] as const)("what is in a suspended %s", (what) => {
  // A path that names the suspended org is decided on it.
  const isAbout = ({ pattern, about }: WildcardCall): boolean =>
    what === "org" ? about.startsWith("/orgs/-") : pattern[1] === "projects";
  const ofPlace = methods.filter(({ rules }) =>
    rules.target?.patterns.some(([, below]) => what === "org" || below === "projects"),
  );
  const hiding = ofPlace.filter(({ name }) => !unmarked.has(name) && !(what === "project" && ofProjects.has(name)));
  const callsOf = (method: DescMethodUnary, rules: (typeof methods)[number]["rules"]) =>
    wildcardCallsOf(method, rules, places[what].furnished).filter(isAbout);

  test.concurrent.each(hiding)("is as if it did not exist, in $name", async ({ name, method, rules }) => {
    const { mark } = places[what];
    const { auditor, customerAuditor, operator } = callers[what];
    const calls = callsOf(method, rules);
    expect(calls).not.toEqual([]);
    for (const call of calls) {
      expect(before.get(keyOf(what, name, call)), call.about).toContain(mark);
      expect(await answerOf(operator, method, call.request), call.about).toContain(mark);
      for (const caller of [auditor, customerAuditor]) {
        const answer = await answerOf(caller, method, call.request);
        if (caller === auditor) expect(answer, call.about).not.toContain("PERMISSION_DENIED");
        const expected = call.missing && (await answerOf(caller, method, call.missing));
        if (expected !== undefined) expect(withoutPath(answer), call.about).toBe(withoutPath(expected));
        // A failure repeats the path of the request.
        if (!answer.includes('"reason"')) expect(answer, call.about).not.toContain(mark);
        const isOfAll = caller === auditor && call.missing === undefined && call.about.startsWith("/orgs/-");
        if (isOfAll) expect(answer, call.about).toContain(places.nothing.mark);
      }
    }
  });
});

test("a suspended project can itself be read through -", async () => {
  const path = required(places.project.furnished.names["orgs/projects"]);
  for (const { method, rules } of methods.filter(({ name }) => ofProjects.has(name))) {
    for (const { about, request } of wildcardCallsOf(method, rules, places.project.furnished)) {
      expect(await answerOf(callers.project.auditor, method, request), about).toContain(`"${path}"`);
    }
  }
});

test.concurrent.each(refusing)("%s refuses -", async (name) => {
  const { method, rules } = required(methods.find((each) => each.name === name));
  for (const { request } of wildcardCallsOf(method, rules, places.org.furnished)) {
    for (const caller of [callers.org.auditor, callers.org.operator]) {
      expect(await answerOf(caller, method, request)).toContain("PATH_INVALID");
    }
  }
});

test("lists of orgs show the suspended org itself, as a Get of it does", async () => {
  const { company } = places.org;
  const { path } = company.org;
  for (const transport of [callers.org.auditor, callers.org.customerAuditor]) {
    const methodsOfOrgs = services
      .flatMap((service) => service.methods)
      .filter(({ name }) => ["ListOrgs", "GetOrg", "BatchGetOrgs"].includes(name));
    expect(methodsOfOrgs.length).toBe(3);
    for (const method of methodsOfOrgs) {
      if (method.name === "BatchGetOrgs" && transport === callers.org.customerAuditor) continue;
      const request =
        { ListOrgs: { pageSize: 1000 }, GetOrg: { path }, BatchGetOrgs: { paths: [path] } }[method.name] ?? {};
      expect(await answerOf(transport, method as DescMethodUnary, request)).toContain(`"${path}"`);
    }
  }
});

test.each(withoutParent)("%s has no form with -", (name) => {
  const { method, rules } = required(methods.find((each) => each.name === name));
  expect(wildcardCallsOf(method, rules, places.org.furnished)).toEqual([]);
});

test("a resource of a suspended org is as if it did not exist, also to a caller that may read resources of its type only", async () => {
  const { names, ids } = places.org.furnished;
  const [type, get] = [
    required(names["services/resourceTypes"]),
    required(methods.find(({ name }) => name.endsWith("/GetResource"))),
  ];
  const { collection } = await createClient(ResourceTypesService, callers.org.operator).getResourceType({ path: type });
  const scope = `${required(type.split("/")[2])}.${collection}.get`;
  const { api, join, bind } = places.org.company;
  const auditor = await join(uniqueName("auditor"), "/orgs/system");
  await bind("", "viewer", auditor);
  const apiKey = { name: "narrow", scopes: [scope] };
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: auditor.path, apiKey });
  const narrow = createTransport("gRPC", server.url, secret);
  const id = required(required(ids["orgs/projects/resources"]).split("/").at(-1));
  const read = (which: string) => answerOf(narrow, get.method, { path: `/orgs/-/projects/-/resources/${which}` });
  expect(withoutPath(await read(id))).toBe(withoutPath(await read("@01990000-0000-7000-8000-00000000dead")));
});

test("a batch does not tell which id a group in a suspended org has", async () => {
  const { names, ids } = places.org.furnished;
  const { method } = required(methods.find(({ name }) => name.endsWith("/BatchGetGroupMembers")));
  const id = required(required(ids["orgs/groups"]).split("/").at(-1));
  const read = (group: string) => {
    const request = { parentPath: `/orgs/-/groups/${group}`, paths: [required(names["orgs/groups/members"])] };
    return answerOf(callers.org.auditor, method, request);
  };
  expect(withoutPath(await read(id))).toBe(withoutPath(await read("@01990000-0000-7000-8000-00000000dead")));
});
