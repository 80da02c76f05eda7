// What the entries of the log say about sessions, tokens and credentials. Each type of entry has a line here, so that a new one does not
// compile until it is decided what it ends.
import type { TokenEndReason } from "../../access/tokens/find-token-end.ts";
import type { Change } from "../../changes/change.ts";
import type { ChangeRow } from "../changes/store.ts";

/** What an event is about: all of a member, a session or API key of it, one of its tokens, a client, or the org. */
export type Target =
  | { readonly kind: "member"; readonly memberId: string }
  | { readonly kind: "session"; readonly memberId: string; readonly sessionId: string }
  | { readonly kind: "token"; readonly memberId: string; readonly tokenId: string }
  | { readonly kind: "application"; readonly clientId: string }
  | { readonly kind: "tenant" }
  | { readonly kind: "stream"; readonly streamId: string };

/** What else is told: what gives tokens again, or changes that from which tokens come. */
type Further =
  | "API_KEY_CREATED"
  | "API_KEY_REPLACED"
  | "CLIENT_SECRET_CREATED"
  | "CLIENT_SECRET_REPLACED"
  | "CLIENT_SECRET_DELETED"
  | "IDENTITY_CREATED"
  | "IDENTITY_DELETED"
  | "MEMBER_ENABLED"
  | "MEMBER_PURGED"
  | "ORG_SUSPENDED"
  | "ORG_ENABLED"
  | "STREAM_UPDATED";

export interface Happening {
  readonly what: TokenEndReason | Further;
  readonly target: Target;
}

/** An entry, as far as it says what has happened. The rows have the columns that the log keeps, with times as text. */
export type Entry = Pick<ChangeRow, "type" | "resource_id" | "before" | "after" | "org_id" | "time">;

type Row = Readonly<Record<string, unknown>>;

/** What an entry of a type says, or why it says nothing. */
type Rule = ((entry: Entry, before: Row | null, after: Row | null) => readonly Happening[]) | string;

const givesAccess = "tokens stay as they are: what they may do is decided at each call";
const isContent = "no tokens come from it";
const isRead = "it says how others use the service";

const rules: Readonly<Record<Change["type"], Rule>> = {
  ApiKey(entry, before, after) {
    const memberId = textOf(after ?? before, "member_id");
    const target = { kind: "session", memberId, sessionId: entry.resource_id } as const;
    if (before === null) return [{ what: "API_KEY_CREATED", target }];
    if (after === null) return [{ what: entry.type === "EXPIRED" ? "API_KEY_ROTATED" : "API_KEY_DELETED", target }];
    return differ(before, after, "expire_time") ? [{ what: "API_KEY_REPLACED", target }] : [];
  },

  Client({ resource_id: clientId }, before, after) {
    const target = { kind: "application", clientId } as const;
    const hasSecret = (after ?? before)?.["confidential"] === true;
    if (before === null) return hasSecret ? [{ what: "CLIENT_SECRET_CREATED", target }] : [];
    if (after === null) {
      return [
        ...(hasSecret ? [{ what: "CLIENT_SECRET_DELETED", target } as const] : []),
        { what: "CLIENT_DELETED", target },
      ];
    }
    return differ(before, after, "previous_secret_expire_time") ? [{ what: "CLIENT_SECRET_REPLACED", target }] : [];
  },

  Identity(_entry, before, after) {
    const target = { kind: "member", memberId: textOf(after ?? before, "member_id") } as const;
    if (before === null) return [{ what: "IDENTITY_CREATED", target }];
    return after === null ? [{ what: "IDENTITY_DELETED", target }] : [];
  },

  Member({ resource_id: memberId }, before, after) {
    const target = { kind: "member", memberId } as const;
    if (before === null) return [];
    if (after === null) return [...(isLive(before) ? [deleted(target)] : []), { what: "MEMBER_PURGED", target }];
    if (isLive(before) && !isLive(after)) return [deleted(target)];
    const [wasActive, isActive] = [before, after].map((row) => isLive(row) && row["state"] === "ACTIVE");
    if (wasActive === true && isActive === false) return [{ what: "MEMBER_SUSPENDED", target }];
    if (differ(before, after, "token_gen")) return [{ what: "ALL_REVOKED", target }];
    const isInvited = isLive(before) && before["state"] === "INVITED";
    return wasActive === false && isActive === true && !isInvited ? [{ what: "MEMBER_ENABLED", target }] : [];
  },

  Org(_entry, before, after) {
    const target = { kind: "tenant" } as const;
    if (before === null || after === null) return [];
    if (isLive(before) && !isLive(after)) return [{ what: "ORG_DELETED", target }];
    const [wasActive, isActive] = [before, after].map((row) => isLive(row) && row["state"] === "ACTIVE");
    if (wasActive === isActive) return [];
    return [{ what: isActive === true ? "ORG_ENABLED" : "ORG_SUSPENDED", target }];
  },

  Session(entry, before, after) {
    if (before === null || after !== null) return [];
    const target = { kind: "session", memberId: textOf(before, "member_id"), sessionId: entry.resource_id } as const;
    return [{ what: isOverByTime(entry, before) ? "EXPIRED" : "SESSION_ENDED", target }];
  },

  Token({ resource_id: tokenId }, before) {
    // One that was issued to impersonate.
    if (before === null) return [];
    return [{ what: "TOKEN_REVOKED", target: { kind: "token", memberId: textOf(before, "member_id"), tokenId } }];
  },

  EventStream({ resource_id: streamId }, before, after) {
    if (before === null || after === null || !differ(before, after, "state")) return [];
    return [{ what: "STREAM_UPDATED", target: { kind: "stream", streamId } }];
  },

  Customer: "its orgs have entries of their own, also when they are deleted with it",
  IdentityProvider: "its identities have entries of their own, and so do the sessions that began with them",
  ScimSource: givesAccess,
  Group: givesAccess,
  GroupMember: givesAccess,
  Subgroup: givesAccess,
  Role: givesAccess,
  RoleBinding: givesAccess,
  Project: isContent,
  Contact: isContent,
  AccessRequest: isContent,
  QuotaRequest: isContent,
  Webhook: isContent,
  Service: isContent,
  ResourceType: isContent,
  QuantityKind: isContent,
  QualityKind: isContent,
  Resource: isContent,
  Operation: isContent,
  Quota: isContent,
  AccessLog: isRead,
  ChangeLog: isRead,
  SupportAccess: isRead,
};

const ruleOf: ReadonlyMap<string, Rule> = new Map(Object.entries(rules));

/** The types of entries that say something. */
export const tellingTypes: readonly string[] = [...ruleOf].flatMap(([type, rule]) =>
  typeof rule === "string" ? [] : [type],
);

/** Returns what an entry says, in its order. */
export function happeningsOf(entry: Entry & Pick<ChangeRow, "resource_type">): readonly Happening[] {
  const rule = ruleOf.get(entry.resource_type);
  if (typeof rule !== "function" || entry.type === "READ" || entry.type === "ERASED") return [];
  return rule(entry, rowOf(entry.before), rowOf(entry.after));
}

const rowOf = (row: object | null): Row | null => row && Object.fromEntries(Object.entries(row));

const deleted = (target: Target): Happening => ({ what: "MEMBER_DELETED", target });

const isLive = (row: Row): boolean => (row["delete_time"] ?? null) === null;

const differ = (before: Row, after: Row, column: string): boolean =>
  (before[column] ?? null) !== (after[column] ?? null);

/**
 * Whether a session has ended at the time at which it was to end from its beginning, as its tokens said. A rotation of its API key has given
 * it an earlier one, and so has the end of its client in another org, whose log says nothing to this one.
 */
function isOverByTime({ org_id: orgId, time }: Entry, row: Row): boolean {
  const isOver = Date.parse(textOf(row, "expire_time")) <= time.getTime();
  const isUnchanged = textOf(row, "create_time") === textOf(row, "update_time");
  const clientOrgId = row["client_org_id"] ?? null;
  return isOver && isUnchanged && (clientOrgId === null || clientOrgId === orgId);
}

/** The entries of these types have the column in each row. */
function textOf(row: Row | null, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new Error(`an entry of the log has no ${column}`);
}
