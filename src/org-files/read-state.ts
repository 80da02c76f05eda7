// Reads what is in an org, by calls of the List methods as the caller: it gets what these show, and where one refuses, or shows less than
// there is, the whole is refused.
import { type Message, isMessage } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Org, OrgSchema, OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectSchema, Project_State } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import { formatPath, formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import { maxResources, tooManyResources } from "./resource-limit.ts";
import { readLimits } from "./read-limits.ts";
import type { StateReader, StateResource } from "./state-resource.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import { authenticateAgain } from "../rpc/request-gate.ts";
import {
  type FileType,
  type Identified,
  fileForms,
  fileTypes,
  inOrder,
  itemsOf,
  pathBelowOrg,
  toFileMessage,
} from "./file-resources.ts";

export type OfCaller = InProcess["ofCaller"];

/** An org at one revision. */
export interface OrgState {
  readonly id: string;
  readonly name: string;
  readonly revision: string;
  /** The org itself, with the fields that a file has. */
  readonly org: Org;
  /** In the order of their types, and then of their paths. */
  readonly resources: readonly StateResource[];
}

const pageSize = 1_000;
/** How often a busy org is read for a call. */
const maxAttempts = 5;

/**
 * Repeats what reads an org at one revision.
 *
 * @param read returns undefined if the org has changed meanwhile.
 * @throws ServiceError ETAG_STALE when the org keeps changing.
 */
export async function readUnchanged<Result>(org: Reference, read: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const result = await read();
    if (result !== undefined) return result;
  }
  const resource = formatReferences(patterns.Org, [org]);
  throw new ServiceError("ETAG_STALE", "the org was changed while it was read; try again", { metadata: { resource } });
}

/**
 * Reads an org; undefined if it has changed meanwhile.
 *
 * @throws ConnectError of the List method that refuses. ServiceError LIMIT_EXCEEDED when there is more than a file may have.
 */
export async function readState(
  { ofCaller, database }: StateReader,
  context: HandlerContext,
  org: Reference,
): Promise<OrgState | undefined> {
  const { id } = await ofCaller(OrgsService.method.getOrg, { path: formatReferences(patterns.Org, [org]) }, context);
  const path = formatPath(patterns.Org, `@${id}`);
  const before = await readRevision(database, id);
  // Responses to this caller would show the revision that the org had when the call came.
  await authenticateAgain(context.values);
  const found = await ofCaller(OrgsService.method.getOrg, { path }, context);
  const listed = await readResources(ofCaller, context, path);
  const resources = inOrder([...listed, ...(await readLimits({ ofCaller, database }, context, { id, path }, listed))]);
  if (resources.length > maxResources) throw tooManyResources(path, "the org");
  // Nothing was committed between two reads of the same revision, so that all between them show it.
  if (before === undefined || before !== (await readRevision(database, id))) return undefined;
  return { id, name: found.name, revision: before, org: toFileMessage(OrgSchema, found), resources };
}

async function readRevision({ reads }: StateReader["database"], id: string): Promise<string | undefined> {
  const row = await reads.selectFrom("orgs").select("revision").where("id", "=", id).executeTakeFirst();
  return row?.revision;
}

async function readResources(ofCaller: OfCaller, context: HandlerContext, orgPath: string): Promise<StateResource[]> {
  const found: StateResource[] = [];
  const suspended: string[] = [];
  const readAll = (type: FileType, parentPath: string): Promise<void> =>
    readPages(ofCaller, context, { type, parentPath }, (page) => add(type, page));
  const add = (type: FileType, items: readonly (Message & Identified)[]): void => {
    for (const item of items) {
      if (isMessage(item, ProjectSchema) && item.state === Project_State.SUSPENDED) suspended.push(item.path);
      const resource = toResource(type, item);
      if (resource !== undefined) found.push(resource);
    }
    if (found.length > maxResources) throw tooManyResources(orgPath, "the org");
  };
  for (const type of fileTypes) {
    for (const below of fileForms[type].parents) await readAll(type, orgPath + below);
  }
  // Without the permission to activate them, lists over all projects leave these out. A list of one is refused.
  for (const parentPath of suspended) await readAll("role binding", parentPath);
  return found;
}

interface Pages {
  readonly type: FileType;
  readonly parentPath: string;
}

async function readPages(
  ofCaller: OfCaller,
  context: HandlerContext,
  { type, parentPath }: Pages,
  take: (page: readonly (Message & Identified)[]) => void,
): Promise<void> {
  for (let pageToken = ""; ;) {
    const response: Readonly<Record<string, unknown>> = await ofCaller(
      fileForms[type].list,
      { parentPath, pageSize, pageToken },
      context,
    );
    take(itemsOf(response, type));
    const next = response["nextPageToken"];
    if (typeof next !== "string" || next === "") return;
    pageToken = next;
  }
}

/** Returns a resource as a file has it; undefined for a role binding of what is deleted, which is shown again when that is restored. */
function toResource(type: FileType, item: Message & Identified): StateResource | undefined {
  const { path, id, createTime } = item;
  if (isOfDeleted(path) || (isMessage(item, RoleBindingSchema) && isOfDeleted(item.subjectPath))) return undefined;
  return { type, id, createTime, path: pathBelowOrg(path), message: toFileMessage(fileForms[type].schema, item) };
}

/** The path of what is deleted has an id in place of the name. */
const isOfDeleted = (path: string): boolean => path.includes("/@");
