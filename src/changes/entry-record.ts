// What the hash of an entry is made of (docs/decisions/0084). Names, addresses and free text are not in it, but commitments to them, each
// with a key of its own: so they can be erased, or withheld from a reader, and the hash still shows that nothing else was changed.
import { hash } from "node:crypto";
import { SocketAddress, isIPv6 } from "node:net";
import type { Entry } from "../database/commits.ts";
import { isLogOfCustomer } from "../database/org-key.ts";
import { canonicalJson } from "./canonical-json.ts";

/** The fields of an entry to which its record has commitments. */
export const committedFields = ["after", "before", "origin", "resource_path"] as const;

export type CommittedField = (typeof committedFields)[number];

/** By field; null where there is nothing. */
export type OfFields<Value> = Readonly<Record<CommittedField, Value | null>>;

type Committed = Pick<
  Entry,
  | "after"
  | "before"
  | "credential_id"
  | "on_behalf_of"
  | "reason"
  | "remote_address"
  | "request_id"
  | "resource_path"
  | "user_agent"
>;

/** Returns the texts to which an entry is committed. */
export function committedTexts(entry: Committed): OfFields<string> {
  const { before, after } = entry;
  // In the order of the keys.
  const origin = {
    credential_id: entry.credential_id ?? null,
    on_behalf_of: entry.on_behalf_of ?? null,
    reason: entry.reason ?? null,
    remote_address: canonicalAddress(entry.remote_address),
    request_id: entry.request_id ?? null,
    user_agent: entry.user_agent ?? null,
  };
  return {
    after: after === null ? null : canonicalJson(after),
    before: before === null ? null : canonicalJson(before),
    origin: JSON.stringify(origin),
    resource_path: JSON.stringify(entry.resource_path),
  };
}

/** Returns an address as PostgreSQL and the system write it, whatever a proxy has written. */
function canonicalAddress(address: string | null | undefined): string | null {
  if (address === null || address === undefined) return null;
  return isIPv6(address) ? new SocketAddress({ address, family: "ipv6" }).address : address;
}

/** An entry, as far as its record has it. */
export type Recorded = Pick<
  Entry,
  | "actor_id"
  | "actor_org_id"
  | "chain_start"
  | "container_id"
  | "customer_id"
  | "delegate_id"
  | "delegation_id"
  | "format"
  | "impersonator_id"
  | "method"
  | "org_id"
  | "position"
  | "resource_id"
  | "resource_type"
  | "revision"
  | "source"
  | "source_id"
  | "timeline"
> & {
  /** With microseconds: `2029-12-31T23:59:59.000001Z`. */
  readonly time: string;
  readonly end_time?: Date | null;
};

/** Returns the record of an entry, whose keys are in their order. The customer is in those of its own log. @param commitments those to its fields. */
export function recordOf(entry: Recorded, { after, before, origin, resource_path }: OfFields<string>): string {
  const isOfCustomer = isLogOfCustomer({ id: entry.org_id, customer_id: entry.customer_id });
  return JSON.stringify({
    actor_id: entry.actor_id ?? null,
    actor_org_id: entry.actor_org_id ?? null,
    after,
    before,
    chain_start: entry.chain_start ?? null,
    container_id: entry.container_id ?? null,
    // Left out if it is undefined.
    customer_id: isOfCustomer ? entry.customer_id : undefined,
    delegate_id: entry.delegate_id ?? null,
    delegation_id: entry.delegation_id ?? null,
    end_time: entry.end_time ?? null,
    format: entry.format,
    impersonator_id: entry.impersonator_id ?? null,
    method: entry.method,
    org_id: isOfCustomer ? null : entry.org_id,
    origin,
    position: entry.position,
    resource_id: entry.resource_id,
    resource_path,
    resource_type: entry.resource_type,
    revision: entry.revision,
    source: entry.source ?? null,
    source_id: entry.source_id ?? null,
    time: entry.time,
    timeline: entry.timeline ?? null,
  });
}

/** How many random bytes an entry has: a key for each field. */
export const saltBytes = 64;

const digitsOfKey = (2 * saltBytes) / committedFields.length;

/** Returns the key of a field. @param salt of the entry, in hexadecimal digits, as everything here. */
export function fieldKey(salt: string, field: CommittedField): string {
  const start = committedFields.indexOf(field) * digitsOfKey;
  return salt.slice(start, start + digitsOfKey);
}

export function commit(key: string, text: string): string {
  return sha256(`tenantry.dev/log/value\n${key}\n${text}`);
}

/** What the first entry of a chain has in place of the hash of the one before it. */
export const noHash = "0".repeat(64);

export function hashOf(previous: string, record: string): string {
  return sha256(`tenantry.dev/log/entry\n${previous}\n${record}`);
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
