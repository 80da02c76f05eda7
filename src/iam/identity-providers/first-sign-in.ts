// What an identity provider does with people whom nobody has linked. Who lets it create members is their sponsor: it may invite people and add
// them to the groups by hand, when it sets that and for as long as it holds.
import {
  type IdentityProvider,
  IdentityProvider_OnFirstSignIn,
} from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { checkClaimsRule } from "../../access/conditions/claims-rule.ts";
import { requireUnlimited } from "../../access/escalation/require-within.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { GroupRow } from "../groups/store.ts";
import type { Sponsors } from "../group-members/sponsor.ts";
import { toIdentityProvider } from "./message.ts";
import { requireNoSource } from "./one-way-in.ts";
import type { IdentityProviderRow } from "./store.ts";

const fields = {
  on: "identity_provider.on_first_sign_in",
  condition: "identity_provider.first_sign_in_condition",
  groups: "identity_provider.first_sign_in_group_paths",
} as const;

/** The permission with which somebody brings people into an org. */
export const permissionToInvite = "iam.members.invite";

/** What a message says about first sign-ins. */
type FirstSignIn = Pick<IdentityProvider, "onFirstSignIn" | "firstSignInCondition" | "firstSignInGroupPaths">;

/**
 * Checks the condition of a message.
 *
 * @throws ServiceError FIELD_INVALID
 */
export function requireCondition({ firstSignInCondition: condition, onFirstSignIn }: FirstSignIn): void {
  if (condition === "") {
    if (!creates(onFirstSignIn)) return;
    const rule =
      'must be set with CREATE, for example claims.hd == "acme.example"; true lets everybody in who can sign in';
    throw invalidField(fields.condition, rule, "condition");
  }
  const problem = checkClaimsRule(condition);
  if (problem !== undefined) throw invalidField(fields.condition, problem, "condition");
}

const creates = (on: IdentityProvider_OnFirstSignIn): boolean => on === IdentityProvider_OnFirstSignIn.CREATE;

type FirstSignInColumns = Pick<
  IdentityProviderRow,
  | "creates_members"
  | "first_sign_in_condition"
  | "first_sign_in_group_ids"
  | "first_sign_in_author_org_id"
  | "first_sign_in_author_id"
>;

interface NewFirstSignIn {
  readonly columns: FirstSignInColumns;
  readonly groups: readonly GroupRow[];
}

type Dependencies = Pick<ResourceDependencies, "authorHolds" | "installation"> & { readonly sponsors: Sponsors };

/**
 * Returns the columns of what a message says about first sign-ins. The author of the change becomes the one by whose access members are created.
 *
 * @throws ServiceError FIELD_INVALID, PATH_INVALID, RESOURCE_NOT_FOUND, STATE_FORBIDS, PERMISSION_DENIED or GRANT_EXCEEDS_OWN
 */
export async function readFirstSignIn(
  transaction: OrgTransaction,
  dependencies: Dependencies,
  message: FirstSignIn,
): Promise<NewFirstSignIn> {
  const { author, org } = transaction;
  const { firstSignInCondition: first_sign_in_condition, firstSignInGroupPaths } = message;
  const createsMembers = creates(message.onFirstSignIn);
  if (createsMembers) {
    if (org.id === dependencies.installation.systemOrgId) throw servesAll();
    await requireMayInvite(transaction, dependencies);
    await requireNoSource(transaction);
  }
  const groups = await dependencies.sponsors.findGroups(transaction, firstSignInGroupPaths, fields.groups);
  return {
    columns: {
      creates_members: createsMembers,
      first_sign_in_condition,
      first_sign_in_group_ids: groups.map(({ id }) => id),
      first_sign_in_author_org_id: createsMembers ? author.actorOrgId : null,
      first_sign_in_author_id: createsMembers ? author.actorId : null,
    },
    groups,
  };
}

/** @throws ServiceError PERMISSION_DENIED or GRANT_EXCEEDS_OWN */
async function requireMayInvite(transaction: OrgTransaction, { authorHolds }: Dependencies): Promise<void> {
  const { org } = transaction;
  await requireUnlimited(transaction, "let an identity provider create members");
  const holds = await authorHolds.now(transaction);
  if (!(await holds(permissionToInvite, { pattern: patterns.Org, references: [{ by: "id", value: org.id }] }))) {
    throw mayNotInvite(formatPath(patterns.Org, pathName(org)));
  }
}

/** What decides of whom a rule is true, and what the members get whom it lets in. */
type Rule = FirstSignIn & Pick<IdentityProvider, "scopes" | "emailTrusted">;

/**
 * Does so for an update. Returns no columns if whose access counts stays. To let nobody in any more takes nothing but the permission to change the
 * provider; a rule, also one that waits to be set again, is changed by those alone who may set it, and so is what it sees.
 */
export async function changeFirstSignIn(
  transaction: OrgTransaction,
  dependencies: Dependencies,
  row: IdentityProviderRow,
  message: Rule,
): Promise<Partial<FirstSignInColumns>> {
  const before = toIdentityProvider(row);
  const hasRule = before.firstSignInCondition !== "";
  const seesTheSame = before.emailTrusted === message.emailTrusted && isSameList(before.scopes, message.scopes);
  const isSame =
    before.firstSignInCondition === message.firstSignInCondition &&
    isSameList(before.firstSignInGroupPaths, message.firstSignInGroupPaths) &&
    (seesTheSame || !hasRule);
  if (isSame && !creates(message.onFirstSignIn)) return creates(before.onFirstSignIn) ? letNobodyIn : {};
  if (isSame && creates(before.onFirstSignIn)) return {};
  if (!creates(message.onFirstSignIn)) await requireMayInvite(transaction, dependencies);
  requireCondition(message);
  return (await readFirstSignIn(transaction, dependencies, message)).columns;
}

const isSameList = (some: readonly string[], others: readonly string[]): boolean => some.join(" ") === others.join(" ");

const letNobodyIn = {
  creates_members: false,
  first_sign_in_author_org_id: null,
  first_sign_in_author_id: null,
} as const;

function servesAll(): ServiceError {
  const rule =
    "must be REFUSE in the org system: its identity providers serve all orgs, and create members in none; use one of the org";
  return invalidField(fields.on, rule, "on_first_sign_in");
}

function mayNotInvite(resource: string): ServiceError {
  const message = `who lets an identity provider create members must be able to invite people: requires ${permissionToInvite} on ${resource}`;
  return new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: permissionToInvite, resource } });
}
