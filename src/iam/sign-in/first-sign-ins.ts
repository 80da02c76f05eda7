// A person whom nobody has linked signs in at a provider that creates members. The member, its identity and its memberships are made in one
// transaction, under the lock of the org, by the rule of the provider as it is then, and by what its author may do then. The log has them as made by
// the member itself.
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "../../../gen/iam/v1alpha/identity_pb.ts";
import { MemberSchema } from "../../../gen/iam/v1alpha/member_pb.ts";
import { evaluateClaimsRule, readRuledClaims } from "../../access/conditions/claims-rule.ts";
import { type Origin, serviceAuthor } from "../../changes/author.ts";
import { type OrgTransaction, beginWrite, endWrite, inTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { readPersonClaims } from "../../identity/oidc/provider-client.ts";
import { limitExceeded, type Limits } from "../../standard-methods/definition/limits.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import type { GroupJoins } from "../group-members/invited-groups.ts";
import type { Sponsors } from "../group-members/sponsor.ts";
import { identityDefinition } from "../identities/definition.ts";
import { permissionToInvite } from "../identity-providers/first-sign-in.ts";
import { memberDefinition } from "../members/definition.ts";
import { signInAuthor } from "./browser-sessions.ts";
import { baseName, displayNameIn, namesLike, vouchedEmail } from "./newcomer-names.ts";
import {
  type FirstSignInRow,
  isAddressTaken,
  isLinkedElsewhere,
  readFirstSignIn,
  readTakenNames,
} from "./newcomer-store.ts";
import type { Newcomer } from "./provider-sign-in.ts";
import { type LinkedIdentity, findIdentities } from "./provider-store.ts";

/** Why no member is created for a person. */
export type NewcomerRefusal =
  /** The rule is false, or the provider creates nobody any more. */
  | "NOT_LET_IN"
  /** A SCIM source says who is a member of the org. */
  | "ORG_HAS_DIRECTORY"
  /** A member of the org has an identity of the person, of another provider of the same issuer. */
  | "LINKED_ELSEWHERE"
  /** The rule fails, or the claims are more than it may see. */
  | "RULE_FAILED"
  /** Who has set the rule may not invite people, or add members to its groups, any more. */
  | "AUTHOR_LOST_ACCESS"
  /** A member of the org has the address of the person. */
  | "ADDRESS_TAKEN";

export interface FirstSignIns {
  /**
   * Creates a member for a person, unless somebody has linked it meanwhile.
   *
   * @returns the identities with which the person signs in, or why there is none.
   * @throws ServiceError LIMIT_EXCEEDED when the org is full, RESOURCE_NOT_FOUND or STATE_FORBIDS when it is not active, GRANT_INVALID.
   */
  enter(newcomer: Newcomer, origin: Origin): Promise<readonly LinkedIdentity[] | NewcomerRefusal>;
}

interface FirstSignInDependencies {
  readonly database: Database;
  readonly systemOrgId: string;
  readonly limits: Limits;
  readonly sponsors: Pick<Sponsors, "lookAt">;
  readonly joins: GroupJoins;
}

const method = "tenantry/first-sign-in";

export function createFirstSignIns(dependencies: FirstSignInDependencies): FirstSignIns {
  const { database, systemOrgId } = dependencies;
  return {
    async enter(newcomer, origin) {
      const { provider, subject, claims } = newcomer;
      // Somebody who is not let in takes no lock.
      const refusal = judge(provider.first_sign_in_condition, claims);
      if (refusal !== undefined) return refusal;
      return inTransaction(database, async (db) => {
        const locks = { org: { by: "id", value: provider.org_id } } as const;
        const begun = await beginWrite(db, locks, { ...serviceAuthor(method), origin });
        const linked = await findIdentities(db, provider, systemOrgId, subject);
        if (linked.length > 0) return linked;
        const now = await readFirstSignIn(begun, provider.id);
        const changed = await findRefusal(dependencies, begun, newcomer, now);
        if (changed !== undefined) return changed;
        return createMember(dependencies, begun, newcomer, required(now), origin);
      });
    },
  };
}

/** Returns why a person is not let in by a rule; undefined if it is. */
function judge(condition: string, claims: Newcomer["claims"]): NewcomerRefusal | undefined {
  const ruled = readRuledClaims(claims);
  if (ruled === undefined) return "RULE_FAILED";
  try {
    return evaluateClaimsRule(condition, ruled) ? undefined : "NOT_LET_IN";
  } catch {
    return "RULE_FAILED";
  }
}

/** Returns why a person is not let in, as things are under the lock of the org; undefined if it is. */
async function findRefusal(
  { sponsors, systemOrgId }: FirstSignInDependencies,
  transaction: OrgTransaction,
  newcomer: Newcomer,
  now: FirstSignInRow | undefined,
): Promise<NewcomerRefusal | undefined> {
  const { provider, claims } = newcomer;
  const { first_sign_in_author_org_id: orgId, first_sign_in_author_id: memberId } = now ?? {};
  if (now === undefined || !now.creates_members || !orgId || !memberId) return "NOT_LET_IN";
  if (now.has_directory) return "ORG_HAS_DIRECTORY";
  if (await isLinkedElsewhere(transaction, newcomer, systemOrgId)) return "LINKED_ELSEWHERE";
  if (now.first_sign_in_condition !== provider.first_sign_in_condition) {
    const refusal = judge(now.first_sign_in_condition, claims);
    if (refusal !== undefined) return refusal;
  }
  const sponsor = await sponsors.lookAt(transaction, { orgId, memberId });
  if (!(await sponsor.holds(permissionToInvite))) return "AUTHOR_LOST_ACCESS";
  for (const groupId of now.group_ids) {
    if (!(await sponsor.mayAddTo(groupId))) return "AUTHOR_LOST_ACCESS";
  }
  const email = vouchedEmail(readPersonClaims(claims), now.email_trusted);
  return email !== null && (await isAddressTaken(transaction, email)) ? "ADDRESS_TAKEN" : undefined;
}

async function createMember(
  { limits, joins }: FirstSignInDependencies,
  begun: OrgTransaction,
  { subject, claims }: Newcomer,
  provider: FirstSignInRow,
  origin: Origin,
): Promise<LinkedIdentity[]> {
  const { org } = begun;
  const memberId = begun.newId();
  const transaction = { ...begun, author: signInAuthor({ orgId: org.id, memberId }, method, origin) };
  await insertMember(transaction, limits, memberId, claims, provider);
  const identityId = await insertIdentity(transaction, memberId, subject, provider);
  const author = {
    orgId: required(provider.first_sign_in_author_org_id),
    memberId: required(provider.first_sign_in_author_id),
  };
  await joins.join(transaction, memberId, provider.group_ids, author);
  await endWrite(transaction);
  return [{ identityId, gen: null, usable: true }];
}

async function insertMember(
  transaction: OrgTransaction,
  limits: Limits,
  id: string,
  claims: Newcomer["claims"],
  { email_trusted: isTrusted }: FirstSignInRow,
): Promise<void> {
  const { db, org, revision, time, newId } = transaction;
  const names = namesLike(baseName(claims), randomBytes(5).toString("hex"));
  const taken = await readTakenNames(transaction, names);
  const name = names.find((each) => !taken.has(each));
  if (name === undefined) throw new ServiceError("GRANT_INVALID", "no name is left for a new member; sign in again");
  const fields = create(MemberSchema, { name, displayName: displayNameIn(claims, name) });
  const email = vouchedEmail(readPersonClaims(claims), isTrusted);
  const columns = { id, type: "USER", state: "ACTIVE", invitation_expire_time: null, email } as const;
  const target = { db, org, revision, time, newId };
  const { rows, counts } = await insertRows(target, memberDefinition, [{ fields, columns }]);
  const limit = limits[memberDefinition.type] ?? Infinity;
  if ((counts.get(org.id) ?? 0) > limit) throw limitExceeded(memberDefinition, `/orgs/${org.name}`, limit);
  const [row] = await readByKeys(db, memberDefinition, rows);
  recordChange(transaction, memberDefinition, null, required(row));
}

async function insertIdentity(
  transaction: OrgTransaction,
  memberId: string,
  subject: string,
  provider: FirstSignInRow,
): Promise<string> {
  const { db, org, revision, time, newId } = transaction;
  const columns = {
    member_id: memberId,
    provider_id: provider.id,
    subject,
    creator_org_id: org.id,
    creator_id: memberId,
    accept_time: null,
  };
  const fields = create(IdentitySchema, { name: provider.name, displayName: provider.display_name });
  const { rows } = await insertRows({ db, org, revision, time, newId }, identityDefinition, [{ fields, columns }]);
  const [row] = await readByKeys(db, identityDefinition, rows);
  recordChange(transaction, identityDefinition, null, required(row));
  return required(row).id;
}
