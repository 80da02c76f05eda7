// An org in a real database, and the guard against escalation as the service creates it, for tests without a server.
import { dependenciesOf } from "../../src/access/conditions/condition-dependencies.ts";
import { createKnownDependencies } from "../../src/access/conditions/known-dependencies.ts";
import { createEscalationGuard } from "../../src/access/escalation/escalation-guard.ts";
import type { EscalationGuard } from "../../src/access/escalation/guard-types.ts";
import type { PredefinedRoles } from "../../src/access/engine/tables/role-table.ts";
import { createViewAuthor } from "../../src/access/evaluation/author-view.ts";
import { compileWithinBudget } from "../../src/access/evaluation/condition-input.ts";
import { type ScopeKind, scopeTypeOf } from "../../src/access/scope-kinds.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { createOrgHeads } from "../../src/access/snapshots/org-heads.ts";
import type { Author } from "../../src/changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import type { Database } from "../../src/database/database.ts";
import { membershipDefinition } from "../../src/iam/group-members/membership-definition.ts";
import { subgroupDefinition } from "../../src/iam/group-members/subgroup-definition.ts";
import { groupDefinition } from "../../src/iam/groups/definition.ts";
import { projectDefinition } from "../../src/iam/projects/definition.ts";
import { roleBindingDefinition } from "../../src/iam/role-bindings/definition.ts";
import { roleDefinition } from "../../src/iam/roles/definition.ts";
import { createRecentOrgs } from "../../src/identity/recent-orgs.ts";
import { serviceDefinition } from "../../src/resources/services/definition.ts";
import { addOrg, insertMember, insertOne, named, sampleAuthor } from "../database/sample-rows.ts";
import { uniqueName } from "../support/api.ts";

/** A binding of a predefined role or, with a list of permissions, of a new custom role. */
export interface PlacedBinding {
  readonly role: string | readonly string[];
  readonly to: { readonly member: string } | { readonly group: string };
  /** The org by default. */
  readonly on?: { readonly kind: ScopeKind; readonly id: string };
  readonly condition?: string;
  readonly startTime?: Date;
  readonly expireTime?: Date;
}

export interface GuardPlace {
  readonly orgId: string;
  readonly orgName: string;
  readonly customerId: string;
  /** Ids. The group `inner` is nested in `outer`. */
  readonly alice: string;
  readonly bob: string;
  readonly outer: string;
  readonly inner: string;
  readonly web: string;
  readonly shop: string;
  readonly service: string;
  /** The conditions that the guard has parsed. */
  readonly parsed: readonly string[];
  bind(binding: PlacedBinding): Promise<{ readonly id: string; readonly roleId: string | null }>;
  join(group: string, member: string, expireTime?: Date): Promise<void>;
  /** Asks the guard as a member, in a write that changes nothing. */
  ask<Answer>(
    author: Partial<Author> | "service",
    question: (guard: EscalationGuard, transaction: OrgTransaction) => Promise<Answer>,
  ): Promise<Answer>;
}

export async function createGuardPlace(database: Database, predefinedRoles: PredefinedRoles): Promise<GuardPlace> {
  const org = await addOrg(database, uniqueName("acme"));
  const write = <Result>(run: (transaction: OrgTransaction) => Promise<Result>, author = sampleAuthor) =>
    inTransaction(database, (db) => writeInOrg(db, { org: { by: "id", value: org.id } }, author, run));

  const ids = await write(async (transaction) => {
    const group = async (name: string) => (await insertOne(transaction, groupDefinition, {}, named(name))).id;
    const [alice, bob] = [await insertMember(transaction, "alice"), await insertMember(transaction, "bob")];
    const [outer, inner] = [await group("outer"), await group("inner")];
    await insertOne(transaction, subgroupDefinition, { group_id: outer, subgroup_id: inner, description: "" });
    const project = async (name: string) =>
      (await insertOne(transaction, projectDefinition, { state: "ACTIVE" }, named(name))).id;
    const [web, shop] = [await project("web"), await project("shop")];
    const { id: service } = await insertOne(
      transaction,
      serviceDefinition,
      { counted_kinds: [] },
      named(uniqueName("service")),
    );
    return { alice: alice.id, bob: bob.id, outer, inner, web, shop, service };
  });

  const parsed: string[] = [];
  const known = createKnownDependencies((condition) => {
    parsed.push(condition);
    return dependenciesOf(condition);
  });

  return {
    parsed,
    orgId: org.id,
    orgName: org.name,
    customerId: org.customer_id,
    ...ids,

    bind: ({ role, to, on, condition = "", startTime, expireTime }) =>
      write(async (transaction) => {
        const { kind, id } = on ?? { kind: "org", id: org.id };
        const roleName = typeof role === "string" ? role : uniqueName("role");
        const roleId =
          typeof role === "string"
            ? null
            : (await insertOne(transaction, roleDefinition, { permissions: [...role] }, named(roleName))).id;
        const columns = {
          scope_type: scopeTypeOf(kind),
          customer_id: kind === "customer" ? id : null,
          service_id: kind === "service" ? id : null,
          project_id: kind === "project" ? id : null,
          member_id: "member" in to ? to.member : null,
          group_id: "group" in to ? to.group : null,
          predefined_role: roleId === null ? roleName : null,
          role_id: roleId,
          start_time: startTime ?? null,
          expire_time: expireTime ?? null,
          condition,
        };
        const { id: bindingId } = await insertOne(transaction, roleBindingDefinition, columns, named(uniqueName("b")));
        return { id: bindingId, roleId };
      }),

    async join(groupId, memberId, expireTime) {
      const columns = { group_id: groupId, member_id: memberId, expire_time: expireTime ?? null };
      await write((transaction) => insertOne(transaction, membershipDefinition, columns));
    },

    ask(author, question) {
      const snapshots = createSnapshots({
        database,
        readConnections: 4,
        maxBytes: Infinity,
        predefinedRoles,
        compileCondition: compileWithinBudget,
      });
      const viewAuthor = createViewAuthor(snapshots, createOrgHeads(database, createRecentOrgs()));
      const guard = createEscalationGuard(viewAuthor, predefinedRoles, known);
      const asking = author === "service" ? {} : { actorId: ids.alice, actorOrgId: org.id, ...author };
      return write((transaction) => question(guard, transaction), { ...sampleAuthor, ...asking });
    },
  };
}
