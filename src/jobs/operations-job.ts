// The job that ends operations whose provider has not carried them out in as many attempts as there may be: claims that expired
// until none was left. Every server runs it; the lock of the org keeps two from ending the same operation.
import { sql } from "kysely";
import { isInOrgOf } from "../database/org-key.ts";
import type { Logger } from "pino";
import { serviceAuthor } from "../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { clockMs } from "../database/clock.ts";
import { operationDefinition } from "../resources/operations/definition.ts";
import { endOperation, readResourceOf } from "../resources/operations/end-operation.ts";
import type { ProviderDependencies } from "../resources/provider-dependencies.ts";
import { maxAttempts } from "../resources/operations/store.ts";
import { readByKeys } from "../standard-methods/read/row-reader.ts";
import { type Due, splitDue } from "./due.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface OperationsJobOptions {
  readonly dependencies: ProviderDependencies;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** How many operations a run ends. It leaves the rest to the next run. */
const perRun = 100;

const author = serviceAuthor("tenantry/operations");

interface Place {
  readonly org_id: string;
  readonly id: string;
}

export function createOperationsJob({ dependencies, intervalMs, logger }: OperationsJobOptions): PeriodicJob {
  const { database } = dependencies;

  const end = (place: Place): Promise<boolean> =>
    inTransaction(database, (db) => {
      const org = { by: "id", value: place.org_id } as const;
      return writeInOrg(db, { org, customer: true, state: "any" }, author, async (transaction) => {
        if (!(await lockExhausted(transaction, place))) return false;
        const [operation] = await readByKeys(db, operationDefinition, [place]);
        if (operation === undefined) return false;
        const message = `the provider did not carry it out in ${maxAttempts} attempts`;
        const resource = await readResourceOf(transaction, operation);
        await endOperation(transaction, dependencies, operation, resource, {
          state: "FAILED",
          reason: "ATTEMPTS_EXHAUSTED",
          message,
        });
        return true;
      });
    });

  const find = async (): Promise<Found<Place>> => {
    const { rows } = await sql<Place & Due>`
      select org_id, id, (extract(epoch from next_attempt_time) * 1000)::float8 as "dueMs", ${clockMs} as "nowMs"
      from operations where end_time is null and attempts >= ${sql.lit(maxAttempts)}
      order by next_attempt_time limit ${perRun}`.execute(database.reads);
    return splitDue(rows);
  };
  const work = async (place: Place): Promise<number> => ((await end(place)) ? 1 : 0);

  const looks = createLooks({ writes: database.activity.writes });
  return createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to end operations" });
}

const isExhausted = (now: string) =>
  sql<boolean>`end_time is null and attempts >= ${sql.lit(maxAttempts)} and next_attempt_time <= ${now}`;

async function lockExhausted({ db, org, time }: OrgTransaction, { id }: Place): Promise<boolean> {
  const { rows } = await sql`
    select id from operations
    where ${isInOrgOf("operations", org)} and id = ${id} and ${isExhausted(time)} for update`.execute(db);
  return rows.length > 0;
}
