// The limits of quotas as entries of a file. Each is one by itself: what a file does not name of a quota is neither changed nor removed because
// it names another limit, for without a limit everything may be used.
import { create, isMessage } from "@bufbuild/protobuf";
import { QuotaSchema } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { FileResource } from "./file-resources.ts";

/** A limit, as an entry. */
interface LimitEntry extends FileResource {
  readonly type: "limit";
}

/**
 * Returns the path of a quota.
 *
 * @param level the path below the org of a project; empty for the org.
 */
export const quotaPathOf = (level: string): string => (level === "" ? "quota" : `${level}/quota`);

/** Returns a limit as an entry. Its path has the kind behind that of the quota: `projects/shop/quota/cpu_cores`. */
export function toLimitEntry(level: string, kind: string, limit: number): LimitEntry {
  return {
    type: "limit",
    path: `${quotaPathOf(level)}/${kind}`,
    message: create(QuotaSchema, { limits: { [kind]: limit } }),
  };
}

export interface Limit {
  /** The path below the org of the project whose limit it is; empty for the org. */
  readonly level: string;
  readonly kind: string;
  /** In the base unit of the kind. */
  readonly limit: number;
}

/** Returns the limit of an entry; undefined for an entry of another type. */
export function limitOf({ type, path, message }: FileResource): Limit | undefined {
  if (type !== "limit" || !isMessage(message, QuotaSchema)) return undefined;
  const kind = path.slice(path.lastIndexOf("/") + 1);
  const limit = Object.entries(message.limits).find(([name]) => name === kind)?.[1];
  if (limit === undefined) throw new Error(`${path} has no limit`);
  return { level: levelOfQuota(path.slice(0, -kind.length - 1)), kind, limit };
}

/** Returns the path of the project that a quota is of; empty for the org. */
export const levelOfQuota = (path: string): string => path.replace(/\/?quota$/, "");

/** Returns the path of the resource that an entry is, or is in: the quota of a limit. */
export const resourcePathOf = (path: string): string => path.replace(/^((?:projects\/[^/]+\/)?quota)\/[^/]+$/, "$1");
