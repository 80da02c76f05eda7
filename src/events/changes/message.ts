import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type Change,
  ChangeProofSchema,
  ChangeSchema,
  Change_Source,
  Change_Type,
} from "../../../gen/iam/v1alpha/change_pb.ts";
import { proofOf } from "../../changes/entry-proof.ts";
import { type CommittedField, committedFields } from "../../changes/entry-record.ts";
import { parseMicroseconds } from "../../changes/revision-time.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { type LoggedMessage, changedFields } from "./logged-messages.ts";
import { memberPathOf, orgName } from "./member-path.ts";
import type { ChangeRow } from "./store.ts";

/** What is shown of an entry. */
export interface Shown {
  /** Whether the resource before and after is shown. */
  readonly resource: boolean;
  /** Whether it is shown from where the call came, and by which credential. */
  readonly origin: boolean;
  /** Whether the request asks for the resource before and after, and for the proof. */
  readonly states: boolean;
  readonly proof: boolean;
}

export function toChange(entry: ChangeRow, shown: Shown, loggedMessage: LoggedMessage): Change {
  const missing = missingOf(entry, shown);
  const row = shown.proof ? asProved(entry, missing) : entry;
  return create(ChangeSchema, {
    ...logPathOf(row),
    revision: row.revision,
    position: row.position,
    time: microsecondTimestamp(row.time_text),
    type: Change_Type[row.type],
    method: row.method,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    resourcePath: row.resource_path,
    actorPath: memberPathOf(row, row.actor_id ?? null, row.actor_name, row.actor_delete_time),
    impersonatorPath: memberPathOf(
      row,
      row.impersonator_id ?? null,
      row.impersonator_name,
      row.impersonator_delete_time,
    ),
    ...(shown.origin && {
      credentialId: row.credential_id ?? "",
      requestId: row.request_id ?? "",
      remoteAddress: row.remote_address ?? "",
      userAgent: row.user_agent ?? "",
    }),
    onBehalfOf: row.on_behalf_of ?? "",
    reason: row.reason ?? "",
    source: row.source ? Change_Source[row.source] : Change_Source.SOURCE_UNSPECIFIED,
    ...(row.end_time && { endTime: toTimestamp(row.end_time) }),
    ...(shown.states && shown.resource && statesOf(row, loggedMessage)),
    ...(shown.proof && { proof: toProof(entry, missing.withheld) }),
    withheldFields: [...missing.withheld],
    erasedFields: [...missing.erased],
  });
}

function logPathOf(row: ChangeRow): Pick<Change, "orgPath"> | Pick<Change, "customerPath"> {
  const isOfCustomer = isLogOfCustomer({ id: row.org_id, customer_id: row.customer_id });
  if (isOfCustomer) return { customerPath: formatPath(patterns.Customer, orgName(row)) };
  return { orgPath: formatPath(patterns.Org, orgName(row)) };
}

/** The fields of an entry of which a caller is not shown all. */
interface Missing {
  readonly erased: readonly CommittedField[];
  readonly withheld: readonly CommittedField[];
}

function missingOf(row: ChangeRow, { resource, origin, states, proof }: Shown): Missing {
  const erased = committedFields.filter((field) => row.erased !== null && Object.hasOwn(row.erased.commitments, field));
  const areStatesHidden = !resource && (states || proof);
  const withheld = committedFields.filter((field) => {
    if (erased.includes(field)) return false;
    return field === "origin" ? !origin : field !== "resource_path" && areStatesHidden && row[field] !== null;
  });
  return { erased, withheld };
}

/** The names of today, of which an entry has none. */
export const nameless = {
  org_name: null,
  actor_name: null,
  impersonator_name: null,
};

/** An entry whose `origin` is missing. */
export const originless = {
  credential_id: null,
  on_behalf_of: null,
  reason: null,
  remote_address: null,
  request_id: null,
  user_agent: null,
};

/** Returns an entry as its proof shows it: without the names of today, and what stands for fields that are missing. */
function asProved(row: ChangeRow, { erased, withheld }: Missing): ChangeRow {
  const isMissing = (field: CommittedField): boolean => erased.includes(field) || withheld.includes(field);
  return {
    ...row,
    ...nameless,
    ...(isMissing("origin") && originless),
    ...(isMissing("resource_path") && { resource_path: "" }),
    ...(isMissing("before") && { before: null }),
    ...(isMissing("after") && { after: null }),
  };
}

function statesOf(row: ChangeRow, loggedMessage: LoggedMessage) {
  const { resource_type: type, resource_path: path, before, after } = row;
  const old = before === null ? undefined : loggedMessage(type, before, path);
  const now = after === null ? undefined : loggedMessage(type, after, pathAfter(path, before, after));
  return { before: old, after: now, changedFields: old && now ? changedFields(old, now) : [] };
}

/** Returns the path after a change: that of the entry is the one before. */
function pathAfter(path: string, before: object | null, after: object): string {
  const [old, name] = [before, after].map((columns: { readonly name?: unknown } | null) => columns?.name);
  if (typeof old !== "string" || typeof name !== "string" || !path.endsWith(`/${old}`)) return path;
  return `${path.slice(0, -old.length)}${name}`;
}

function toProof(row: ChangeRow, withheld: readonly CommittedField[]) {
  const proof = proofOf(row, (field) => !withheld.includes(field));
  return proof && create(ChangeProofSchema, { ...proof, texts: { ...proof.texts }, keys: { ...proof.keys } });
}

export function microsecondTimestamp(time: string): Timestamp {
  const microseconds = parseMicroseconds(time);
  const seconds = Math.floor(microseconds / 1e6);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (microseconds - seconds * 1e6) * 1000,
  };
}
