// Tests the job that removes rows which are of no use any longer, and of which no log says anything.
import { type RawBuilder, sql } from "kysely";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { type OldRows, removeOldRows } from "../../src/database/old-rows.ts";
import type { OrgKey } from "../../src/database/org-key.ts";
import { required } from "../../src/errors/required.ts";
import { oldRows, startOldRowsJob } from "../../src/jobs/old-rows-job.ts";
import { addMember, addOrg } from "../database/sample-rows.ts";
import { openTestDatabase } from "../support/test-database.ts";

type Member = OrgKey & { readonly memberId: string };

/** Inserts a row with a time, in its column of that name. */
const inserts: Readonly<Record<string, (member: Member, time: RawBuilder<Date>) => RawBuilder<unknown>>> = {
  write_requests: ({ customer_id, id, memberId }, time) => sql`
    insert into write_requests (customer_id, org_id, actor_id, request_id, fingerprint, answer, create_time)
    values (${customer_id}, ${id}, ${memberId}, gen_random_uuid(), '', '', ${time})`,
  authorization_codes: ({ customer_id, id, memberId }, time) => sql`
    insert into authorization_codes (id, hash, customer_id, org_id, member_id, client_org_id, oauth_client_id, redirect_uri,
      code_challenge, is_offline, expire_time)
    values (gen_random_uuid(), '', ${customer_id}, ${id}, ${memberId}, ${id}, gen_random_uuid(), '', '', false, ${time})`,
  sign_in_links: ({ customer_id, id, memberId }, time) => sql`
    insert into sign_in_links (id, hash, customer_id, org_id, member_id, expire_time)
    values (gen_random_uuid(), '', ${customer_id}, ${id}, ${memberId}, ${time})`,
  invitations: ({ customer_id, id, memberId }, time) => sql`
    insert into invitations (id, customer_id, org_id, member_id, address_hash, mail, send_time, expire_time)
    values (gen_random_uuid(), ${customer_id}, ${id}, ${memberId}, '', 'NONE', ${time}, ${time})`,
  contact_links: ({ customer_id, id, memberId }, time) => sql`
    insert into contact_links (id, customer_id, org_id, contact_id, address_hash, mail, send_time, expire_time)
    values (gen_random_uuid(), ${customer_id}, ${id}, ${memberId}, '', 'NONE', ${time}, ${time})`,
  contact_warnings: ({ customer_id, id, memberId }, time) => sql`
    insert into contact_warnings (customer_id, org_id, contact_id, kind, subject_id, occasion, attempts, attempt_time, is_sent, expire_time)
    values (${customer_id}, ${id}, ${memberId}, 'ORG_DELETED', gen_random_uuid(), ${time}, 1, ${time}, true, ${time})`,
  browser_sessions: (_member, time) => sql`
    insert into browser_sessions (id, hash, sign_in_time, expire_time) values (gen_random_uuid(), '', ${time}, ${time})`,
  ended_tokens: ({ customer_id, id }, time) => sql`
    insert into ended_tokens (customer_id, org_id, id, type, end_time)
    values (${customer_id}, ${id}, gen_random_uuid(), 'Token', ${time})`,
  access_uses: ({ customer_id, id, memberId }, time) => sql`
    insert into access_uses (customer_id, org_id, used_id, part, last_day)
    values (${customer_id}, ${id}, ${memberId}, gen_random_uuid()::text, ${time})`,
  access_events: ({ customer_id, id }, time) => sql`
    insert into access_events (customer_id, org_id, id, time, last_time, count, kind, method, resource_path, reason, reason_detail)
    values (${customer_id}, ${id}, gen_random_uuid(), ${time}, ${time}, 1, 'CALL_REFUSED', 'call', '', '', '')`,
};

function start(database: Database) {
  const failures: unknown[] = [];
  const logger = pino({}, { write: (line: string) => void failures.push(JSON.parse(line)) });
  const job = startOldRowsJob({ database, logger });
  onTestFinished(async () => {
    await job.close();
    expect(failures).toEqual([]);
  });
  return job;
}

/** Opens a database with a member in each of two orgs of two customers. */
async function openWithMembers(): Promise<{ readonly database: Database; readonly members: readonly Member[] }> {
  const database = await openTestDatabase();
  const members: Member[] = [];
  for (const name of ["acme", "other"]) {
    const org = await addOrg(database, name);
    const { id: memberId } = await addMember(database, org, "alice");
    members.push({ customer_id: org.customer_id, id: org.id, memberId });
  }
  return { database, members };
}

const ageOf = (ms: number): RawBuilder<Date> => sql<Date>`clock_timestamp() - make_interval(secs => ${ms / 1000})`;

async function count(database: Database, { table }: Pick<OldRows, "table">): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(database.reads);
  return required(rows[0]).n;
}

const minuteMs = 60_000;
const [answers] = oldRows as readonly [OldRows];

test("removes what is of no use any longer from the orgs of all customers, and nothing else", async () => {
  const { database, members } = await openWithMembers();
  for (const { table, keptMs } of oldRows) {
    const insert = required(inserts[table]);
    for (const member of members) {
      await insert(member, ageOf(keptMs + minuteMs)).execute(database.writes);
      await insert(member, ageOf(keptMs - minuteMs)).execute(database.writes);
    }
  }
  const job = start(database);
  await job.runOnce();
  for (const rows of oldRows) expect([rows.table, await count(database, rows)]).toEqual([rows.table, 2]);
  // Nothing was left to the second run.
  expect(await job.runOnce()).toEqual(Object.fromEntries(oldRows.map(({ table }) => [table, 0])));
});

test("keeps the warnings of something of which another warning is removed, whichever is of the earlier occasion", async () => {
  const { database, members } = await openWithMembers();
  const warnings = required(oldRows.find(({ table }) => table === "contact_warnings"));
  const [old, fresh] = [ageOf(minuteMs), ageOf(-minuteMs)];
  for (const { customer_id, id, memberId } of members) {
    await sql`
      insert into contact_warnings (customer_id, org_id, contact_id, kind, subject_id, occasion, attempts, attempt_time, is_sent, expire_time)
      select ${customer_id}, ${id}, ${memberId}, 'API_KEY_ENDS', ${memberId}, occasion, 1, ${old}, true, expire_time
      from (values (${ageOf(3 * minuteMs)}, ${fresh}), (${ageOf(2 * minuteMs)}, ${old}), (${ageOf(minuteMs)}, ${fresh}))
        as warnings (occasion, expire_time)`.execute(database.writes);
  }
  const signal = new AbortController().signal;
  expect(await removeOldRows(database.writes, warnings, new Date().toISOString(), signal)).toBe(2);
  expect(await count(database, warnings)).toBe(4);
});

test("removes more than one search finds", async () => {
  const { database, members } = await openWithMembers();
  for (const { customer_id, id, memberId } of members) {
    await sql`
      insert into write_requests (customer_id, org_id, actor_id, request_id, fingerprint, answer, create_time)
      select ${customer_id}, ${id}, ${memberId}, gen_random_uuid(), '', '', ${ageOf(answers.keptMs)} - n * interval '1 second'
      from generate_series(1, 1200) as n`.execute(database.writes);
  }
  const now = new Date(Date.now() + minuteMs).toISOString();
  expect(await removeOldRows(database.writes, answers, now, new AbortController().signal)).toBe(2_400);
  expect(await count(database, answers)).toBe(0);
});

test("leaves to a write what it renews meanwhile, waits for nobody, and ends when it is told to", async () => {
  const { database, members } = await openWithMembers();
  const [first, second] = members as readonly [Member, Member];
  const insert = required(inserts[answers.table]);
  for (const member of [first, second]) await insert(member, ageOf(2 * answers.keptMs)).execute(database.writes);
  const now = new Date().toISOString();
  expect(await removeOldRows(database.writes, answers, now, AbortSignal.abort())).toBe(0);
  const going = new AbortController().signal;
  await database.writes.transaction().execute(async (db) => {
    await sql`update write_requests set create_time = clock_timestamp() where org_id = ${first.id}`.execute(db);
    expect(await removeOldRows(database.writes, answers, now, going)).toBe(1);
  });
  expect(await removeOldRows(database.writes, answers, now, going)).toBe(0);
  expect(await count(database, answers)).toBe(1);
});
