// What confirmed contacts are to be warned about, as the rows of their orgs and customers are. A warning is a row before it is sent, so that of several
// servers one sends it. One of which nobody has noted that it was sent is tried again an hour later, some times.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { readClock } from "../../database/clock.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { readFixedWarnings } from "./fixed-warnings.ts";
import { type DueWarning, fixedKind, recipients, warnedDays } from "./warning-kinds.ts";
import { isActive, selectStates } from "./warned-states.ts";

/** An org or a customer with contacts that are confirmed, or that were when something was told them. */
export interface WarnedParent extends OrgKey {
  readonly name: string;
  /** Whether there may be something to warn them of. */
  readonly may_warn: boolean;
}

/**
 * Returns the next orgs and customers of which somebody may have to be warned, in the order of their ids.
 *
 * @param afterId of the last one before; undefined for the first.
 */
export async function readWarnedParents(
  db: Kysely<Schema>,
  afterId: string | undefined,
  limit: number,
): Promise<WarnedParent[]> {
  const now = sql`${await readClock(db)}::timestamptz`;
  const since = sql`${now} - make_interval(days => ${warnedDays})`;
  const isIn = (table: "api_keys" | "event_streams" | "webhooks") =>
    sql.raw(`${table}.customer_id = warned.customer_id and ${table}.org_id = warned.org_id`);
  const isDisabled = (table: "event_streams" | "webhooks") => sql`exists (
    select from ${sql.table(table)} where ${isIn(table)} and ${sql.ref(`${table}.state`)} = 'DISABLED' and ${sql.ref(`${table}.update_time`)} > ${since})`;
  const isAfter = afterId === undefined ? sql`true` : sql`org_id > ${afterId}`;
  const hasEnded = sql`(orgs.delete_time > ${since} or orgs.state = 'SUSPENDED' and orgs.update_time > ${since})`;
  const { rows } = await sql<WarnedParent>`
    select warned.customer_id, warned.org_id as id, coalesce(orgs.name, customers.name) as name, (
      ${isDisabled("webhooks")} or ${isDisabled("event_streams")} or coalesce(${hasEnded}, false)
      or exists (
        select from api_keys where ${isIn("api_keys")}
          and api_keys.expire_time > ${now} and api_keys.expire_time <= ${now} + make_interval(days => ${warnedDays}))
      or warned.has_fixed
      or coalesce(customers.delete_time > ${since}, false)
      or exists (select from orgs where orgs.customer_id = customers.id and ${hasEnded})
    ) as may_warn
    from (
      select customer_id, org_id, bool_or(has_fixed) as has_fixed
      from (
        (select distinct customer_id, org_id, false as has_fixed from contacts
        where confirm_time is not null and ${isAfter} order by org_id limit ${limit})
        union all
        (select distinct customer_id, org_id, true from contact_warnings
        where email is not null and ${isAfter} order by org_id limit ${limit})
      ) as found
      group by customer_id, org_id order by org_id limit ${limit}
    ) as warned
    left join orgs on orgs.customer_id = warned.customer_id and orgs.id = warned.org_id
    left join customers on customers.id = warned.customer_id and customers.id = warned.org_id
    order by warned.org_id`.execute(db);
  return rows;
}

/** How often a warning is tried, how long after the time before, and how long it is remembered. */
const maxAttempts = 5;
const pause = sql`interval '1 hour'`;
const remembered = sql`interval '60 days'`;

/** A contact is warned of at most so many things of each kind at once. The others follow. */
const perKind = 20;

/**
 * Reads what the confirmed contacts of an org or a customer are to be warned about, and takes it on for the caller, who sends it. A contact that got a
 * warning in the last hour waits, but for what is fixed.
 */
export async function takeDueWarnings(db: Kysely<Schema>, org: OrgKey): Promise<readonly DueWarning[]> {
  const now = sql`${await readClock(db)}::timestamptz`;
  const fixed = await readFixedWarnings(db, org, { maxAttempts, before: sql`${now} - ${pause}`, limit: maxTaken });
  const due = [...fixed, ...(await readDueWarnings(db, org, now))].slice(0, maxTaken);
  if (due.length === 0) return [];
  const columns = {
    contact: due.map((each) => each.contact_id),
    kind: due.map((each) => each.kind),
    subject: due.map((each) => each.subject_id),
    occasion: due.map((each) => each.occasion),
  };
  const { rows: taken } = await sql<Pick<DueWarning, "contact_id" | "kind" | "subject_id">>`
    insert into contact_warnings as kept
      (customer_id, org_id, contact_id, kind, subject_id, occasion, attempts, attempt_time, is_sent, expire_time)
    select ${org.customer_id}, ${org.id}, contact_id, kind, subject_id, occasion, 1, ${now}, false, ${now} + ${remembered}
    from unnest(${columns.contact}::uuid[], ${columns.kind}::text[], ${columns.subject}::uuid[], ${columns.occasion}::timestamptz[])
      as due (contact_id, kind, subject_id, occasion)
    on conflict (org_id, contact_id, kind, subject_id, occasion, customer_id) do update
      set attempts = kept.attempts + 1, attempt_time = excluded.attempt_time
      where not kept.is_sent and kept.attempts < ${maxAttempts} and kept.attempt_time <= excluded.attempt_time - ${pause}
    returning contact_id, kind, subject_id`.execute(db);
  const isTaken = new Set(taken.map(keyOf));
  return due.filter((each) => isTaken.has(keyOf(each)));
}

const maxTaken = 1_000;

const keyOf = ({ contact_id, kind, subject_id }: Pick<DueWarning, "contact_id" | "kind" | "subject_id">): string =>
  `${contact_id} ${kind} ${subject_id}`;

async function readDueWarnings(
  db: Kysely<Schema>,
  org: OrgKey,
  now: RawBuilder<unknown>,
): Promise<readonly DueWarning[]> {
  const isNew = (kind: string, id: string, occasion: string) => sql`
    not exists (
      select from contact_warnings as sent
      where sent.customer_id = ${org.customer_id} and sent.org_id = ${org.id} and sent.contact_id = told.contact_id
        and sent.kind = ${sql.ref(kind)} and sent.subject_id = ${sql.ref(id)} and sent.occasion = ${sql.ref(occasion)}
        and (sent.is_sent or sent.attempts >= ${maxAttempts}))`;
  // A contact of several kinds is told once.
  const { rows } = await sql<DueWarning>`
    with told as materialized (
      select distinct contacts.id as contact_id, contacts.email, contacts.name as contact_name, rules.kind
      from contacts
      join (select * from unnest(${rulesOf.kinds}::text[], ${rulesOf.contactKinds}::text[])) as rules (kind, contact_kind)
        on rules.contact_kind = any(contacts.kinds)
      where ${isInOrgOf("contacts", org)} and contacts.confirm_time is not null and not exists (
        select from contact_warnings as recent
        where recent.customer_id = ${org.customer_id} and recent.org_id = ${org.id} and recent.contact_id = contacts.id
          and recent.attempt_time > ${now} - ${pause} and recent.kind <> ${fixedKind})
    ),
    states as materialized (${selectStates(org, sql`${now} - make_interval(days => ${warnedDays})`)})
    select told.*, subjects.* from told
    cross join lateral (
      (select api_keys.id as subject_id, api_keys.name as subject_name, members.name as member_name,
        api_keys.expire_time as occasion, api_keys.expire_time as end_time
      ${fromEndingKeys(org, now)} and told.kind = 'API_KEY_ENDS' and ${isNew("told.kind", "api_keys.id", "api_keys.expire_time")}
      order by api_keys.expire_time, api_keys.id limit ${perKind})
      union all
      (select states.subject_id, states.subject_name, null, states.occasion, states.end_time
      from states where states.kind = told.kind and ${isNew("states.kind", "states.subject_id", "states.occasion")}
      order by states.occasion desc, states.subject_id limit ${perKind})
    ) as subjects
    order by told.contact_id, told.kind, subjects.subject_id, subjects.occasion`.execute(db);
  return rows;
}

/** The API keys of an org that end soon, and that no other one has replaced. */
function fromEndingKeys(org: OrgKey, now: RawBuilder<unknown>): RawBuilder<unknown> {
  const isWithMember = sql`members.customer_id = api_keys.customer_id and members.org_id = api_keys.org_id and members.id = api_keys.member_id`;
  const isReplaced = sql`exists (
    select from api_keys as newer
    where newer.customer_id = api_keys.customer_id and newer.org_id = api_keys.org_id and newer.rotated_from_id = api_keys.id)`;
  return sql`
    from api_keys join members on ${isWithMember} and members.delete_time is null
    where ${isInOrgOf("api_keys", org)} and ${isActive(org)} and not ${isReplaced}
      and api_keys.expire_time > ${now} and api_keys.expire_time <= ${now} + make_interval(days => ${warnedDays})
      and api_keys.create_time < api_keys.expire_time - make_interval(days => ${2 * warnedDays})`;
}

/** The rules as two columns. */
const rulesOf = {
  kinds: Object.entries(recipients).flatMap(([kind, of]) => of.map(() => kind)),
  contactKinds: Object.values(recipients).flatMap((of): readonly ContactKind[] => of),
};

/** Notes that a mail server has taken a mail with warnings. Whom it was for is forgotten with that. */
export async function noteWarningsSent(db: Kysely<Schema>, org: OrgKey, sent: readonly DueWarning[]): Promise<void> {
  await sql`
    update contact_warnings set is_sent = true, email = null, contact_name = null, subject_name = null
    from unnest(${sent.map((each) => each.contact_id)}::uuid[], ${sent.map((each) => each.kind)}::text[],
      ${sent.map((each) => each.subject_id)}::uuid[], ${sent.map((each) => each.occasion)}::timestamptz[])
      as sent (contact_id, kind, subject_id, occasion)
    where ${isInOrgOf("contact_warnings", org)} and contact_warnings.contact_id = sent.contact_id and contact_warnings.kind = sent.kind
      and contact_warnings.subject_id = sent.subject_id and contact_warnings.occasion = sent.occasion`.execute(db);
}
