import type { JsonObject } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { SubjectReference } from "../../access/engine/decisions/find-grant.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { subjectById } from "../../access/evaluation/check-request.ts";
import { invalidField } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Reference, parseAnyPath } from "../../paths/parse-path.ts";
import type { Staleness } from "./subject-orgs.ts";

export interface NamedSubject {
  readonly kind: "member" | "group";
  readonly org: Reference;
  readonly reference: Reference;
}

/** @throws ServiceError PATH_INVALID */
export function readSubject(path: string, field: string): NamedSubject {
  const { pattern, references } = parseAnyPath([patterns.Member, patterns.Group], path, field);
  const [org, reference] = references as readonly [Reference, Reference];
  return { kind: pattern === patterns.Member ? "member" : "group", org, reference };
}

/** Returns the subject by its record in its org's snapshot, for immediate use; undefined if it does not exist. */
export function findNow(snapshot: OrgSnapshot, { kind, reference }: NamedSubject): SubjectReference | undefined {
  return reference.by === "any" ? undefined : snapshot.findSubject(kind, reference);
}

/**
 * Returns the subject by its id; undefined if it does not exist. A record is valid only until the snapshot changes, which can
 * happen while the caller awaits something else.
 */
export function findSubject(snapshot: OrgSnapshot, named: NamedSubject): SubjectReference | undefined {
  const found = findNow(snapshot, named);
  return found && subjectById(snapshot, found);
}

/** Returns how old the answer may be; undefined for an exact answer. */
export function readStaleness(maxStaleness: Duration | undefined, revision: string): Staleness | undefined {
  if (maxStaleness === undefined) return undefined;
  return { maxMs: durationMs(maxStaleness), revision };
}

/** The limits of the context. A larger one would let conditions take long. */
const maxCharacters = 4096;
const maxValues = 100;

/** Returns the value of `context` in conditions. @throws ServiceError FIELD_INVALID when it is too large. */
export function readAttributes(context: JsonObject | undefined, field: string): JsonObject {
  if (context === undefined) return {};
  const text = JSON.stringify(context);
  const values = text.match(/[,:[]/g)?.length ?? 0;
  if (text.length > maxCharacters || values > maxValues * 2) {
    const description = `must be at most ${maxCharacters} characters of JSON with about ${maxValues} values`;
    throw invalidField(field, description, "context");
  }
  return context;
}
