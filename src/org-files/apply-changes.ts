// Makes the changes of a plan by calls of the methods for them, as the caller: each requires its permission, keeps its rules and limits, and
// writes its entries. The calls share the transaction that the context carries.
import { isMessage } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { OrgSchema, OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { QuotaSchema, QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { required } from "../errors/required.ts";
import { type Identified, itemsOf, parentPathOf } from "./file-resources.ts";
import { levelOfQuota } from "./limits.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { OfCaller } from "./read-state.ts";
import { writeMethods } from "./write-methods.ts";

/** How many resources a call creates or deletes. What is hashed for the log of one is not interrupted. */
const batchSize = 250;

/**
 * Makes changes, in their order. Returns what it has created, by paths below the org.
 *
 * @param orgPath by its id: `/orgs/@<id>`.
 * @throws ConnectError of the method that refuses, which names the resource.
 */
export async function applyChanges(
  ofCaller: OfCaller,
  context: HandlerContext,
  orgPath: string,
  changes: readonly PlannedChange[],
): Promise<ReadonlyMap<string, Identified>> {
  const created = new Map<string, Identified>();
  for (const batch of batchesOf(changes)) {
    // The org is locked: nobody waits for what the caller no longer does.
    context.signal.throwIfAborted();
    try {
      for (const [index, item] of (await applyBatch(ofCaller, context, orgPath, batch)).entries())
        created.set(required(batch[index]).path, item);
    } catch (error) {
      throw error instanceof ConnectError ? naming(error, batch) : error;
    }
  }
  return created;
}

type Batch = readonly [PlannedChange, ...PlannedChange[]];

/** Returns the path below the org by which a call names what it changes. */
const calledAt = ({ path, callPath = path }: PlannedChange): string => callPath;

/** Joins creations of a type, and deletions of a type in one parent, that follow each other. */
function* batchesOf(changes: readonly PlannedChange[]): Generator<Batch, void, void> {
  let batch: [PlannedChange, ...PlannedChange[]] | undefined;
  for (const change of changes) {
    if (batch !== undefined && batch.length < batchSize && isTogether(batch[0], change)) batch.push(change);
    else {
      if (batch !== undefined) yield batch;
      batch = [change];
    }
  }
  if (batch !== undefined) yield batch;
}

function isTogether(one: PlannedChange, other: PlannedChange): boolean {
  if (one.action !== other.action || one.type !== other.type) return false;
  const [parent, otherParent] = [one, other].map((change) => parentPathOf(calledAt(change)));
  if (one.action === "delete") return parent === otherParent;
  // A batch creates in the org, or in several of its groups or projects.
  return one.action === "create" && (parent === "") === (otherParent === "");
}

/** Returns what it has created, in the order of the batch. */
async function applyBatch(
  ofCaller: OfCaller,
  context: HandlerContext,
  orgPath: string,
  batch: Batch,
): Promise<readonly Identified[]> {
  const [first] = batch;
  const { action, type, sent, fields } = first;
  const path = calledAt(first);
  const updateMask = { paths: [...fields] };
  if (type === "org") {
    if (!isMessage(sent, OrgSchema)) throw new Error("a change of the org without the org");
    await ofCaller(OrgsService.method.updateOrg, { path: orgPath, org: sent, updateMask }, context);
    return [];
  }
  if (type === "quota") {
    if (!isMessage(sent, QuotaSchema)) throw new Error("a change of a quota without the quota");
    const level = levelOfQuota(path);
    const parentPath = level === "" ? orgPath : `${orgPath}/${level}`;
    // It has all limits, and a mask could not name as many.
    const request = { parentPath, quota: sent, updateMask: { paths: ["limits"] } };
    await ofCaller(QuotasService.method.updateQuota, request, context);
    return [];
  }
  const { batchCreate, update, batchDelete, transitions, field } = writeMethods[type];
  const at = (parent: string): string => (parent === "" ? orgPath : `${orgPath}/${parent}`);
  const below = parentPathOf(path);
  if (action === "update") {
    await ofCaller(update, { path: at(path), [field]: sent, updateMask }, context);
    return [];
  }
  if (action === "undelete" || action === "activate" || action === "suspend") {
    await ofCaller(required(transitions)[action], { path: at(path) }, context);
    return [];
  }
  if (action !== "create") {
    const paths = batch.map((change) => at(calledAt(change)));
    await ofCaller(batchDelete, { parentPath: at(below), paths }, context);
  }
  if (action === "delete") return [];
  const requests = batch.map((change) => ({ parentPath: at(parentPathOf(calledAt(change))), [field]: change.sent }));
  // `orgs/acme/groups/-` for what is in groups.
  const parentPath = at(below.replace(/\/[^/]+$/, "/-"));
  const response: Readonly<Record<string, unknown>> = await ofCaller(batchCreate, { parentPath, requests }, context);
  return itemsOf(response, type);
}

/** Returns an error of a call with the resource that it is about. */
function naming(error: ConnectError, batch: Batch): ConnectError {
  const [bad] = error.findDetails(BadRequestSchema);
  const [info] = error.findDetails(ErrorInfoSchema);
  const [, ofField] = /^(?:requests|paths)\[(\d+)\]/.exec(bad?.fieldViolations[0]?.field ?? "") ?? [];
  const index = batch.length === 1 ? 0 : (ofField ?? info?.metadata["index"]);
  const change = index === undefined ? undefined : batch[Number(index)];
  const [{ action, type, path }] = batch;
  const what = change?.path ?? (batch.length === 1 ? path : `${batch.length} ${type}s`);
  const named = new ConnectError(
    `${action} ${what === "" ? "the org" : what}: ${error.rawMessage}`,
    error.code,
    undefined,
    undefined,
    error.cause,
  );
  named.details = error.details;
  return named;
}
