// Reads what is in an org, by calls of the List methods as the caller: it gets what these show, and where one refuses, or shows less than
// there is, the whole is refused.
import { type DescMethodUnary, type Message, isMessage } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Org, OrgSchema, OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectSchema, Project_State, ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import { formatPath, formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import { maxResources, tooManyResources } from "./resource-limit.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import {
  type FileResource,
  type FileType,
  fileForms,
  fileTypes,
  inOrder,
  pathBelowOrg,
  toFileMessage,
} from "./file-resources.ts";

export type OfCaller = InProcess["ofCaller"];

export interface StateResource extends FileResource {
  readonly id: string;
}

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
const maxAttempts = 3;

/**
 * Reads an org. If it changes meanwhile, reads it again.
 *
 * @throws ConnectError of the List method that refuses. ServiceError LIMIT_EXCEEDED when there is more than a file may have, ETAG_STALE
 *   when the org keeps changing.
 */
export async function readState(ofCaller: OfCaller, context: HandlerContext, org: Reference): Promise<OrgState> {
  const { id } = await ofCaller(OrgsService.method.getOrg, { path: formatReferences(patterns.Org, [org]) }, context);
  const path = formatPath(patterns.Org, `@${id}`);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const before = await readRevision(ofCaller, context, path);
    const found = await ofCaller(OrgsService.method.getOrg, { path }, context);
    const resources = await readResources(ofCaller, context, path);
    // Nothing was committed between two reads of the same revision, so that all between them show it.
    if (before !== (await readRevision(ofCaller, context, path))) continue;
    return { id, name: found.name, revision: before, org: toFileMessage(OrgSchema, found), resources };
  }
  throw changedWhileRead(path);
}

/** @param resource the path of the org. */
export function changedWhileRead(resource: string): ServiceError {
  return new ServiceError("ETAG_STALE", "the org was changed while it was read; try again", { metadata: { resource } });
}

async function readRevision(ofCaller: OfCaller, context: HandlerContext, parentPath: string): Promise<string> {
  const page = await ofCaller(ProjectsService.method.listProjects, { parentPath, pageSize: 1 }, context);
  return page.revision;
}

async function readResources(ofCaller: OfCaller, context: HandlerContext, orgPath: string): Promise<StateResource[]> {
  const found: StateResource[] = [];
  const suspended: string[] = [];
  const add = (type: FileType, items: readonly Message[]): void => {
    for (const item of items) {
      if (isMessage(item, ProjectSchema) && item.state === Project_State.SUSPENDED) suspended.push(item.path);
      const resource = toResource(type, item);
      if (resource !== undefined) found.push(resource);
    }
    if (found.length > maxResources) throw tooManyResources(orgPath, "the org");
  };
  for (const type of fileTypes) {
    const { list, items, parents } = fileForms[type];
    for (const below of parents)
      await readPages(ofCaller, context, { list, items, parentPath: orgPath + below }, (page) => add(type, page));
  }
  // Without the permission to activate them, lists over all projects leave these out. A list of one is refused.
  const { list, items } = fileForms["role binding"];
  for (const parentPath of suspended) {
    await readPages(ofCaller, context, { list, items, parentPath }, (page) => add("role binding", page));
  }
  return inOrder(found);
}

interface Pages {
  readonly list: DescMethodUnary;
  readonly items: string;
  readonly parentPath: string;
}

async function readPages(
  ofCaller: OfCaller,
  context: HandlerContext,
  { list, items, parentPath }: Pages,
  take: (page: readonly Message[]) => void,
): Promise<void> {
  for (let pageToken = ""; ;) {
    const response: Readonly<Record<string, unknown>> = await ofCaller(
      list,
      { parentPath, pageSize, pageToken },
      context,
    );
    const page = response[items];
    if (!Array.isArray(page)) throw new Error(`${list.name} has no list of ${items}`);
    take(page.filter((item) => isMessage(item)));
    const next = response["nextPageToken"];
    if (typeof next !== "string" || next === "") return;
    pageToken = next;
  }
}

/** Returns a resource as a file has it; undefined for a role binding of what is deleted, which is shown again when that is restored. */
function toResource(type: FileType, item: Message): StateResource | undefined {
  const { path, id } = item as Message & { readonly path: string; readonly id: string };
  if (isOfDeleted(path) || (isMessage(item, RoleBindingSchema) && isOfDeleted(item.subjectPath))) return undefined;
  return { type, id, path: pathBelowOrg(path), message: toFileMessage(fileForms[type].schema, item) };
}

/** The path of what is deleted has an id in place of the name. */
const isOfDeleted = (path: string): boolean => path.includes("/@");
