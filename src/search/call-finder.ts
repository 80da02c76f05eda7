// Calls the Get and List methods of any resource as the caller of a search.
import { type Message, create, isMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import {
  type FoundResource,
  FoundResourceSchema,
  type FoundResource_Match as Match,
} from "../../gen/iam/v1alpha/search_pb.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import type { Finder } from "./finders.ts";

/** Calls methods as the caller of a search. What they refuse is no attempt of the caller, and is noted nowhere. */
export type OfCaller = InProcess["ofCaller"];

export interface ListPage {
  readonly pageSize: number;
  readonly filter: string;
  readonly orderBy: string;
}

/** Returns the resource at a path; none if it does not exist, and for a path that has no name; `denied` if the caller may not read it. */
export async function getFound(
  ofCaller: OfCaller,
  { type, get }: Finder,
  path: string,
  match: Match,
  context: HandlerContext,
): Promise<readonly FoundResource[] | "denied"> {
  try {
    return [toFound(await ofCaller(get, { path }, context), type, match)];
  } catch (error) {
    if (hasCode(error, Code.PermissionDenied)) return "denied";
    if (hasCode(error, Code.NotFound) || hasCode(error, Code.InvalidArgument)) return [];
    throw error;
  }
}

/** Returns the first resources of a list; none if the caller may not list them. */
export async function listFound(
  ofCaller: OfCaller,
  { type, list, itemsField }: Finder,
  parentPath: string,
  page: ListPage,
  match: Match,
  context: HandlerContext,
): Promise<readonly FoundResource[]> {
  // Those of the platform have no parent.
  const parent = list.input.field["parentPath"] === undefined ? {} : { parentPath };
  try {
    const response = await ofCaller(list, { ...parent, ...page }, context);
    const items = fieldsOf(response)[itemsField];
    return Array.isArray(items) ? items.flatMap((item) => (isMessage(item) ? [toFound(item, type, match)] : [])) : [];
  } catch (error) {
    if (hasCode(error, Code.PermissionDenied) || hasCode(error, Code.NotFound)) return [];
    throw error;
  }
}

const hasCode = (error: unknown, code: Code): boolean => error instanceof ConnectError && error.code === code;

function toFound(message: Message, type: string, match: Match): FoundResource {
  const { path, id, displayName } = fieldsOf(message);
  return create(FoundResourceSchema, {
    type,
    match,
    path: textOf(path),
    id: textOf(id),
    displayName: textOf(displayName),
  });
}

const fieldsOf = (message: Message): Readonly<Record<string, unknown>> => message;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
