// Erases what no longer exists from the logs. It takes several transactions where there are many entries; the last one has the entry which
// says that it was done.
import type { Message } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { countOfMember, eraseMember } from "../../changes/erase-member.ts";
import { removeStates } from "../../changes/past/past-states.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { byId, formatPath, pathName } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { patterns } from "../../paths/patterns.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { type WriteRequest, runWrite } from "../../standard-methods/write/write-call.ts";

interface Counted {
  /** From how many entries something was erased. */
  readonly changeCount: number;
}

/** What is erased, and how the method of it answers. */
interface Erasure<Answer extends Message & Counted> {
  readonly type: "Member" | "Contact";
  readonly pattern: typeof patterns.Member | typeof patterns.Contact;
  readonly org: Reference;
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
  const { org: orgReference, requireGone, toAnswer } = erasure;
  let changeCount = 0;
  for (;;) {
    const before = changeCount;
    const answer = await runWrite(dependencies, write, (call) =>
      runOpen(call, { org: orgReference }, async (transaction) => {
        const { db, org } = transaction;
        const erased = { type: erasure.type, orgId: org.id, memberId: await requireGone(transaction) };
        if (write.validateOnly) return toAnswer(await countOfMember(db, erased));
        const count = await eraseMember(db, erased, maxEntries);
        // Also in the last of several, where nothing is left: one may have been kept meanwhile.
        if (before + count > 0) await removeStates(db, org);
        if (count === maxEntries) return toAnswer(count);
        await forgetAnswers(transaction, erased.memberId);
        if (before + count > 0) recordErasure(transaction, erasure, erased.memberId);
        return toAnswer(count);
      }),
    );
    changeCount += answer.changeCount;
    if (write.validateOnly || answer.changeCount < maxEntries) return toAnswer(changeCount);
  }
}

/** An entry has a row before or after; to those who follow the log, this one says again that it is gone. */
function recordErasure(
  { org, record }: OrgTransaction,
  { type, pattern }: Pick<Erasure<never>, "type" | "pattern">,
  id: string,
): void {
  const path = formatPath(pattern, pathName(org), byId(id));
  record({ type, id, path, containerId: id, before: { org_id: org.id, id }, after: null });
}

/** Forgets what was answered to writes of the last day that may name it: those of itself, and those with its id. */
async function forgetAnswers({ db, org }: OrgTransaction, id: string): Promise<void> {
  await sql`
    delete from write_requests where customer_id = ${org.customer_id} and org_id = ${org.id}
      and (actor_id = ${id} or position(convert_to(${id}, 'UTF8') in answer) > 0)`.execute(db);
}
