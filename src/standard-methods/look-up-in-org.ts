import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Later } from "../database/write-transaction.ts";
import type { LookupInTransaction } from "../database/path-lookup.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { AnyPath, Reference } from "../paths/parse-path.ts";
import { type PathPattern, isSamePattern } from "../paths/patterns.ts";
import { orgReference } from "./org-reference.ts";

/**
 * Looks up the resources of one kind that texts name, in the org of the write, together with the next statement. Returns those that
 * exist, by text. Ignores texts that are no paths, or of another kind.
 */
export function lookUpInOrg<Row>(
  transaction: OrgTransaction,
  lookup: LookupInTransaction<Row>,
  pattern: PathPattern,
  parse: (text: string) => AnyPath,
  texts: readonly string[],
): Later<ReadonlyMap<string, Row>> {
  const paths = new Map<string, readonly Reference[]>();
  for (const text of new Set(texts)) {
    const path = readPath(parse, text);
    const last = path?.references[1];
    if (path === undefined || last === undefined || !isSamePattern(path.pattern, pattern)) continue;
    paths.set(text, [orgReference(transaction), last]);
  }
  const rows = lookup.allWithNext(transaction.db, [...paths.values()]);
  return () => {
    const found = rows();
    return new Map(
      [...paths.keys()].flatMap((text, index) => {
        const row = found[index];
        return row === undefined ? [] : [[text, row] as const];
      }),
    );
  };
}

function readPath(parse: (text: string) => AnyPath, text: string): AnyPath | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
