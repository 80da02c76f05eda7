// Files that are wrong, or meant to do harm, and callers who may not do what a file says.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { type Company, openCompany } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Files, all, filesOf } from "./files.ts";

let server: SharedServer;
let company: Company;
let other: Company;
let name: string;
let files: Files;
beforeAll(async () => {
  server = await sharedServer();
  company = await openCompany("Connect", server);
  other = await openCompany("Connect", server);
  name = company.org.name;
  const { key } = await company.joinAs("owner", "olive");
  files = filesOf(company.org.path, server.url, key);
  await company.api.members.createMember({ parentPath: other.org.path, member: { name: "victim" } });
});

describe("a file is refused at each place that is wrong", () => {
  const at = (path: string) => `${company.org.path}/${path}`;
  const cases: Record<string, () => readonly [file: JsonObject, fields: Record<string, string>]> = {
    "the name of another org": () => [
      { org: other.org.name },
      { "org_file.org": `must be the name of the org, "${name}"` },
    ],
    "no org": () => [{}, { "org_file.org": "got nothing" }],
    "keys that there are not": () => [
      { org: name, memebers: [], groups: [{ name: "a", labls: {} }] },
      { org_file: "did you mean members?", "org_file.groups[0]": "did you mean labels?" },
    ],
    "other types than there should be": () => [
      { org: name, members: {}, groups: [7], projects: [{ name: "p", labels: "x" }], display_name: [] },
      {
        "org_file.members": "must be a list",
        "org_file.groups[0]": "must be an object",
        "org_file.projects[0].labels": "must be an object, got string",
        "org_file.display_name": "must be a string, got list",
      },
    ],
    "values of other kinds than their fields have": () => [
      {
        org: name,
        members: [{ name: "a", type: "ROBOT", labels: { site: 4 } }],
        groups: [{ name: "g", members: [{ member_path: at("members/olive"), expire_time: "soon" }] }],
        roles: [{ name: "r", permissions: ["iam.orgs.get", {}] }],
      },
      {
        "org_file.members[0].type": 'must be one of USER, APPLICATION, got "ROBOT"',
        'org_file.members[0].labels["site"]': "must be a string, got number",
        "org_file.groups[0].members[0].expire_time":
          'must be a time in RFC 3339, such as "2030-01-31T12:00:00Z", got "soon"',
        "org_file.roles[0].permissions[1]": "must be a string, got object",
      },
    ],
    "what the constraints of the fields refuse": () => [
      {
        org: name,
        members: [{ name: "a", labels: { "": "x" } }],
        roles: [{ name: "No" }, { name: "r", permissions: ["x"] }],
      },
      { "org_file.members[0].labels": "", "org_file.roles[0].name": "", "org_file.roles[1].permissions[0]": "" },
    ],
    "fields that only the service sets, and prototypes": () => [
      JSON.parse(
        `{"org": "${name}", "members": [{"name": "a", "id": "x"}, {"name": "b", "__proto__": {"type": "x"}}], "constructor": 1}`,
      ) as JsonObject,
      { org_file: '"constructor"', "org_file.members[0]": '"id"', "org_file.members[1]": '"__proto__"' },
    ],
    "the same resource twice, with something else": () => [
      { org: name, members: ["a", { name: "A", display_name: "Anna" }], groups: ["g", "g"] },
      { "org_file.members[1]": '"members/a" again, and another one is at org_file.members[0]' },
    ],
    "references to what there is not": () => [
      {
        org: name,
        groups: [
          { name: "g", members: ["nobody"], subgroups: ["none"] },
          { name: "h", parent: "gone" },
        ],
        role_bindings: [{ name: "b", role_path: at("roles/none"), subject_path: at("members/olive") }],
      },
      {
        "org_file.groups[0].members[0].member_path": "there is no members/nobody",
        "org_file.groups[0].subgroups[0].group_path": "there is no groups/none",
        "org_file.groups[1].parent": "there is no groups/gone",
        "org_file.role_bindings[0].role_path": "there is no roles/none",
      },
    ],
    "references into another org": () => [
      {
        org: name,
        groups: [{ name: "g", members: [{ member_path: `${other.org.path}/members/victim` }] }],
        role_bindings: [{ name: "b", role_path: "/roles/owner", subject_path: `${other.org.path}/members/victim` }],
      },
      {
        "org_file.groups[0].members[0].member_path": `must be /orgs/${name}/members/NAME`,
        "org_file.role_bindings[0].subject_path": `must be /orgs/${name}/members/NAME or /orgs/${name}/groups/NAME`,
      },
    ],
    "what cannot change": () => [
      { org: name, members: [{ name: "olive", type: "APPLICATION" }] },
      { "org_file.members[0].type": "cannot change" },
    ],
  };

  test.each(Object.keys(cases))("%s", async (title) => {
    const [file, fields] = cases[title]?.() ?? [{}, {}];
    const failure = await failureOf(files.plan(file));
    expect([failure.code, failure.reason]).toEqual(["InvalidArgument", "FIELD_INVALID"]);
    expect(failure.fields.toSorted()).toEqual(Object.keys(fields).toSorted());
    for (const part of Object.values(fields)) expect(failure.message).toContain(part);
  });

  test("with a hundred of them at most", async () => {
    const failure = await failureOf(files.plan({ org: name, members: Array.from({ length: 5_000 }, () => "") }));
    expect(failure.fields).toHaveLength(100);
  });

  test("and names that cannot be in paths are made up as in an import", async () => {
    const { lines } = await files.plan({ org: name, members: ["Zoë", "BOB"] });
    expect(lines).toEqual(["CREATE members/bob", "CREATE members/zo-2752b88686847fa5"]);
  });
});

test("more than can be changed at once is refused, saying how to split it", async () => {
  const members = Array.from({ length: 5_001 }, (_, index) => `m${index}`);
  const failure = await failureOf(files.plan({ org: name, members }));
  expect([failure.code, failure.reason]).toEqual(["ResourceExhausted", "LIMIT_EXCEEDED"]);
  expect(failure.message).toContain("apply it in parts");
});

describe("who may not make a change may not make it with a file", () => {
  const may = async (who: string, permissions: readonly string[]): Promise<Files> => {
    const { api, org } = company;
    const caller = await company.joinAs("viewer", who);
    const role = await api.roles.createRole({
      parentPath: org.path,
      role: { name: `of-${who}`, permissions: ["iam.orgs.apply", ...permissions] },
    });
    await company.bind(org.path, role.path, caller);
    return filesOf(org.path, server.url, caller.key);
  };

  test("the owner of another org is told nothing", async () => {
    const { key } = await other.joinAs("owner", "otto");
    const theirs = filesOf(company.org.path, server.url, key);
    const file = { org: name, groups: ["x"] };
    const outcomes = [
      failureOf(theirs.plan(file)),
      failureOf(theirs.client.applyOrg({ path: company.org.path, orgFile: file, plan: "x" })),
      failureOf(theirs.export()),
    ];
    expect((await Promise.all(outcomes)).map(({ reason }) => reason)).toEqual(Array(3).fill("PERMISSION_DENIED"));
  });

  const changes: Record<
    string,
    { readonly holds: readonly string[]; readonly lacks: string; readonly edit: (file: JsonObject) => JsonObject }
  > = {
    "create a group": { holds: [], lacks: "iam.groups.create", edit: (file) => ({ ...file, groups: ["new"] }) },
    "change the org": { holds: [], lacks: "iam.orgs.update", edit: (file) => ({ ...file, description: "x" }) },
    "delete what a file leaves out": {
      holds: ["iam.roles.create"],
      lacks: "iam.roleBindings.delete",
      edit: (file) => ({ ...file, roles: [], role_bindings: [] }),
    },
    "change a member": {
      holds: ["iam.members.create"],
      lacks: "iam.members.update",
      edit: (file) => ({ ...file, members: [{ name: "olive", description: "x" }] }),
    },
  };

  test.each(Object.keys(changes))("%s", async (title) => {
    const { holds = [], lacks, edit } = changes[title] ?? { lacks: "", edit: (file: JsonObject) => file };
    const who = title.replaceAll(" ", "-");
    const theirs = await may(who, holds);
    const before = await files.export();
    const wanted = edit(before);
    const prune = title.startsWith("delete") ? all : {};
    const failure = await failureOf(theirs.apply(wanted, prune));
    expect([failure.reason, failure.metadata["permission"]]).toEqual(["PERMISSION_DENIED", lacks]);
    expect(await files.export()).toEqual(before);
  });

  test("nobody gives itself what it does not hold, in steps that each seem allowed", async () => {
    const theirs = await may("sly", [
      "iam.roles.create",
      "iam.groups.create",
      "iam.groupMembers.create",
      "iam.roleBindings.create",
    ]);
    const before = await files.export();
    const path = company.org.path;
    const file = {
      org: name,
      roles: [{ name: "all", permissions: ["iam.members.delete"] }],
      groups: [{ name: "ring", members: ["sly"] }],
      role_bindings: [{ name: "ring-all", role_path: `${path}/roles/all`, subject_path: `${path}/groups/ring` }],
    };
    const failure = await failureOf(theirs.apply(file));
    expect([failure.reason, failure.metadata["permission"]]).toEqual(["GRANT_EXCEEDS_OWN", "iam.members.delete"]);
    expect(await files.export()).toEqual(before);
    // The refusal is in the log of refused calls once, with the method that refused.
    const filter = `caller_path = "${path}/members/sly"`;
    await expect
      .poll(async () => {
        const { accessEvents } = await company.api.accessEvents.listAccessEvents({ parentPath: path, filter });
        return accessEvents.map(({ method, reason, count }) => [method, reason, count]);
      })
      .toEqual([["iam.v1alpha.RolesService/BatchCreateRoles", "GRANT_EXCEEDS_OWN", 1]]);
  });

  test("a condition on labels is not met by those of the org for a project that the file creates", async () => {
    const { api, org, bind, join, joinAs } = await openCompany("Connect", server);
    const { path: parentPath } = org;
    await joinAs("owner");
    const carl = await joinAs("viewer", "carl");
    const { path: subjectPath } = await join("fay");
    const roleOf = async (role: string, permissions: string[]) =>
      (await api.roles.createRole({ parentPath, role: { name: role, permissions } })).path;
    await bind(parentPath, await roleOf("applies", ["iam.orgs.apply", "iam.projects.create"]), carl);
    await bind(parentPath, await roleOf("binds", ["iam.roleBindings.create"]), carl, '!("sealed" in resource.labels)');
    const binding = { name: "fay-viewer", role_path: "/roles/viewer", subject_path: subjectPath };
    const projects = [{ name: "vault", labels: { sealed: "yes" }, role_bindings: [binding] }];
    const failure = await failureOf(filesOf(parentPath, server.url, carl.key).apply({ org: org.name, projects }));
    expect(failure.reason).toBe("PERMISSION_DENIED");
    expect((await api.projects.listProjects({ parentPath })).projects).toEqual([]);
  });

  test("a file without it does not remove the policy for keys", async () => {
    const { api, org, joinAs } = await openCompany("Connect", server);
    const { path } = org;
    const { key } = await joinAs("owner");
    const theirs = filesOf(path, server.url, key);
    const updateMask = { paths: ["api_key_policy"] };
    await api.orgs.updateOrg({ path, org: { apiKeyPolicy: { scopesRequired: true } }, updateMask });
    const { obstacles } = await theirs.plan({ org: org.name, groups: ["g"] });
    expect(obstacles).toEqual([expect.stringContaining("the api_key_policy of the org would be removed")]);
    expect((await failureOf(theirs.apply({ org: org.name, groups: ["g"] }))).reason).toBe("STATE_FORBIDS");
    const whole = await theirs.export();
    expect((await theirs.plan({ ...whole, groups: ["g"] })).obstacles).toEqual([]);
  });

  test("the last owner stays one", async () => {
    const file = await files.export();
    const bindings = (file["role_bindings"] as JsonObject[]).map((each) =>
      each["role_path"] === "/roles/owner" ? { ...each, condition: "context.never" } : each,
    );
    const failure = await failureOf(files.apply({ ...file, role_bindings: bindings }));
    expect(failure.reason).toBe("LAST_OWNER");
  });
});
