/** What the URL of a list holds. */
export interface ListSearch {
  /** Words to search for. */
  readonly q?: string | undefined;
  /** The token of a page after the first. */
  readonly page?: string | undefined;
  /** A state or type that narrows the list. */
  readonly state?: string | undefined;
  /** By what the list is ordered, such as `display_name desc`. */
  readonly order?: string | undefined;
  /** Whether the form for one more is open. */
  readonly create?: true | undefined;
}

/** Reads a text from the URL. One that looks like a number is read as one by the router. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  const [q, page, state] = [textOf(search["q"]), textOf(search["page"]), textOf(search["state"])];
  return { q, page, state, order: textOf(search["order"]), create: search["create"] === true ? true : undefined };
}

/** What the URL of the list of requests for access holds: what the form asks for from the beginning, as paths. */
export interface AskSearch extends ListSearch {
  readonly role?: string | undefined;
  readonly resource?: string | undefined;
}

export const readAskSearch = (search: Record<string, unknown>): AskSearch => ({
  ...readListSearch(search),
  role: textOf(search["role"]),
  resource: textOf(search["resource"]),
});

/** What the URL of a list holds of which a SCIM source can manage a part. */
export interface ManagedSearch extends ListSearch {
  /** The name of the SCIM source whose part alone is shown. */
  readonly source?: string | undefined;
}

export const readManagedSearch = (search: Record<string, unknown>): ManagedSearch => ({
  ...readListSearch(search),
  source: textOf(search["source"]),
});

/** Selects what a SCIM source manages, by the label that it has given to that; undefined for everything. */
export const managedBy = (source: string | undefined): string | undefined =>
  source === undefined ? undefined : `labels."scim-source" = ${JSON.stringify(source)}`;

/** What the URL of the list of members holds. */
export interface MembersSearch extends ManagedSearch {
  /** `APPLICATION` for only the programs among them, which people call service accounts. */
  readonly type?: "APPLICATION" | undefined;
}

export const readMembersSearch = (search: Record<string, unknown>): MembersSearch => ({
  ...readManagedSearch(search),
  type: search["type"] === "APPLICATION" ? "APPLICATION" : undefined,
});

/** Writes words as a filter that searches for all of them, as they are. Quotes keep them from being read as an expression. */
export function toFilter(words: string | undefined, ...conditions: readonly (string | undefined)[]): string {
  const quoted = (words ?? "")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => JSON.stringify(word));
  const parts = [quoted.join(" "), ...conditions].filter((part) => part !== undefined && part !== "");
  return parts.map((part) => (parts.length > 1 ? `(${part})` : part)).join(" AND ");
}

/** What the URL of the screen about access holds. */
export interface AccessSearch {
  /** Whose access, such as `/orgs/acme/members/alice`. */
  readonly subject?: string | undefined;
  readonly permission?: string | undefined;
  /** On what, such as `/orgs/acme/projects/web`. */
  readonly resource?: string | undefined;
  readonly page?: string | undefined;
  /** As of when: a time, such as `2026-03-01T12:00:00Z`, or a revision; left out for now. */
  readonly asOf?: string | undefined;
}

export function readAccessSearch(search: Record<string, unknown>): AccessSearch {
  const [subject, permission, resource] = ["subject", "permission", "resource"].map((name) => textOf(search[name]));
  return { subject, permission, resource, page: textOf(search["page"]), asOf: textOf(search["asOf"]) };
}

/** What the URL of the screen that leads an org back holds. */
export interface RollbackSearch {
  /** To when: a time, such as `2026-03-01T12:00:00Z`, or a revision; left out until one is chosen. */
  readonly to?: string | undefined;
  /** Whether what cannot be led back is left out. */
  readonly leaveOut?: true | undefined;
}

export const readRollbackSearch = (search: Record<string, unknown>): RollbackSearch => ({
  to: textOf(search["to"]),
  leaveOut: search["leaveOut"] === true ? true : undefined,
});

/** What of an org is shown as it was: one of its lists, or what is in one thing. */
const pastShows = [
  "members",
  "groups",
  "projects",
  "roles",
  "roleBindings",
  "groupMembers",
  "projectBindings",
] as const;

export type PastShow = (typeof pastShows)[number];

/** What the URL of an org as it was holds. */
export interface PastSearch {
  /** When: a time, such as `2026-03-01T12:00:00Z`, or a revision; left out for now. */
  readonly at?: string | undefined;
  readonly show?: PastShow | undefined;
  /** The id of the group or project in which something is shown. */
  readonly within?: string | undefined;
  readonly q?: string | undefined;
  readonly page?: string | undefined;
}

export const readPastSearch = (search: Record<string, unknown>): PastSearch => ({
  at: textOf(search["at"]),
  show: pastShows.find((show) => show === search["show"]),
  within: textOf(search["within"]),
  q: textOf(search["q"]),
  page: textOf(search["page"]),
});

/** What the URL of the log of changes holds. */
export interface ChangesSearch extends ListSearch {
  /** The only revision that is shown. */
  readonly revision?: string | undefined;
}

export const readChangesSearch = (search: Record<string, unknown>): ChangesSearch => ({
  ...readListSearch(search),
  revision: textOf(search["revision"]),
});

/** What the URL of the list of findings holds. */
export interface FindingsSearch extends ListSearch {
  /** For how many days something is not used before it is found; left out for as many as usual. */
  readonly days?: number | undefined;
}

export function readFindingsSearch(search: Record<string, unknown>): FindingsSearch {
  const days = Number(search["days"]);
  return { ...readListSearch(search), days: Number.isInteger(days) && days > 0 ? days : undefined };
}

/** What the URL of a webhook holds. */
export interface WebhookSearch extends ListSearch {
  /** The only org whose deliveries are shown, such as `/orgs/acme`, for a webhook of a customer. */
  readonly org?: string | undefined;
}

export const readWebhookSearch = (search: Record<string, unknown>): WebhookSearch => ({
  ...readListSearch(search),
  org: textOf(search["org"]),
});

/** What the URL of a quota holds. */
export interface QuotaSearch extends ListSearch {
  /** The only kind of Quantities that is shown, such as `cpu_cores`; words then search for what uses it. */
  readonly kind?: string | undefined;
}

export const readQuotaSearch = (search: Record<string, unknown>): QuotaSearch => ({
  ...readListSearch(search),
  kind: textOf(search["kind"]),
});

/** What the URL of a customer, or of the platform, holds: the tab, and what its list shows. */
export const readAboveSearch = (search: Record<string, unknown>): ListSearch & TabSearch => ({
  ...readListSearch(search),
  ...readTabSearch(search),
});

/** What the URL of a screen with tabs holds. */
export interface TabSearch {
  readonly tab?: string | undefined;
}

export const readTabSearch = (search: Record<string, unknown>): TabSearch => ({ tab: textOf(search["tab"]) });

/** What the URL of a list of resources holds. */
export interface ResourcesSearch extends ListSearch {
  /** The only type that is shown, such as `/services/compute/resourceTypes/instances`. */
  readonly type?: string | undefined;
}

export const readResourcesSearch = (search: Record<string, unknown>): ResourcesSearch => ({
  ...readListSearch(search),
  type: textOf(search["type"]),
});
