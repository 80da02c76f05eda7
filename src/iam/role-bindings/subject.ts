import type { Transaction } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { customerDefinition } from "../customers/definition.ts";
import type { Schema } from "../../database/schema.ts";
import { deleted, invalidField, notFound } from "../../errors/service-error.ts";
import type { LookupInTransaction } from "../../database/path-lookup.ts";
import type { Later } from "../../database/write-transaction.ts";
import type { GroupRow } from "../groups/store.ts";
import type { MemberRow } from "../members/store.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { isSamePattern, patterns } from "../../paths/patterns.ts";
import { type Reference, parseAnyPath } from "../../paths/parse-path.ts";
import { lookUpInOrg } from "../../standard-methods/look-up-in-org.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import type { RoleBindingRow } from "./store.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";

const field = "role_binding.subject_path";

/** The lookups of those that can hold a role. */
export interface SubjectLookups {
  readonly members: LookupInTransaction<MemberRow>;
  readonly groups: LookupInTransaction<GroupRow>;
}

export interface BoundSubject {
  readonly columns: Pick<RoleBindingRow, "member_id" | "group_id">;
  /** What the path of the subject needs. */
  readonly joined: Pick<RoleBindingRow, "member_name" | "member_delete_time" | "group_name">;
}

/**
 * Finds the members and groups that new bindings name, in the org of the write, together with the next statement: a function for
 * each that returns the subject, or throws.
 *
 * @throws ServiceError (the functions) PATH_INVALID, FIELD_INVALID, RESOURCE_NOT_FOUND or STATE_FORBIDS.
 */
export function findBoundSubjects(
  transaction: OrgTransaction,
  { members, groups }: SubjectLookups,
  texts: readonly string[],
): Later<(() => BoundSubject)[]> {
  const findingGroups = lookUpInOrg(transaction, groups, patterns.Group, parseSubjectPath, texts);
  const findingMembers = lookUpInOrg(transaction, members, patterns.Member, parseSubjectPath, texts);
  const subjectOf = (text: string, group: GroupRow | undefined, member: MemberRow | undefined): BoundSubject => {
    const { pattern, references } = parseSubjectPath(text);
    requireSameOrg(transaction, required(references[0]), field);
    if (group !== undefined) return ofGroup(group);
    if (member === undefined) {
      throw notFound(
        isSamePattern(pattern, patterns.Group) ? "group" : "member",
        formatReferences(pattern, references),
      );
    }
    if (member.delete_time !== null) throw deleted("member", formatReferences(pattern, references));
    return ofMember(member);
  };
  return () => {
    const [groupAt, memberAt] = [findingGroups(), findingMembers()];
    return texts.map((text) => () => subjectOf(text, groupAt.get(text), memberAt.get(text)));
  };
}

function ofGroup({ id, name }: GroupRow): BoundSubject {
  return {
    columns: { member_id: null, group_id: id },
    joined: { member_name: null, member_delete_time: null, group_name: name },
  };
}

function ofMember({ id, name, delete_time }: MemberRow): BoundSubject {
  return {
    columns: { member_id: id, group_id: null },
    joined: { member_name: name, member_delete_time: delete_time, group_name: null },
  };
}

/**
 * Returns the ids of a customer and of the org of the subject of a binding on it. Does not reveal whether an org outside of the customer exists.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND when there is no such customer, FIELD_INVALID when the org is not one of the
 *   customer's.
 */
export async function findOrgOfCustomer(
  db: Transaction<Schema>,
  customerReference: Reference,
  subjectPath: string,
): Promise<{ readonly customerId: string; readonly orgId: string }> {
  const customer = await findRow(db, customerDefinition, [customerReference]);
  if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, [customerReference]));
  const org = await findRow(db, orgDefinition, parseSubjectPath(subjectPath).references.slice(0, 1));
  if (org?.customer_id === customer.id) return { customerId: customer.id, orgId: org.id };
  throw invalidField(field, `must be in one of the orgs of ${customerPath(customer)}`, "same_customer");
}

/**
 * Returns the org of the subject of a binding on the platform or a service.
 *
 * @throws ServiceError FIELD_INVALID when it is not the installation's own org.
 */
export async function requireSystemOrg(
  db: Transaction<Schema>,
  systemOrgId: string,
  subjectPath: string,
): Promise<Reference> {
  const org = await findRow(db, orgDefinition, parseSubjectPath(subjectPath).references.slice(0, 1));
  if (org?.id === systemOrgId) return { by: "id", value: systemOrgId };
  throw invalidField(field, "must be in the org of the installation's operator", "system_org");
}

const parseSubjectPath = (text: string) => parseAnyPath([patterns.Member, patterns.Group], text, field);
