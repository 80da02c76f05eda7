import type { Kysely } from "kysely";
import type { WebhookSchema } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { requireUnlimited } from "../../access/escalation/require-within.ts";
import type { AuthorHolds, Holds } from "../../access/evaluation/author-holds.ts";
import type { TargetPath } from "../../access/evaluation/target-path.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { LogDays } from "../../database/held-log.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, invalidField, invalidFields } from "../../errors/service-error.ts";
import { findUrlProblem } from "../../identity/outgoing/url-problem.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns, singletonPath } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedParentColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { requireIdsInPaths } from "../changes/resolve-paths.ts";
import { changeFields } from "../changes/fields.ts";
import { afterAll } from "../deliveries/lease.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { beginLogsAnew, lockWebhooks, removeDeliveries } from "./logs.ts";
import { type IssuedWebhookRow, toFormatColumn } from "./message.ts";
import { issueKeys } from "./secret.ts";

export interface WebhookDependencies {
  readonly sealer: Pick<Sealer, "seal" | "open">;
  /** The prefixes of addresses, besides public ones, to which webhooks deliver. */
  readonly webhookNetworks: readonly string[];
  readonly logDays: LogDays;
}

export type WebhookRules = ResourceRules<"webhooks", IssuedWebhookRow, typeof WebhookSchema>;

/** The columns with which a webhook begins to try again at once. */
export const tryAtOnce = { attempts: 0, failing_since: null, next_attempt_time: "epoch" } as const;

/** Those of a webhook that begins another request. */
export const nonePending = { pending_time: null, pending_revision: null, pending_position: null } as const;

/** @param of whose webhooks they are. */
export function createWebhookRules(
  dependencies: WebhookDependencies & Pick<ResourceDependencies, "authorHolds">,
  of: "org" | "customer",
): WebhookRules {
  const { sealer, webhookNetworks, authorHolds } = dependencies;

  const termsOf = ({ url, filter, format, holdRetention }: Parameters<NonNullable<WebhookRules["change"]>>[2]) => {
    const problem = findUrlProblem(url, webhookNetworks);
    if (problem !== undefined) throw invalidField("webhook.url", problem, "url");
    requireFilter(filter);
    return { url, filter, format: toFormatColumn(format), hold_retention: holdRetention };
  };

  return {
    scope: of === "org" ? { kind: "parent" } : { kind: "customer", locksOf: (logOfCustomer) => ({ logOfCustomer }) },
    creation: {
      kind: "in org",
      prepare: (transaction, _parents, webhooks, atItem) =>
        mapItems(webhooks, atItem, async (webhook) => {
          const terms = termsOf(webhook);
          const member = await requireMayDeliver(transaction, authorHolds);
          const id = transaction.newId();
          const { secret, ...keys } = issueKeys(sealer, id, webhook.signature);
          const { time, revision } = transaction;
          const cursor = { cursor_time: time, cursor_revision: revision, cursor_position: afterAll };
          const state = { state: "ACTIVE", disabled_reason: null } as const;
          const none = { sealed_previous_secret: null, previous_public_key: null, previous_secret_expire_time: null };
          const secrets = { ...keys, ...none };
          return {
            columns: { id, ...parentOf(transaction, of), ...terms, ...state, ...member, ...secrets, ...cursor },
            joined: { ...joinedParentColumns(transaction), ...(secret !== undefined && { secret }) },
          };
        }),
    },

    async change(transaction, row, webhook) {
      const { url, filter } = webhook;
      const format = toFormatColumn(webhook.format);
      if (url === row.url && filter === row.filter && format === row.format) {
        return { hold_retention: webhook.holdRetention };
      }
      const terms = termsOf(webhook);
      const member = await requireMayDeliver(transaction, authorHolds);
      if (of === "customer") await beginLogsAnew(transaction, row.id);
      return { ...terms, ...member, ...tryAtOnce, ...nonePending };
    },

    async beforeRemove({ db, org }, rows) {
      const ids = rows.map(({ id }) => id);
      // A delivery that ends meanwhile waits, and then records nothing.
      await lockWebhooks(db, org, ids);
      await removeDeliveries(db, org, ids);
    },

    // It shows what its member may see, and gives nobody access.
    revokes: "nothing",
  };
}

/** Returns the columns of a new webhook that say where it is. */
function parentOf({ org, time }: OrgTransaction, of: "org" | "customer") {
  return of === "org" ? {} : { parent_customer_id: org.id, start_time: time };
}

/** The member for which a webhook delivers. */
type DeliveringMember = Pick<IssuedWebhookRow, "member_org_id" | "member_id">;

/**
 * Checks that a webhook may deliver for the author of a change: who reads the log of the org or of the customer, with a credential that has no
 * limit which deliveries would not have.
 *
 * @param called what is to deliver, for errors.
 * @throws ServiceError PERMISSION_DENIED or GRANT_EXCEEDS_OWN
 */
export async function requireMayDeliver(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  called = "a webhook",
): Promise<DeliveringMember> {
  const { author, org } = transaction;
  await requireUnlimited(transaction, `have ${called} deliver for its member`);
  const holds = await authorHolds.now(transaction);
  if (!(await holds(permissionToDeliver, pathOfLog(org)))) {
    const pattern = isLogOfCustomer(org) ? patterns.Customer : patterns.Org;
    const resource = singletonPath("ChangeLog", formatPath(pattern, pathName(org)));
    throw new ServiceError(
      "PERMISSION_DENIED",
      `${called} delivers what its member may see: requires ${permissionToDeliver} on ${resource}`,
      { metadata: { permission: permissionToDeliver, resource } },
    );
  }
  return { member_org_id: required(author.actorOrgId), member_id: required(author.actorId) };
}

/**
 * Returns what a member may do for which something delivers; undefined if it may not list the changes of the org or the customer any more.
 *
 * @param when `now`, or as it would be if the org were neither suspended nor deleted.
 */
export async function holdsToDeliver(
  db: Kysely<Schema>,
  authorHolds: AuthorHolds,
  { customer_id: customerId, org_id: orgId, member_org_id: actorOrgId, member_id: actorId }: Delivering,
  when: "now" | "if active" = "now",
): Promise<Holds | undefined> {
  const author = { actorId, actorOrgId, grantsUntil: null, narrowing: undefined, origin: { credentialId: null } };
  const org = await db.selectFrom("orgs").select("id").where("id", "=", actorOrgId).executeTakeFirst();
  if (org === undefined) return undefined;
  const holds =
    when === "now"
      ? await authorHolds.now({ db, author })
      : await authorHolds.ifActive({ db, author }, await orgsDeletedWith(db, orgId, actorOrgId));
  return (await holds(permissionToDeliver, pathOfLog({ customer_id: customerId, id: orgId }))) ? holds : undefined;
}

/** Returns an org, and the one of a member if both were deleted with their customer: it had its access until then. */
async function orgsDeletedWith(db: Kysely<Schema>, id: string, memberOrgId: string): Promise<readonly string[]> {
  if (id === memberOrgId) return [id];
  const deleted = await db
    .selectFrom("orgs")
    .innerJoin("orgs as others", "others.customer_id", "orgs.customer_id")
    .select("others.id")
    .where("orgs.id", "=", id)
    .where("others.id", "=", memberOrgId)
    .where("orgs.delete_time", "is not", null)
    .where("orgs.deleted_with_customer", "=", true)
    .where("others.delete_time", "is not", null)
    .where("others.deleted_with_customer", "=", true)
    .execute();
  return [id, ...deleted.map((other) => other.id)];
}

interface Delivering {
  readonly customer_id: string;
  /** That of the customer, for what delivers the logs of a customer. */
  readonly org_id: string;
  readonly member_org_id: string;
  readonly member_id: string;
}

const pathOfLog = (key: OrgKey): TargetPath => ({
  pattern: isLogOfCustomer(key) ? patterns.Customer : patterns.Org,
  references: [{ by: "id", value: key.id }],
});

const permissionToDeliver = "iam.changes.list";

/** @throws ServiceError FIELD_INVALID for `webhook.filter`. */
function requireFilter(filter: string): void {
  try {
    requireIdsInPaths(readFilter(filter, changeFields));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.violations.length === 0) throw error;
    throw invalidFields(error.violations.map((each) => ({ ...each, field: `webhook.${each.field}` })));
  }
}
