// Reads the paths in a request on which its caller is authorised.
import { type TargetPath, parseTargetPath } from "../../access/evaluation/target-path.ts";
import { type AnyPath, parseAnyPath } from "../../paths/parse-path.ts";
import type { Steps } from "../../scheduling/steps.ts";
import type { AnyPathField, TargetField } from "./path-fields.ts";

/** The fields of a request by local name. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** Returns the path of the resource that a request targets; empty for the platform as a whole. @throws ServiceError PATH_INVALID */
export function readTarget(target: TargetField | undefined, message: RequestFields): AnyPath {
  if (target === undefined) return { pattern: [], references: [] };
  return parseAnyPath(target.patterns, (message[target.localName] ?? "") as string, target.name, target.wildcards);
}

const maxPaths = 1000;

/** Returns the distinct paths in an access question, in steps of one path. @throws ServiceError PATH_INVALID */
export function* readAnyPaths(field: AnyPathField, message: RequestFields): Steps<TargetPath[]> {
  const { listName, messageName, localName } = field;
  // Validation rejects longer lists later.
  const items = listName === undefined ? [] : (message[listName] as RequestFields[]).slice(0, maxPaths);
  const isAlone = listName === undefined || (items.length === 0 && messageName !== undefined);
  const paths = new Map<string, TargetPath>();
  for (const [index, item] of (isAlone ? [message] : items).entries()) {
    const holder =
      messageName === undefined ? item : ((item[messageName] ?? message[messageName]) as RequestFields | undefined);
    const path = (holder?.[localName] ?? "") as string;
    // A missing message or empty path is skipped here; validation decides later whether that is allowed.
    if (paths.has(path) || (messageName !== undefined && path === "")) continue;
    paths.set(path, parseTargetPath(path, nameOf(field, isAlone ? undefined : index)));
    if (!isAlone) yield;
  }
  return [...paths.values()];
}

/** @param index of the item that contains the field, if any. */
function nameOf({ listName, messageName, name }: AnyPathField, index: number | undefined): string {
  const item = index === undefined ? "" : `${listName}[${index}].`;
  return `${item}${messageName === undefined ? "" : `${messageName}.`}${name}`;
}
