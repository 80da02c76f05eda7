// What a write of a role or a binding asks whether its author may give, below the services: with a keeper of its own, that
// writes down what it is asked and can refuse.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "vitest";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import type { Grants } from "../../src/access/grants.ts";
import type { OrgTransaction } from "../../src/changes/write-in-org.ts";
import type { Database } from "../../src/database/database.ts";
import { insertProjects } from "../../src/projects/store.ts";
import { createPageTokens } from "../../src/resource/page-token.ts";
import { createParents } from "../../src/resource/parents.ts";
import { required } from "../../src/resource/required.ts";
import { createRoleBindings } from "../../src/role-bindings/role-bindings.ts";
import { createPredefinedRoles } from "../../src/roles/predefined-roles.ts";
import { createRoles } from "../../src/roles/roles.ts";
import { addMember, addOrg, named, write } from "../database/sample-rows.ts";
import { openTestDatabase } from "../support/test-database.ts";

class Refused extends Error {}

let database: Database;
let org: { readonly id: string; readonly customer_id: string };
let project: string;
let asked: unknown[];
let refuses: boolean;

beforeEach(async () => {
  database = await openTestDatabase();
  org = await addOrg(database, "acme");
  await addMember(database, org, "alice");
  const projects = await write(database, org, (transaction) => insertProjects(transaction, [named("web")]));
  project = required(projects[0]).id;
  [asked, refuses] = [[], false];
});

const ask = (...question: unknown[]): Promise<void> => {
  asked.push(question);
  return refuses ? Promise.reject(new Refused()) : Promise.resolve();
};

const grants: Grants = {
  requireMayGrant: (_transaction, role, scope) => ask("grant", role, scope),
  requireMayDefine: (_transaction, permissions) => ask("define", permissions),
  requireMayJoin: (_transaction, groupId) => ask("join", groupId),
  requireMayActAs: (_transaction, memberId) => ask("act", memberId),
  requireMayRename: (_transaction, renamed) => ask("rename", renamed),
  requireMayRelabel: (_transaction, scope) => ask("relabel", scope),
};

const dependencies = () => ({
  database,
  grants,
  previewAccess: () => Promise.reject(new Error("nothing is only checked here")),
  predefinedRoles: createPredefinedRoles([]),
  installation: { systemOrgId: org.id, operatorId: "", pageTokenKey: Buffer.alloc(32) },
  pageTokens: createPageTokens(Buffer.alloc(32)),
  parents: createParents(database),
  limits: {},
  retentionDays: 30,
  now: () => new Date(),
});

const byId = (value: string) => ({ by: "id", value }) as const;
const binding = (fields: object = {}) =>
  create(RoleBindingSchema, {
    name: "one",
    rolePath: "/roles/viewer",
    subjectPath: "/orgs/acme/members/alice",
    ...fields,
  });

const inOrg = <Result>(run: (transaction: OrgTransaction) => Promise<Result>) => write(database, org, run);

describe("a binding", () => {
  const parents = {
    org: () => [byId(org.id)],
    project: () => [byId(org.id), byId(project)],
    customer: () => [byId(org.customer_id)],
    platform: () => [],
  };
  const ids = { org: () => org.id, project: () => project, customer: () => org.customer_id, platform: () => "" };

  test.each(["org", "project", "customer", "platform"] as const)(
    "on a %s asks for its role there, and again when it comes to hold otherwise",
    async (kind) => {
      const index = ["org", "project", "customer", "platform"].indexOf(kind);
      const resource = required(createRoleBindings(dependencies())[index]);
      const question = ["grant", { predefined: "viewer" }, { kind, id: ids[kind]() }];
      let row = await inOrg((transaction) => required(resource.insert)(transaction, parents[kind](), binding()));
      expect(asked).toEqual([question]);

      const update = async (fields: object) => {
        const message = { ...resource.toMessage(row), ...fields };
        asked = [];
        row = await inOrg((transaction) => required(resource.update)(transaction, row, message));
        return asked;
      };
      expect(await update({ description: "why", name: "two", labels: { a: "b" } })).toEqual([]);
      const time = timestampFromDate(new Date("2100-01-01"));
      expect(await update({ expireTime: time })).toEqual([question]);
      expect(await update({ description: "still" })).toEqual([]);
      expect(await update({ startTime: timestampFromDate(new Date("2090-01-01")) })).toEqual([question]);
      expect(await update({ condition: "context.vip" })).toEqual([question]);
      expect(await update({ startTime: undefined, expireTime: undefined, condition: "" })).toEqual([question]);
    },
  );

  test("of a role of the org asks for that one", async () => {
    const role = await inOrg((transaction) =>
      required(createRoles(dependencies()).insert)(transaction, [], create(RoleSchema, { name: "deployer" })),
    );
    asked = [];
    const [resource] = createRoleBindings(dependencies());
    const message = binding({ rolePath: "/orgs/acme/roles/deployer" });
    await inOrg((transaction) => required(resource?.insert)(transaction, parents.org(), message));
    expect(asked).toEqual([["grant", { id: role.id }, { kind: "org", id: org.id }]]);
  });

  test("is not made when the answer is no", async () => {
    refuses = true;
    const [resource] = createRoleBindings(dependencies());
    const insert = inOrg((transaction) => required(resource?.insert)(transaction, parents.org(), binding()));
    await expect(insert).rejects.toThrow(Refused);
    expect(await database.reads.selectFrom("role_bindings").select("id").execute()).toEqual([]);
  });
});

describe("a role", () => {
  test("asks for the permissions that it comes to hold, and for none that it loses", async () => {
    const resource = createRoles(dependencies());
    const role = (permissions: string[]) => create(RoleSchema, { name: "deployer", permissions });
    let row = await inOrg((transaction) => required(resource.insert)(transaction, [], role(["a.b.c", "a.b.d"])));
    expect(asked).toEqual([["define", ["a.b.c", "a.b.d"]]]);
    const update = async (permissions: string[]) => {
      asked = [];
      row = await inOrg((transaction) => required(resource.update)(transaction, row, role(permissions)));
      return asked;
    };
    expect(await update(["a.b.d", "a.b.e", "a.b.c"])).toEqual([["define", ["a.b.e"]]]);
    expect(await update(["a.b.e"])).toEqual([]);
    refuses = true;
    await expect(update(["a.b.e", "a.b.f"])).rejects.toThrow(Refused);
  });
});
