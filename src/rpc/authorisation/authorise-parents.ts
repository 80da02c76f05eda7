// Authorises a BatchCreate over several parents in one org (AIP-233): its own parent ends with `-`, and its items name theirs.
import { lifting } from "../../access/evaluation/allows.ts";
import type { Authorised, CallerAuthoriser, ItemParent } from "../../access/evaluation/authorise.ts";
import type { Decision } from "../../access/evaluation/confirm-author.ts";
import { required } from "../../errors/required.ts";
import { type AnyPath, type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { atItemOf, checkItems } from "../../standard-methods/batch/batch-item.ts";
import type { RequestFields } from "./read-paths.ts";

interface AuthorisedParents {
  readonly authorised: Authorised;
  /** The decisions to make again when the write has its locks. */
  readonly decisions: readonly Decision[];
}

type Written = readonly Reference[] | undefined;

/** How many items are authorised. Validation rejects longer batches later. */
const maxItems = 1000;

const atRequest = atItemOf("requests");

export function isOverParents({ references }: AnyPath, message: RequestFields): boolean {
  return message["requests"] !== undefined && references.at(-1)?.by === "any";
}

/**
 * Authorises a batch on all parents in the org at once or, if that does not decide, on each parent that its items name, like a single
 * Create. An item that names another org is authorised as if it named the org of the batch, and the handler refuses it; so the answer
 * does not reveal whether the other org has such a parent.
 *
 * @param all the parent of the batch.
 * @throws ServiceError FIELD_INVALID with all invalid paths, PERMISSION_DENIED with the index of the first item that is denied.
 */
export async function authoriseParents(
  authoriser: CallerAuthoriser,
  permission: string,
  all: AnyPath,
  message: RequestFields,
): Promise<AuthorisedParents> {
  const written = await readParents(all, message["requests"] as readonly RequestFields[]);
  const onAll = await authoriseAll(authoriser, permission, all);
  if (onAll !== undefined) {
    const above = onAll.authorised.target.references.slice(0, -1);
    const parents = written.map((path) => path && { written: path, references: [...above, ...path.slice(-1)] });
    return { ...onAll, authorised: { ...onAll.authorised, parents } };
  }
  return authoriseEach(authoriser, permission, all, written);
}

/** Reads the parent of each item; undefined for an item that names none, which the handler refuses. */
function readParents({ pattern }: AnyPath, requests: readonly RequestFields[]): Promise<Written[]> {
  return checkItems(requests.slice(0, maxItems), ({ parentPath }, index) => {
    const path: Written =
      parentPath === undefined || parentPath === ""
        ? undefined
        : parseResourcePath(pattern, parentPath as string, `requests[${index}].parent_path`);
    return Promise.resolve(path);
  });
}

/** Authorises on all parents at once. Returns undefined if that is not decided by what the caller holds on the org. */
async function authoriseAll(
  { decideQuietly }: CallerAuthoriser,
  permission: string,
  all: AnyPath,
): Promise<AuthorisedParents | undefined> {
  // A suspended project denies what is done in it to those who may not lift the suspension.
  const permissions = all.pattern[1] === patterns.Project[1] ? [permission, lifting.project] : [permission];
  const decisions: Decision[] = [];
  let authorised: Authorised | undefined;
  for (const each of permissions) {
    const requirement = requirementOf(each);
    const decided = await decideQuietly(requirement, all);
    if (decided === undefined) return undefined;
    authorised ??= decided;
    decisions.push({ requirement, path: decided.target });
  }
  return { authorised: required(authorised), decisions };
}

async function authoriseEach(
  { decide }: CallerAuthoriser,
  permission: string,
  all: AnyPath,
  written: readonly Written[],
): Promise<AuthorisedParents> {
  const requirement = requirementOf(permission);
  const above = all.references.slice(0, -1);
  const known = new Map<string, Authorised>();
  const parents: (ItemParent | undefined)[] = [];
  for (const [index, path] of written.entries()) {
    const last = path?.at(-1);
    if (path === undefined || last === undefined || last.by === "any") {
      parents.push(undefined);
      continue;
    }
    const key = `${last.by} ${last.value}`;
    const decided =
      known.get(key) ??
      (await atRequest(index, () => decide(requirement, { pattern: all.pattern, references: [...above, last] })));
    known.set(key, decided);
    parents.push({ written: path, references: decided.target.references });
  }
  const [first = await decide(requirement, all)] = known.values();
  const references = [...first.target.references.slice(0, -1), ...all.references.slice(-1)];
  const decisions = [...known.values()].map(({ target: path }) => ({ requirement, path }));
  return { authorised: { ...first, target: { ...first.target, references }, parents }, decisions };
}

function requirementOf(permission: string): Decision["requirement"] {
  return { permission, listVisibility: "never" };
}
