// The levels that have a quota: a project, the org that contains it, and the customer of that. What is used counts at all of them.
import { useQuery } from "@connectrpc/connect-query";
import { type Quota, QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { useOrg } from "../../calls/use-org.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { amountOf } from "../../ui/amount.ts";
import type { Answer } from "../../ui/notes.tsx";

export type LevelKind = "project" | "org" | "customer";

export interface QuotaLevel {
  readonly kind: LevelKind;
  /** Such as `/orgs/acme`. */
  readonly path: string;
  readonly quota: Answer<Quota>;
  /** Whether the person may not see it. */
  readonly hidden: boolean;
  readonly permissions: Permissions;
}

/** The quota of something, and those above it. */
export interface Levels {
  readonly own: QuotaLevel;
  /** From the nearest on. */
  readonly above: readonly QuotaLevel[];
  /** What the person may do where limits of its own quota are raised: one level above. */
  readonly raising: Permissions;
}

export const levelOf = (path: string): LevelKind =>
  path.startsWith("/customers/") ? "customer" : path === orgOf(path) ? "org" : "project";

const permissionsOfLevel = ["iam.quotas.get", "iam.quotas.update", "iam.quotaRequests.create"];

/** Reads the quotas of a customer, org or project, and of what contains it. */
export function useLevels(path: string): Levels {
  const kind = levelOf(path);
  const org = orgOf(path);
  const customer = useOrg(org).org?.customerPath || undefined;
  const own = useLevel(kind, path, true);
  const ofOrg = useLevel("org", kind === "project" ? org : undefined, false);
  const ofCustomer = useLevel("customer", kind === "customer" ? undefined : customer, false);
  const ofPlatform = usePermissions("", ["iam.quotas.update"], kind === "customer");
  const above = [ofOrg, ofCustomer].filter((level) => level !== undefined);
  return { own, above, raising: above[0]?.permissions ?? ofPlatform };
}

function useLevel(kind: LevelKind, path: string, own: true): QuotaLevel;
function useLevel(kind: LevelKind, path: string | undefined, own: false): QuotaLevel | undefined;
/** Reads a quota. One that is not the screen's own is read only by people who may: what is refused is in a log. */
function useLevel(kind: LevelKind, path: string | undefined, own: boolean): QuotaLevel | undefined {
  const permissions = usePermissions(path ?? "", permissionsOfLevel, path !== undefined);
  const may = permissions.may("iam.quotas.get");
  const enabled = path !== undefined && (own || may === true);
  const quota = useQuery(QuotasService.method.getQuota, { parentPath: path ?? "" }, { enabled, retry: false });
  return path === undefined ? undefined : { kind, path, quota, hidden: !own && may === false, permissions };
}

/** What could be used of a kind in addition, and which level leaves no more. */
export interface Left {
  /** Negative if a limit is below what is used. */
  readonly amount: number;
  readonly level: QuotaLevel;
}

/** Returns what the levels that the person sees leave of a kind; undefined if none of them has a limit. */
export function leftOf({ own, above }: Levels, kind: string): Left | undefined {
  let least: Left | undefined;
  for (const level of [own, ...above]) {
    const { limits = {}, usage = {}, reserved = {} } = level.quota.data ?? {};
    const limit = amountOf(limits, kind);
    if (limit === undefined) continue;
    const amount = limit - (amountOf(usage, kind) ?? 0) - (amountOf(reserved, kind) ?? 0);
    if (least === undefined || amount < least.amount) least = { amount, level };
  }
  return least;
}
