import { tablesOfOrgs } from "./tables-of-orgs.ts";

/** Statements that touch tables of orgs to which neither an org nor a customer leads. */
export interface NotLed {
  /** How their identities begin, or end if they are sent with a statement of another function. */
  readonly start?: string;
  readonly end?: string;
  /** The tables; all if it is left out. */
  readonly tables?: readonly string[];
  readonly reason: string;
}

export const anyOrg = "A path may have `-` in place of the org, and an id below it (AIP-159).";
const actors = { tables: ["orgs", "members"], reason: "The names of members who acted may be of other orgs." };
const clients = { tables: ["clients"], reason: "The client of a session may be of another org." };
const bindings = "Role bindings on the platform, a customer or a service are of several orgs.";
const job = "A job searches all orgs, and checks what it has found in its org.";
const secret = "A secret is looked up by its own id or prefix: the caller's org is what it tells.";

const earlier = "A secret of an earlier form does not say its customer.";

const reads = [
  "src/standard-methods/read/row-reader.ts",
  "src/standard-methods/batch/batch-methods.ts get",
  "src/standard-methods/read/read-handlers.ts read",
];

/** An entry that a run of all tests does not need is named, and fails nothing: some statements are sent by jobs, when they are due. */
export const notLed: readonly NotLed[] = [
  ...[...tablesOfOrgs, "project_quotas"].map((name) => ({ start: `lookup ${name}`, reason: anyOrg })),
  // The same, sent by the function that has asked for one of them.
  { end: ": select unnest", reason: anyOrg },
  { start: "src/standard-methods/read/read-in-time.ts readInTime", reason: "Lists over `-` are of all orgs." },
  { start: "src/standard-methods/read/row-reader.ts findInPlace: select orgs, projects, resources", reason: anyOrg },
  { start: "lookup role_bindings", reason: bindings },
  { end: ": select role_bindings, orgs, customers, services, projects, members, groups, roles", reason: bindings },
  { end: ": select orgs, members, sessions", ...clients },
  { end: ": select orgs, access_requests, members, projects, roles, role_bindings", ...actors },
  { start: "src/iam/access-requests/service.ts getAccessRequest: select unnest", ...actors },
  {
    start: "src/iam/access-requests/same-person.ts isSamePerson",
    reason: "One person may be a member of orgs of several customers.",
  },
  { end: ": select orgs, quota_requests, projects, members", ...actors },
  {
    start: "src/standard-methods/past/keep-state.ts insertPieces: insert past_states",
    reason: "These are no tables: the statement begins with what is theirs in one org, as of then.",
  },
  { end: ": select orgs, projects, operations, resources, resource_types, services, members", ...actors },
  { start: "src/access/escalation/store.ts heldConditionally", reason: bindings },
  { start: "src/changes/erase-from-log.ts findLogs", reason: "A member may have acted in any org." },
  ...reads.map((start) => ({
    start,
    tables: ["orgs", "members", "clients"],
    reason: `${actors.reason} ${clients.reason}`,
  })),
  { start: "src/events/deliveries/due.ts", reason: job },
  { start: "src/database/held-log.ts", reason: job },
  { start: "src/iam/sessions/store.ts expireSessionsOfClients", reason: "The sessions of a client are of all orgs." },
  {
    start: "src/iam/identity-providers/service.ts removeIdentities",
    reason: "Those of a provider of the installation are of all orgs.",
  },
  { start: "src/quotas/kinds.ts countQuotasOfKind", reason: "A kind that any quota has is not deleted." },
  {
    start: "src/standard-methods/write/require-unused.ts findUser",
    reason: "What resources use any more is not deleted.",
  },
  {
    start: "src/resources/providers/claims.ts readDue",
    reason: "A provider carries out the operations of all orgs; each is claimed in its org.",
  },
  {
    start: "src/resources/providers/find-by-id.ts findOperation",
    reason: "The path of a claim may have changed since; its id has not.",
  },
  { start: "src/resources/resources/store.ts findResourceOf", reason: "A provider reports a resource by its id." },
  { start: "src/resources/providers/find-by-id.ts findResource", reason: "A provider reports a resource by its id." },
  { start: "src/identity/caller-lookup.ts", reason: secret },
  { start: "src/iam/sessions/refresh-store.ts lockSession", reason: earlier },
  { start: "src/iam/tokens/revoke-token.ts", reason: earlier },
  { start: "src/iam/clients/registered-client.ts", reason: secret },
  { start: "src/iam/sign-in/store.ts readSignedIn", reason: secret },
  {
    start: "src/iam/sign-in/store.ts deleteBrowserSession",
    reason: "A browser may be signed in as members of several orgs.",
  },
  { start: "src/iam/sign-in/choice-store.ts readChoices", reason: "A person chooses among members of several orgs." },
  { start: "src/iam/sign-in/provider-store.ts", reason: "A provider is named by its id in what it sends back." },
  { start: "src/iam/sign-in/open-invitations.ts readInvitation", reason: secret },
  { start: "src/jobs/operations-job.ts find", reason: job },
  { start: "src/jobs/purge/", reason: job },
  { start: "lookup find_next_purges", reason: job },
  { start: "src/resources/sweeps/store.ts findNextSweeps", reason: job },
  {
    start: "src/events/access-events/write-events.ts readOrgs",
    reason: "Calls that were refused name orgs, which may not exist.",
  },
  { start: "src/database/old-rows.ts findOldRows", reason: job },
  { start: "src/iam/contacts/warning-store.ts readWarnedParents", reason: job },
  { start: "src/database/dump/", reason: "A dump has the rows of all orgs." },
  { start: "src/database/migrations/", reason: "A migration changes the rows of all orgs." },
  { start: "src/database/migration/fills.ts", reason: "A migration changes the rows of all orgs." },
  ...["lookup keys", "lookup one_by_one"].map((start) => ({ start, reason: "A test of lookups sends it." })),
];
