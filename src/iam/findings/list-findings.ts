// Reads a page of findings: kind by kind, and each kind in statements that look at a bounded number of candidates. Each statement waits for
// its turn, so that other customers' questions are between those of one. A page ends when it is full, or after so many candidates.
import { isStatementTimeout } from "../../database/failure.ts";
import type { Database } from "../../database/database.ts";
import { type StatementLimits, limitsWithin, listLimits, settingsOf } from "../../database/transaction-limits.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type FilterFields, enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { type FilterSql, toSql } from "../../filters/to-sql.ts";
import { createFairQueue } from "../../scheduling/fair-queue.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { canMatch } from "./can-match.ts";
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
import { unusedBindings, unusedClients, unusedMemberships, unusedPermissions, unusedSubgroups } from "./use-sources.ts";

/** In the order of the list. */
export const findingSources: readonly FindingSource[] = [
  keysWithoutEnd,
  unusedKeys,
  unusedMembers,
  containedBindings,
  groupsWithoutMembers,
  unboundRoles,
  unusedBindings,
  unusedMemberships,
  unusedSubgroups,
  unusedPermissions,
  unusedClients,
];

const order: readonly string[] = findingSources.map(({ kind }) => kind);

const fields: FilterFields = {
  kind: enumerated("finding.kind", order),
  related_path: text("finding.related_path"),
  resource_path: text("finding.resource_path"),
  since_time: scalar("timestamp", "finding.since_time"),
};

export interface FindingsFilter {
  readonly where: FilterSql;
  /** Whether there can be findings of a kind that match. */
  readonly admits: (kind: string) => boolean;
}

/** @throws ServiceError FIELD_INVALID */
export function readFindingsFilter(filter: string): FindingsFilter {
  const condition = readFilter(filter, fields);
  return { where: toSql(condition), admits: (kind) => canMatch(condition, kind) };
}

interface FindingsCall {
  /** The org of the caller. */
  readonly orgId: string;
  /** The customer of the org that is asked about. */
  readonly customerId: string;
  readonly signal: AbortSignal;
  /** Returns the time until the deadline of the call, in milliseconds; undefined if there is none. */
  readonly timeoutMs: () => number | undefined;
}

interface FindingsPage {
  readonly question: FindingsQuestion;
  readonly sources: readonly FindingSource[];
  readonly filter: FindingsFilter;
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

/** @throws ServiceError RATE_LIMITED, DEADLINE_EXCEEDED when a statement takes too long, although it looks at one candidate. */
export type ListFindings = (call: FindingsCall, page: FindingsPage) => Promise<FoundPage>;

/** How many statements a page takes at most. */
const maxStatements = 20;

/** A page that has taken so long ends before its next statement, so that it is answered before its deadline. */
const pageMs = 10_000;

/** How many run at once, each on a connection. Callers of one org have one of them, and so has one customer: no org that takes long has both. */
const readsAtOnce = 2;

/** So long each statement may take, and so others wait for their turns: less than for lists. */
const findingsLimits: StatementLimits = { ...listLimits, statementMs: 1_000 };

/** A statement that takes too long looks at so many times fewer candidates the next time. */
const fewer = 8;

export function createListFindings(database: Database, ofStatement: StatementLimits = findingsLimits): ListFindings {
  const turns = createFairQueue({ capacity: readsAtOnce, perTarget: 1, perOrg: 1, waitsFor: "findings to be read" });

  /** Returns undefined when it takes too long. */
  const read = ({ orgId, customerId, signal, timeoutMs }: FindingsCall, select: ReturnType<typeof selectFindings>) =>
    turns.run({ orgId, target: customerId, signal: () => signal }, async () => {
      const { sql: statementText, parameters } = select.compile(database.reads);
      const limits = limitsWithin(ofStatement, timeoutMs());
      const known = { text: statementText, values: parameters, isKept: false };
      try {
        const [rows = []] = await database.readTogether([known], () => settingsOf(limits));
        return rows as FoundRow[];
      } catch (cause) {
        if (!isStatementTimeout(cause)) throw cause;
        // It had less time because of the deadline of the call, so that there is none for another one.
        if (limits.statementMs < ofStatement.statementMs) throw tooLong(limits, cause);
        return undefined;
      }
    });

  return async (call, { question, sources, filter, after, size, isShown }) => {
    const [startKind, ...startKey] = after ?? [];
    const start = order.findIndex((kind) => kind === startKind);
    const findings: FindingColumns[] = [];
    const share = createPageShare(call, ofStatement);
    for (const source of sources.filter(({ kind }) => order.indexOf(kind) >= start && filter.admits(kind))) {
      let position: readonly string[] | undefined =
        source.kind === startKind && startKey.length > 0 ? startKey : undefined;
      let { atOnce } = source;
      for (;;) {
        if (share.isUsed()) return { findings, next: [source.kind, ...(position ?? [])] };
        // One more shows that there is a next page.
        const limit = size - findings.length + 1;
        const page = { after: position, limit, filter: filter.where };
        const rows = await read(call, selectFindings({ ...source, atOnce }, question, page));
        if (rows === undefined) {
          if (atOnce === 1) throw tooLong(ofStatement);
          atOnce = Math.ceil(atOnce / fewer);
          continue;
        }
        share.countRead();
        const found = rows.filter((row): row is FoundRow & FindingColumns => row.kind !== null);
        for (const finding of found) {
          if (!(await isShown(finding))) continue;
          if (findings.length === size) return { findings, next: cursorOf(findings) };
          findings.push(finding);
        }
        const [{ examined, last_key: lastKey } = { examined: 0, last_key: null }] = rows;
        // Those that are not shown have taken room in the statement.
        if (found.length === limit) position = found.at(-1)?.key;
        else if (examined < atOnce || lastKey === null) break;
        else position = lastKey;
      }
    }
    return { findings, next: undefined };
  };
}

/** What of its share a page has used. */
interface PageShare {
  /** Whether the page ends here, which is asked before each statement. One that has read nothing goes on, so that each page gets further. */
  readonly isUsed: () => boolean;
  readonly countRead: () => void;
}

function createPageShare({ timeoutMs }: FindingsCall, { statementMs }: StatementLimits): PageShare {
  const startedAt = performance.now();
  let read = 0;
  return {
    isUsed() {
      if (read === 0) return false;
      const isLate = performance.now() - startedAt > pageMs || (timeoutMs() ?? Infinity) < statementMs;
      return read === maxStatements || isLate;
    },
    countRead: () => void read++,
  };
}

function tooLong({ statementMs }: StatementLimits, cause?: unknown): ServiceError {
  const message = `a part of the list took longer than the ${statementMs} ms it has; ask for some kinds only, with a filter`;
  return new ServiceError("DEADLINE_EXCEEDED", message, { cause });
}

function cursorOf(findings: readonly FindingColumns[]): Cursor | undefined {
  const last = findings.at(-1);
  return last && [last.kind, ...last.key];
}
