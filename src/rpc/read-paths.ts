// The paths in a request that its caller is authorised on.
import { type TargetPath, parseTargetPath } from "../access/evaluation/target-path.ts";
import { type AnyPath, parseAnyPath } from "../paths/resource-path.ts";
import type { AnyPathField, TargetField } from "./path-fields.ts";

/** A request by the names of its fields. */
export type RequestFields = Readonly<Record<string, unknown>>;

/**
 * The path of the resource that a request is about; empty for the platform as a whole.
 *
 * @throws ServiceError PATH_INVALID
 */
export function readTarget(target: TargetField | undefined, message: RequestFields): AnyPath {
  if (target === undefined) return { pattern: [], references: [] };
  return parseAnyPath(target.patterns, (message[target.localName] ?? "") as string, target.name, target.wildcards);
}

const maxPaths = 1000;

/**
 * Each path that a question is about, once.
 *
 * @throws ServiceError PATH_INVALID
 */
export function readAnyPaths(field: AnyPathField, message: RequestFields): TargetPath[] {
  const { listName, messageName, localName } = field;
  // More than may be asked at once are refused afterwards.
  const items = listName === undefined ? [] : (message[listName] as RequestFields[]).slice(0, maxPaths);
  const isAlone = listName === undefined || (items.length === 0 && messageName !== undefined);
  const paths = new Map<string, TargetPath>();
  for (const [index, item] of (isAlone ? [message] : items).entries()) {
    const holder =
      messageName === undefined ? item : ((item[messageName] ?? message[messageName]) as RequestFields | undefined);
    const path = (holder?.[localName] ?? "") as string;
    // A message that is left out, or says nothing, is about nothing; whether it may is looked at with the rest of the request.
    if (paths.has(path) || (messageName !== undefined && path === "")) continue;
    paths.set(path, parseTargetPath(path, nameOf(field, isAlone ? undefined : index)));
  }
  return [...paths.values()];
}

/** @param index of the item that holds the field, if one does. */
function nameOf({ listName, messageName, name }: AnyPathField, index: number | undefined): string {
  const item = index === undefined ? "" : `${listName}[${index}].`;
  return `${item}${messageName === undefined ? "" : `${messageName}.`}${name}`;
}
