// Tests the OpenID AuthZEN Authorization API 1.0 with requests as its clients send them.
import { beforeAll, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace, startInstance } from "../support/access-place.ts";
import { uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
let place: AccessPlace;
beforeAll(async () => {
  server = await sharedServer();
  place = await createAccessPlace("REST", server.url, server.operatorKey);
  const { org, alice, sre, web, grant } = place;
  await grant(web, sre, "/roles/admin");
  await grant(org.path, alice, "/roles/viewer");
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function post(endpoint: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${server.url}/access/v1/${endpoint}`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer["body"] };
}

const alice = () => ({ type: "member", id: place.alice });
const bob = () => ({ type: "member", id: place.bob });
const web = () => ({ type: "project", id: place.web });
const start = { name: startInstance };
const question = () => ({ subject: alice(), action: start, resource: web() });

/** Returns the fields that an error names. */
async function refusedFields(endpoint: string, body: unknown): Promise<string[]> {
  const answer = await post(endpoint, body);
  expect(answer.status).toBe(400);
  const { details } = answer.body["error"] as { details: { field_violations?: { field: string }[] }[] };
  return details.flatMap(({ field_violations: violations = [] }) => violations.map(({ field }) => field));
}

describe("an evaluation", () => {
  test("returns a decision and nothing else", async () => {
    const yes = await post("evaluation", question());
    expect([yes.status, yes.body]).toEqual([200, { decision: true }]);
    expect(yes.headers.get("content-type")).toMatch(/^application\/json/);
    const no = await post("evaluation", { ...question(), subject: bob() });
    expect([no.status, no.body]).toEqual([200, { decision: false }]);
  });

  test("accepts groups, resources of other services, customers and the platform", async () => {
    const { org, sre } = place;
    const decide = async (subject: object, resource: object) =>
      (await post("evaluation", { subject, action: start, resource })).body["decision"];
    const operator = { type: "member", id: "/orgs/system/members/operator" };
    expect(await decide({ type: "group", id: sre }, web())).toBe(true);
    expect(await decide(alice(), { type: "instance", id: `${place.web}/instances/db-1` })).toBe(true);
    expect(await decide(alice(), { type: "org", id: org.path })).toBe(false);
    expect(await decide(alice(), { type: "platform", id: "/" })).toBe(false);
    expect(await decide(operator, { type: "platform", id: "/" })).toBe(true);
    expect(await decide(operator, { type: "customer", id: org.customerPath })).toBe(true);
  });

  test("of an unknown subject, resource or action is denied", async () => {
    const decide = async (changes: object) =>
      (await post("evaluation", { ...question(), ...changes })).body["decision"];
    expect(await decide({ subject: { type: "user", id: "alice" } })).toBe(false);
    expect(await decide({ subject: { type: "member", id: `${place.org.path}/members/zed` } })).toBe(false);
    expect(await decide({ subject: { type: "member", id: "/orgs/no-such-org/members/alice" } })).toBe(false);
    const org = { type: "org", id: place.org.path };
    expect(await decide({ action: { name: "iam.orgs.get" }, resource: org })).toBe(true);
    expect(await decide({ action: { name: "can_read" }, resource: org })).toBe(false);
  });

  test("of an action or a type of subjects that does not exist is denied, and the context says so", async () => {
    const operator = { type: "member", id: "/orgs/system/members/operator" };
    for (const [changes, message] of [
      [{ action: { name: "can_read" } }, /^action.name: must be a permission/],
      [{ action: { name: "iam.org.get" }, subject: operator }, /^action.name: .*; the nearest is iam.orgs.get;/],
      [{ subject: { type: "user", id: "alice" } }, /^subject.type: must be member or group/],
    ] as const) {
      const answer = { decision: false, context: { error: { status: 400, message: expect.stringMatching(message) } } };
      expect((await post("evaluation", { ...question(), ...changes })).body).toEqual(answer);
      const { body } = await post("evaluations", { ...question(), evaluations: [changes, {}] });
      expect(body).toEqual({ evaluations: [answer, { decision: true }] });
    }
  });

  test("ignores unknown fields", async () => {
    const later = { ...question(), later: { nested: [1] }, subject: { ...alice(), later: true } };
    expect((await post("evaluation", later)).body).toEqual({ decision: true });
  });

  test("with a missing or invalid field is refused, and the error names the field", async () => {
    const { subject, action, resource } = question();
    expect(await refusedFields("evaluation", { action, resource })).toEqual(["subject"]);
    expect(await refusedFields("evaluation", { subject, resource })).toEqual(["action"]);
    expect(await refusedFields("evaluation", { subject, action })).toEqual(["resource"]);
    expect(await refusedFields("evaluation", { ...question(), subject: { id: place.alice } })).toEqual([
      "subject.type",
    ]);
    expect(await refusedFields("evaluation", { ...question(), subject: { type: "member" } })).toEqual(["subject.id"]);
    expect(await refusedFields("evaluation", { ...question(), action: {} })).toEqual(["action.name"]);
    expect(await refusedFields("evaluation", { ...question(), resource: { id: place.web } })).toEqual([
      "resource.type",
    ]);
    expect(await refusedFields("evaluation", { ...question(), resource: { type: "project" } })).toEqual([
      "resource.id",
    ]);
    const wrongKind = { type: "project", id: place.org.path };
    expect(await refusedFields("evaluation", { ...question(), resource: wrongKind })).toEqual(["resource.id"]);
    const noPlatform = { type: "platform", id: place.org.path };
    expect(await refusedFields("evaluation", { ...question(), resource: noPlatform })).toEqual(["resource.id"]);
    const noPath = { type: "instance", id: "db-1" };
    expect(await refusedFields("evaluation", { ...question(), resource: noPath })).toEqual(["resource.id"]);
    const wrongSubject = { type: "group", id: place.alice };
    expect(await refusedFields("evaluation", { ...question(), subject: wrongSubject })).toEqual(["subject.id"]);
    for (const body of ["", "{", { ...question(), subject: "alice" }, { ...question(), action: { name: 1 } }]) {
      expect((await post("evaluation", body)).status).toBe(400);
    }
  });

  test("gives conditions the context and the properties of the subject, action and resource", async () => {
    const { org, web: parent, grant } = place;
    const carol = await place.api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
    await grant(parent, carol.path, "/roles/admin", {
      condition:
        'context.ip == "192.0.2.7" && context.subject.team == "blue" && context.action.soft == true && context.resource.state == "archived"',
    });
    const decide = async (ip: string, team: string, soft: boolean, state: string) =>
      (
        await post("evaluation", {
          subject: { type: "member", id: carol.path, properties: { team } },
          action: { ...start, properties: { soft } },
          resource: { ...web(), properties: { state } },
          context: { ip },
        })
      ).body["decision"];
    expect(await decide("192.0.2.7", "blue", true, "archived")).toBe(true);
    expect(await decide("192.0.2.8", "blue", true, "archived")).toBe(false);
    expect(await decide("192.0.2.7", "red", true, "archived")).toBe(false);
    expect(await decide("192.0.2.7", "blue", false, "archived")).toBe(false);
    expect(await decide("192.0.2.7", "blue", true, "active")).toBe(false);
    const large = { ...question(), context: { note: "x".repeat(5000) } };
    expect(await refusedFields("evaluation", large)).toEqual(["context"]);
  });
});

describe("several evaluations", () => {
  const decisions = async (body: object) => {
    const answer = await post("evaluations", body);
    expect([answer.status, answer.body["decision"]]).toEqual([200, undefined]);
    return (answer.body["evaluations"] as { decision: boolean }[]).map(({ decision }) => decision);
  };

  test("return results in the order of the request, and take what they leave out from the request", async () => {
    const evaluations = [{}, { subject: bob() }, { resource: { type: "org", id: place.org.path } }, { action: start }];
    expect(await decisions({ ...question(), evaluations })).toEqual([true, false, false, true]);
    const whole = [question(), { ...question(), subject: bob() }];
    expect(await decisions({ evaluations: whole })).toEqual([true, false]);
  });

  test("use the context of the request if they have none", async () => {
    const { api, org, web: parent, grant } = place;
    const erin = await api.members.createMember({ parentPath: org.path, member: { name: "erin" } });
    await grant(parent, erin.path, "/roles/admin", { condition: 'context.zone == "north"' });
    const asked = { ...question(), subject: { type: "member", id: erin.path } };
    const [north, south] = [{ zone: "north" }, { zone: "south" }];
    const evaluations = [{}, { context: south }, { context: north }];
    expect(await decisions({ ...asked, context: north, evaluations })).toEqual([true, false, true]);
    expect(await decisions({ ...asked, context: south, evaluations })).toEqual([false, false, true]);
  });

  test("stop as the options say", async () => {
    const evaluations = [{}, { subject: bob() }, {}, { subject: bob() }];
    const run = (semantic: string) =>
      decisions({ ...question(), evaluations, options: { evaluations_semantic: semantic, later: 1 } });
    expect(await run("execute_all")).toEqual([true, false, true, false]);
    expect(await run("deny_on_first_deny")).toEqual([true, false]);
    expect(await run("permit_on_first_permit")).toEqual([true]);
    const odd = { ...question(), evaluations, options: { evaluations_semantic: "guess" } };
    expect(await refusedFields("evaluations", odd)).toEqual(["options.evaluations_semantic"]);
  });

  test("with an invalid item are evaluated, and this item is denied with the reason", async () => {
    const { subject, action } = question();
    const evaluations = [{ resource: web() }, {}, { resource: { type: "org", id: place.web } }];
    const { status, body } = await post("evaluations", { subject, action, evaluations });
    expect([status, body]).toEqual([
      200,
      {
        evaluations: [
          { decision: true },
          { decision: false, context: { error: { status: 400, message: expect.stringContaining("resource") } } },
          { decision: false, context: { error: { status: 400, message: expect.stringContaining("resource.id") } } },
        ],
      },
    ]);
  });

  test("without items are a single one", async () => {
    for (const body of [question(), { ...question(), evaluations: [] }]) {
      expect((await post("evaluations", body)).body).toMatchObject({ decision: true });
    }
    const { subject, action } = question();
    expect(await refusedFields("evaluations", { subject, action })).toEqual(["resource"]);
  });

  test("can be up to 1000", async () => {
    const evaluations = Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? {} : { subject: bob() }));
    expect(await decisions({ ...question(), evaluations })).toEqual(evaluations.map((_, index) => index % 2 === 0));
    const tooMany = { ...question(), evaluations: [...evaluations, {}] };
    expect(await refusedFields("evaluations", tooMany)).toEqual(["evaluations"]);
  });
});

describe("a search", () => {
  const search = async (what: string, body: object) => {
    const { status, body: answer } = await post(`search/${what}`, body);
    expect(status).toBe(200);
    return answer as { results: unknown[]; page: { next_token: string } };
  };
  const members = { type: "member" };

  test("for subjects returns the members with access, page by page", async () => {
    const read = { name: "iam.projects.get" };
    const { org, grant } = place;
    const dave = await place.api.members.createMember({ parentPath: org.path, member: { name: "dave" } });
    await grant(place.web, dave.path, "/roles/viewer");
    const body = { subject: members, action: read, resource: web() };
    const first = await search("subject", { ...body, page: { limit: 1 } });
    expect(first.results).toEqual([alice()]);
    const second = await search("subject", { ...body, page: { limit: 1, token: first.page.next_token } });
    expect(second).toEqual({ results: [{ type: "member", id: dave.path }], page: { next_token: "" } });
    // The id is ignored.
    expect((await search("subject", { ...body, subject: bob() })).results).toHaveLength(2);
  });

  test("for subjects and actions on a service covers the org `system`", async () => {
    const { path: id } = await place.api.services.createService({ service: { name: uniqueName("compute") } });
    const { path } = await place.api.members.createMember({
      parentPath: "/orgs/system",
      member: { name: uniqueName("runner") },
    });
    await place.grant(id, path, "/roles/provider");
    const resource = { type: "service", id };
    const runner = { type: "member", id: path };
    const action = { name: "resources.resourceTypes.create" };
    const decide = async (changes: object) =>
      (await post("evaluation", { subject: runner, action, resource, ...changes })).body["decision"];
    expect(await decide({})).toBe(true);
    expect(await decide({ resource: { type: "type", id: `${id}/resourceTypes/disk` } })).toBe(true);
    expect(await decide({ resource: { type: "platform", id: "/" } })).toBe(false);
    const wrong = { subject: runner, action, resource: { type: "service", id: place.org.path } };
    expect(await refusedFields("evaluation", wrong)).toEqual(["resource.id"]);
    expect((await search("subject", { subject: { type: "member" }, action, resource })).results).toContainEqual(runner);
    expect((await search("action", { subject: runner, resource })).results).toEqual([
      ...["claim", "complete", "fail", "report"].map((verb) => ({ name: `resources.operations.${verb}` })),
      ...["create", "delete", "update"].map((verb) => ({ name: `resources.resourceTypes.${verb}` })),
    ]);
  });

  test("for resources returns projects, or the org of the subject", async () => {
    const body = { subject: alice(), action: start };
    expect(await search("resource", { ...body, resource: { type: "project" } })).toEqual({
      results: [web()],
      page: { next_token: "" },
    });
    const orgs = { ...body, resource: { type: "org" } };
    expect((await search("resource", orgs)).results).toEqual([]);
    const read = { ...orgs, action: { name: "iam.orgs.get" } };
    expect((await search("resource", read)).results).toEqual([{ type: "org", id: place.org.path }]);
  });

  test("for actions returns permissions of this service and of the roles of the org", async () => {
    const { api, org } = place;
    const permissions = [startInstance, "storage.buckets.read"];
    await api.roles.createRole({ parentPath: org.path, role: { name: "other-service", permissions } });
    const names = async (subject: object) => {
      const found: string[] = [];
      let token = "";
      do {
        const body = { subject, resource: web(), page: { limit: 20, token } };
        const { results, page } = await search("action", body);
        found.push(...(results as { name: string }[]).map(({ name }) => name));
        token = page.next_token;
      } while (token !== "");
      expect(found).toEqual([...new Set(found)].toSorted());
      return found;
    };
    const ofAlice = await names(alice());
    expect(ofAlice).toEqual(expect.arrayContaining([...permissions, "iam.projects.update"]));
    expect(ofAlice).not.toContain("iam.orgs.delete");
    expect(ofAlice.filter((name) => name.includes("*"))).toEqual([]);
    expect(await names({ type: "member", id: "/orgs/system/members/operator" })).toContain("iam.orgs.delete");
    expect(await names(bob())).toEqual([]);
  });

  test("for an unknown subject, action or resource returns nothing", async () => {
    const nothing = { results: [], page: { next_token: "" } };
    const zed = { type: "member", id: `${place.org.path}/members/zed` };
    expect(await search("subject", { subject: { type: "ship" }, action: start, resource: web() })).toEqual(nothing);
    expect(await search("resource", { subject: zed, action: start, resource: { type: "project" } })).toEqual(nothing);
    expect(await search("resource", { subject: alice(), action: start, resource: { type: "ship" } })).toEqual(nothing);
    expect(await search("action", { subject: zed, resource: web() })).toEqual(nothing);
    const misspelt = { name: "iam.member.get" };
    const everybody = { type: "member" };
    expect(await search("subject", { subject: everybody, action: misspelt, resource: web() })).toEqual(nothing);
    expect(await search("resource", { subject: alice(), action: misspelt, resource: { type: "org" } })).toEqual(
      nothing,
    );
    expect(await search("action", { subject: { type: "user", id: "/orgs/x/members/x" }, resource: web() })).toEqual(
      nothing,
    );
  });

  test("with a missing field is refused, and the error names the field", async () => {
    expect(await refusedFields("search/subject", { subject: members, resource: web() })).toEqual(["action"]);
    expect(await refusedFields("search/resource", { action: start, resource: { type: "project" } })).toEqual([
      "subject",
    ]);
    expect(await refusedFields("search/action", { subject: alice() })).toEqual(["resource"]);
    const noId = { subject: members, action: start, resource: { type: "project" } };
    expect(await refusedFields("search/subject", noId)).toEqual(["resource.id"]);
    const ofPlatform = { subject: members, action: start, resource: { type: "platform", id: "/" } };
    expect(await refusedFields("search/subject", ofPlatform)).toEqual(["resource.id"]);
  });

  test("with a token of another search is refused, and the error names the field", async () => {
    const page = { token: "another" };
    const inProject = { action: start, page, resource: web() };
    expect(await refusedFields("search/subject", { ...inProject, subject: members })).toEqual(["page.token"]);
    const projects = { ...inProject, subject: alice(), resource: { type: "project" } };
    expect(await refusedFields("search/resource", projects)).toEqual(["page.token"]);
    expect(await refusedFields("search/action", { ...inProject, subject: alice() })).toEqual(["page.token"]);
  });
});

describe("a caller", () => {
  const keyOf = async (parentPath: string) =>
    (await place.api.apiKeys.createApiKey({ parentPath, apiKey: { name: `key-${Math.random()}`.replace(".", "") } }))
      .secret ?? "";

  test("needs an API key", async () => {
    expect((await post("evaluation", question(), { authorization: "" })).status).toBe(401);
    expect((await post("search/action", question(), { authorization: "Bearer x" })).status).toBe(401);
  });

  test("needs permission to check access on the resource of every evaluation", async () => {
    const headers = { authorization: `Bearer ${await keyOf(place.bob)}` };
    const org = { type: "org", id: place.org.path };
    const ask = async (endpoint: string, body: object) => (await post(endpoint, body, headers)).status;
    const all = () =>
      Promise.all([
        ask("evaluation", question()),
        ask("evaluations", question()),
        ask("evaluations", { ...question(), evaluations: [{}] }),
        ask("evaluations", { subject: alice(), action: start, evaluations: [{ resource: web() }] }),
        ask("search/subject", { subject: { type: "member" }, action: start, resource: web() }),
        ask("search/action", question()),
      ]);
    expect(await all()).toEqual([403, 403, 403, 403, 403, 403]);
    await place.grant(place.web, place.bob, "/roles/access-checker");
    expect(await all()).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await ask("evaluation", { ...question(), resource: org })).toBe(403);
    expect(await ask("evaluations", { ...question(), evaluations: [{}, { resource: org }] })).toBe(403);
    expect(await ask("search/resource", { ...question(), resource: { type: "project" } })).toBe(403);
    // A default of the request is ignored if every evaluation has its own value.
    expect(await ask("evaluations", { ...question(), resource: org, evaluations: [{ resource: web() }] })).toBe(200);
  });

  test("receives its request id in the response", async () => {
    const { headers } = await post("evaluation", question(), {
      "x-request-id": "bfe9eb29-ab87-4ca3-be83-a1d5d8305716",
    });
    expect(headers.get("x-request-id")).toBe("bfe9eb29-ab87-4ca3-be83-a1d5d8305716");
  });
});

test("the configuration has the URLs of the endpoints, with the host that the client uses", async () => {
  const read = async (headers: Record<string, string>) => {
    const response = await fetch(`${server.url}/.well-known/authzen-configuration`, { headers });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    return (await response.json()) as Record<string, string>;
  };
  const here = await read({});
  expect(here["policy_decision_point"]).toBe(server.url);
  expect((await read({ "x-forwarded-proto": "https" }))["policy_decision_point"]).toBe(
    server.url.replace("http:", "https:"),
  );
  const bodies: Record<string, object> = {
    access_evaluation_endpoint: question(),
    access_evaluations_endpoint: question(),
    search_subject_endpoint: { subject: { type: "member" }, action: start, resource: web() },
    search_resource_endpoint: { subject: alice(), action: start, resource: { type: "project" } },
    search_action_endpoint: question(),
  };
  expect(Object.keys(here).toSorted()).toEqual(["policy_decision_point", ...Object.keys(bodies)].toSorted());
  for (const [name, body] of Object.entries(bodies)) {
    const endpoint = here[name]?.replace(`${server.url}/access/v1/`, "") ?? "";
    expect((await post(endpoint, body)).status).toBe(200);
  }
  const posted = await fetch(`${server.url}/.well-known/authzen-configuration`, { method: "POST" });
  expect(posted.status).toBe(405);
});
