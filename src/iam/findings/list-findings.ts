// Reads a page of findings: kind by kind, and each kind in statements that look at a bounded number of candidates. Each statement waits for
// its turn, so that other customers' questions are between those of one. A page ends when it is full, or after so many candidates.
import { isStatementTimeout } from "../../database/failure.ts";
import type { Database } from "../../database/database.ts";
import { limitsWithin, listLimits, settingsOf } from "../../database/transaction-limits.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type FilterFields, enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { type FilterSql, toSql } from "../../filters/to-sql.ts";
import { createFairQueue } from "../../scheduling/fair-queue.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { containedBindings } from "./contained-bindings.ts";
import { keysWithoutEnd, unusedKeys, unusedMembers } from "./credential-sources.ts";
import {
  type FindingColumns,
  type FindingSource,
  type FindingsQuestion,
  type FoundRow,
  selectFindings,
} from "./finding-source.ts";
import { groupsWithoutMembers, unboundRoles } from "./group-and-role-sources.ts";

/** In the order of the list. */
export const findingSources: readonly FindingSource[] = [
  keysWithoutEnd,
  unusedKeys,
  unusedMembers,
  containedBindings,
  groupsWithoutMembers,
  unboundRoles,
];

const order: readonly string[] = findingSources.map(({ kind }) => kind);

const fields: FilterFields = {
  kind: enumerated("finding.kind", order),
  related_path: text("finding.related_path"),
  resource_path: text("finding.resource_path"),
  since_time: scalar("timestamp", "finding.since_time"),
};

/** @throws ServiceError FIELD_INVALID */
export const readFindingsFilter = (filter: string): FilterSql => toSql(readFilter(filter, fields));

interface FindingsCall {
  /** The org of the caller. */
  readonly orgId: string;
  readonly signal: AbortSignal;
  /** Returns the time until the deadline of the call, in milliseconds; undefined if there is none. */
  readonly timeoutMs: () => number | undefined;
}

interface FindingsPage {
  readonly question: FindingsQuestion;
  readonly sources: readonly FindingSource[];
  readonly filter: FilterSql;
  /** The kind and the key after which to go on. */
  readonly after: Cursor | undefined;
  readonly size: number;
  /** Whether the caller may see what is found. */
  readonly isShown: (finding: FindingColumns) => Promise<boolean>;
}

interface FoundPage {
  readonly findings: readonly FindingColumns[];
  /** Undefined on the last page. */
  readonly next: Cursor | undefined;
}

/** @throws ServiceError RATE_LIMITED, DEADLINE_EXCEEDED when a statement takes too long. */
export type ListFindings = (call: FindingsCall, page: FindingsPage) => Promise<FoundPage>;

/** How many statements a page takes at most. */
const maxStatements = 20;

/** How many run at once, on a connection each. */
const readsAtOnce = 1;

export function createListFindings(database: Database): ListFindings {
  const turns = createFairQueue({ capacity: readsAtOnce, perTarget: 1, perOrg: 1, waitsFor: "findings to be read" });

  const read = ({ orgId, signal, timeoutMs }: FindingsCall, statement: ReturnType<typeof selectFindings>) =>
    turns.run({ orgId, target: undefined, signal: () => signal }, async () => {
      const { sql: statementText, parameters } = statement.compile(database.reads);
      const limits = limitsWithin(listLimits, timeoutMs());
      const known = { text: statementText, values: parameters, isKept: false };
      try {
        const [rows = []] = await database.readTogether([known], () => settingsOf(limits));
        return rows as FoundRow[];
      } catch (cause) {
        if (!isStatementTimeout(cause)) throw cause;
        const message = `a part of the list took longer than the ${limits.statementMs} ms it has; ask for some kinds only, with a filter`;
        throw new ServiceError("DEADLINE_EXCEEDED", message, { cause });
      }
    });

  return async (call, { question, sources, filter, after, size, isShown }) => {
    const [startKind, ...startKey] = after ?? [];
    const start = order.findIndex((kind) => kind === startKind);
    const findings: FindingColumns[] = [];
    let statements = 0;
    for (const source of sources.filter(({ kind }) => order.indexOf(kind) >= start)) {
      let position: readonly string[] | undefined =
        source.kind === startKind && startKey.length > 0 ? startKey : undefined;
      for (;;) {
        if (statements === maxStatements) return { findings, next: [source.kind, ...(position ?? [])] };
        statements++;
        // One more shows that there is a next page.
        const limit = size - findings.length + 1;
        const rows = await read(call, selectFindings(source, question, { after: position, limit, filter }));
        const found = rows.filter((row): row is FoundRow & FindingColumns => row.kind !== null);
        for (const finding of found) {
          if (!(await isShown(finding))) continue;
          if (findings.length === size) return { findings, next: cursorOf(findings) };
          findings.push(finding);
        }
        const [{ examined, last_key: lastKey } = { examined: 0, last_key: null }] = rows;
        // Those that are not shown have taken room in the statement.
        if (found.length === limit) position = found.at(-1)?.key;
        else if (examined < source.atOnce || lastKey === null) break;
        else position = lastKey;
      }
    }
    return { findings, next: undefined };
  };
}

function cursorOf(findings: readonly FindingColumns[]): Cursor | undefined {
  const last = findings.at(-1);
  return last && [last.kind, ...last.key];
}
