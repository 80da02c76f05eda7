// Reads the limits that a file names for the org or a project: `quota: {cpu_cores: 1000, ram: 2147483648}`.
import { type JsonValue, create } from "@bufbuild/protobuf";
import { QuotaSchema } from "../../gen/iam/v1alpha/quota_pb.ts";
import { mapEntry } from "../errors/map-entry.ts";
import { ServiceError } from "../errors/service-error.ts";
import { validateMessage } from "../validation/validate-message.ts";
import { describe, isObject } from "./json-values.ts";
import type { Fail } from "./read-entry.ts";

/** What limits are added to. */
interface QuotaReader {
  readonly fail: Fail;
  /** Notes that the file says what the limits of a level are, also if it names none. */
  readonly addQuota: (level: string) => void;
  readonly addLimit: (level: string, kind: string, limit: number, place: string) => void;
}

const form = 'must be an object with a limit for each QuantityKind, such as {"cpu_cores": 1000}';

/**
 * Reads a quota, and yields at each limit. The limits are those that UpdateQuota takes.
 *
 * @param level the path below the org of the project whose quota it is; empty for the org.
 * @param value undefined for an org or project of which the file does not say it.
 */
export function* readQuota(
  { fail, addQuota, addLimit }: QuotaReader,
  level: string,
  value: JsonValue | undefined,
  place: string,
): Generator<void, void, void> {
  if (value === undefined) return;
  if (!isObject(value)) {
    fail(place, `${form}; got ${describe(value)}`);
    return;
  }
  addQuota(level);
  const limits = new Map<string, number>();
  for (const [kind, limit] of Object.entries(value)) {
    yield;
    if (typeof limit === "number") limits.set(kind, limit);
    else {
      const hint = "must be a number, in the base unit of its QuantityKind; one without a limit is left out";
      fail(mapEntry(place, kind.slice(0, maxShown)), `${hint}; got ${describe(limit)}`);
    }
  }
  if (!keepsConstraints(limits, place, fail)) return;
  for (const [kind, limit] of limits) {
    addLimit(level, kind, limit, mapEntry(place, kind));
    yield;
  }
}

/** How many characters of a wrong key are told. */
const maxShown = 100;

function keepsConstraints(limits: ReadonlyMap<string, number>, place: string, fail: Fail): boolean {
  try {
    validateMessage(QuotaSchema, create(QuotaSchema, { limits: Object.fromEntries(limits) }));
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    for (const { field, description } of error.violations) fail(field.replace(/^limits/, place), description);
    return false;
  }
}
