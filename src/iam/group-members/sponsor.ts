// Somebody who lets others join groups that it names, which happens later: by an invitation, or by the rule of an identity provider. It may do that
// for as long as it may add members to these groups by hand.
import type { EscalationGuard } from "../../access/escalation/guard-types.ts";
import { requireUnlimited } from "../../access/escalation/require-within.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { type Author, serviceAuthor } from "../../changes/author.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { groupDefinition } from "../groups/definition.ts";
import type { GroupRow } from "../groups/store.ts";

export interface Sponsor {
  readonly orgId: string;
  readonly memberId: string;
}

export interface Sponsors {
  /**
   * Finds the groups that the author of a change names, and checks that it may add members to them. Its credential must have no limits: others
   * join when the call is over.
   *
   * @param texts the paths of the groups.
   * @param field of the request that has them.
   * @throws ServiceError PATH_INVALID, FIELD_INVALID, RESOURCE_NOT_FOUND, PERMISSION_DENIED or GRANT_EXCEEDS_OWN
   */
  findGroups(transaction: OrgTransaction, texts: readonly string[], field: string): Promise<GroupRow[]>;
  /** Returns what a sponsor may do in the org of a write now. */
  lookAt(transaction: OrgTransaction, sponsor: Sponsor): Promise<SponsorNow>;
}

export interface SponsorNow {
  /** Reports whether it holds a permission on the org. */
  holds(permission: string): Promise<boolean>;
  /** Reports whether it may add members to a group. */
  mayAddTo(groupId: string): Promise<boolean>;
}

const permissionToAdd = "iam.groupMembers.create";

export function createSponsors({
  authorHolds,
  escalation,
  readers,
}: Pick<ResourceDependencies, "authorHolds" | "escalation" | "readers">): Sponsors {
  const groups = readers.readerOf(groupDefinition, groupDefinition.places[0]);
  return {
    async findGroups(transaction, texts, field) {
      if (texts.length === 0) return [];
      const found = new Map<string, GroupRow>();
      await requireUnlimited(transaction, "let others join groups later");
      const holds = await authorHolds.now(transaction);
      for (const [index, text] of texts.entries()) {
        const path = parseResourcePath(patterns.Group, text, `${field}[${index}]`);
        requireSameOrg(transaction, required(path[0]), `${field}[${index}]`);
        const group = await groups.find(transaction.db, path);
        await requireMayAdd(holds, path, group);
        if (group === undefined) throw notFound("group", formatReferences(patterns.Group, path));
        if (found.has(group.id))
          throw invalidField(`${field}[${index}]`, "names a group that another one names", "unique");
        found.set(group.id, group);
      }
      await escalation.requireMayJoin(transaction, [...found.keys()]);
      return [...found.values()];
    },

    async lookAt(transaction, sponsor) {
      const { db, org } = transaction;
      const ofSponsor = await db.selectFrom("orgs").select("id").where("id", "=", sponsor.orgId).executeTakeFirst();
      if (ofSponsor === undefined) return mayNothing;
      const asSponsor = { ...transaction, author: authorOf(sponsor, transaction.author), authorHead: undefined };
      const holds = await authorHolds.now(asSponsor);
      return {
        holds: (permission) => holds(permission, { pattern: patterns.Org, references: [byId(org.id)] }),
        async mayAddTo(groupId) {
          const path = { pattern: patterns.Group, references: [byId(org.id), byId(groupId)] };
          return (await holds(permissionToAdd, path)) && mayJoin(escalation, asSponsor, groupId);
        },
      };
    },
  };
}

const mayNothing: SponsorNow = { holds: () => Promise.resolve(false), mayAddTo: () => Promise.resolve(false) };

const byId = (value: string): Reference => ({ by: "id", value });

/** Returns a sponsor as the author of a change that another one makes. What it used then had no limits. */
export function authorOf({ orgId, memberId }: Sponsor, { method }: Pick<Author, "method">): Author {
  return { ...serviceAuthor(method), actorId: memberId, actorOrgId: orgId };
}

/** A group that does not exist is told to those alone who could add to any. */
async function requireMayAdd(holds: Holds, path: readonly Reference[], group: GroupRow | undefined): Promise<void> {
  const [pattern, references] =
    group === undefined ? [patterns.Org, path.slice(0, 1)] : [patterns.Group, [byId(group.org_id), byId(group.id)]];
  if (await holds(permissionToAdd, { pattern, references })) return;
  const resource = formatReferences(patterns.Group, path);
  const message = `the caller lacks the permission ${permissionToAdd} on ${resource} (or it might not exist): who lets others join a group must be able to add members to it`;
  throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: permissionToAdd, resource } });
}

async function mayJoin(escalation: EscalationGuard, asSponsor: OrgTransaction, groupId: string): Promise<boolean> {
  try {
    await escalation.requireMayJoin(asSponsor, [groupId]);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "GRANT_EXCEEDS_OWN") return false;
    throw error;
  }
}
