// Erases what no longer exists from the logs. It takes several transactions where there are many entries; the last one has the entry which
// says that it was done.
import type { Message } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { countEntriesOf, eraseEntriesOf, isInLog } from "../../changes/erase-from-log.ts";
import { removeStates } from "../../changes/past/past-states.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { byId, formatPath, formatReferences, pathName } from "../../paths/format-path.ts";
import type { References } from "../../paths/parse-path.ts";
import type { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { type WriteRequest, runWrite } from "../../standard-methods/write/write-call.ts";

interface Counted {
  /** From how many entries something was erased. */
  readonly changeCount: number;
}

type ErasedPattern = typeof patterns.Member | typeof patterns.Contact | typeof otherPatterns.customerContact;

/** What is erased, and how the method of it answers. */
interface Erasure<Answer extends Message & Counted> {
  readonly type: "Member" | "Contact";
  readonly pattern: ErasedPattern;
  readonly locks: WriteLocks;
  /** Returns its id. Throws while it exists, and for what the log does not have. */
  readonly requireGone: (transaction: OrgTransaction) => Promise<string>;
  readonly toAnswer: (changeCount: number) => Answer;
}

/** How many entries are changed under one lock of the org. */
const maxEntries = 200;

export async function eraseFromLogs<Answer extends Message & Counted>(
  dependencies: ResourceDependencies,
  write: WriteRequest,
  erasure: Erasure<Answer>,
): Promise<Answer> {
  const { locks, requireGone, toAnswer } = erasure;
  let changeCount = 0;
  for (;;) {
    const before = changeCount;
    const answer = await runWrite(dependencies, write, (call) =>
      runOpen(call, locks, async (transaction) => {
        const { db, org } = transaction;
        const erased = { type: erasure.type, orgId: org.id, id: await requireGone(transaction) };
        if (write.validateOnly) return toAnswer(await countEntriesOf(db, erased));
        const count = await eraseEntriesOf(db, erased, maxEntries);
        // Also in the last of several, where nothing is left: one may have been kept meanwhile.
        if (before + count > 0) await removeStates(db, org);
        if (count === maxEntries) return toAnswer(count);
        await forgetAnswers(transaction, erased.id);
        if (before + count > 0) recordErasure(transaction, erasure, erased.id);
        return toAnswer(count);
      }),
    );
    changeCount += answer.changeCount;
    if (write.validateOnly || answer.changeCount < maxEntries) return toAnswer(changeCount);
  }
}

/**
 * Returns the id of what no longer exists.
 *
 * @param gone what it is then: `purged`.
 * @throws ServiceError FIELD_INVALID for a name, RESOURCE_NOT_FOUND for what never was, or of which the log has nothing.
 */
export async function requireInLog(
  { db, org }: OrgTransaction,
  { type, pattern }: Pick<Erasure<never>, "type" | "pattern">,
  path: References<ErasedPattern>,
  gone: string,
): Promise<string> {
  const [, reference] = path;
  const label = type.toLowerCase();
  if (reference.by === "name") {
    const rule = `must name the ${label} by its id, as in ${pattern[0]}/acme/${pattern[1]}/@<id>: a ${gone} ${label} has no name`;
    throw invalidField("path", rule);
  }
  const isKnown = reference.by === "id" && (await isInLog(db, { type, orgId: org.id, id: reference.value }));
  if (!isKnown) throw notFound(label, formatReferences(pattern, path));
  return reference.value;
}

/** An entry has a row before or after; to those who follow the log, this one says again that it is gone. */
function recordErasure(
  { org, record }: OrgTransaction,
  { type, pattern }: Pick<Erasure<never>, "type" | "pattern">,
  id: string,
): void {
  const path = formatPath(pattern, pathName(org), byId(id));
  const before = { org_id: org.id, id, ...(isLogOfCustomer(org) && { parent_customer_id: org.id }) };
  record({ type, id, path, containerId: id, before, after: null });
}

/**
 * Forgets what was answered to writes of the last day that may name it: those of itself, and those with its id, which others have made of its org, or of an
 * org of the same customer, as the log names them. Not those of the platform: a tenant can write the id into anything, and what is forgotten is carried out
 * again when it is repeated.
 */
async function forgetAnswers({ db, org }: OrgTransaction, id: string): Promise<void> {
  const names = sql`position(convert_to(${id}, 'UTF8') in answer) > 0`;
  await sql`
    delete from write_requests where customer_id = ${org.customer_id} and org_id = ${org.id} and (actor_id = ${id} or ${names})`.execute(
    db,
  );
  await sql`
    delete from write_requests using (
      select distinct actor_org_id, actor_id from changes
      where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_id = ${id} and actor_org_id is not null
    ) as authors
    where write_requests.customer_id = ${org.customer_id} and write_requests.org_id = authors.actor_org_id
      and write_requests.actor_id = authors.actor_id and ${names}`.execute(db);
}
