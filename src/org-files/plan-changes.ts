// Compares an org with a file.
import { createHash } from "node:crypto";
import { type DescMessage, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { required } from "../errors/required.ts";
import { type FieldViolation, ServiceError, invalidFields } from "../errors/service-error.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { isImmutable } from "../validation/field-behavior.ts";
import { maxViolations } from "../validation/validate-message.ts";
import { findChangedValues } from "./changed-values.ts";
import { type FileResource, type FileType, schemaOf, secretFields } from "./file-resources.ts";
import { findProtected } from "./find-protected.ts";
import { lostPolicy, lostScopes, tooManyRemovals } from "./obstacles.ts";
import { type QuotaChange, planQuotas } from "./plan-quotas.ts";
import type { Action, PlannedChange } from "./planned-change.ts";
import type { OrgFile, PlacedResource } from "./read-file.ts";
import type { FileExpectation } from "./read-expectations.ts";
import type { OrgState } from "./read-state.ts";
import type { StateResource } from "./state-resource.ts";
import { findImplying, referencesOf } from "./references.ts";

/** A resource that goes with another one. */
export interface ImpliedRemoval {
  readonly resource: StateResource;
  /** The path of what is deleted, which it is in or refers to. */
  readonly withPath: string;
}

export interface Plan {
  /** In the order in which they can be made. */
  readonly changes: readonly PlannedChange[];
  /** Those of them that change quotas. */
  readonly quotas: readonly QuotaChange[];
  /** The paths of resources that the file does not have and that stay. */
  readonly unlisted: readonly string[];
  /** What is deleted, also what is not deleted by itself because it goes with something else. */
  readonly removed: readonly StateResource[];
  /** What of it is not deleted by itself. */
  readonly implied: readonly ImpliedRemoval[];
  /** Why it cannot be applied. */
  readonly obstacles: readonly string[];
}

export interface PlanOptions {
  /** Whether a resource that is not in the file is removed; undefined if nothing is. */
  readonly prunes: ((resource: StateResource) => boolean) | undefined;
  /** Whether a file says nothing of what it does not have: neither that it is removed, nor that it stays. */
  readonly isOutside: (resource: StateResource) => boolean;
  readonly maxRemovalPercent: number;
  /** The id of the member that plans. */
  readonly authorId: string;
}

/** How many changes a plan has, and how many of them are made one by one. All are made under the lock of the org. */
export const maxChanges = 5_000;
export const maxUpdates = 1_000;

/** @throws ServiceError FIELD_INVALID when the file refers to what there is not, or changes what cannot change; LIMIT_EXCEEDED */
export function* planChanges(state: OrgState, file: OrgFile, options: PlanOptions): Steps<Plan> {
  const isStepOver = createStepCounter();
  const [before, after] = [byPath(state.resources), byPath(file.resources)];
  const violations: FieldViolation[] = [];
  const changes: PlannedChange[] = [...changeOfOrg(state, file)];
  for (const resource of file.resources) {
    const change = isListed(resource) ? changeOf(before.get(resource.path), resource, violations) : undefined;
    if (change !== undefined) changes.push(change);
    if (isStepOver()) yield;
  }
  const others = state.resources.filter((each) => !after.has(each.path) && !options.isOutside(each));
  const removed = yield* findRemoved(state, others, options);
  const implied: ImpliedRemoval[] = [];
  const lifted: StateResource[] = [];
  for (const each of removed.values()) {
    const withPath = findImplying(each, removed);
    if (withPath !== undefined) implied.push({ resource: each, withPath });
    else if (isListed(each)) changes.push(removalOf(each));
    else lifted.push(each);
    if (isStepOver()) yield;
  }
  const quotas = yield* planQuotas(state.resources, file.resources, lifted);
  changes.push(...quotas);
  const stays = (path: string): boolean => after.has(path) || (before.has(path) && !removed.has(path));
  for (const resource of file.resources) {
    requireReferences(resource, stays, violations);
    if (violations.length >= maxViolations) break;
    if (isStepOver()) yield;
  }
  for (const expectation of file.expectations) requireExpected(expectation, stays, violations);
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
  requireFew(changes, state);
  return {
    changes: inOrderOfWrites(changes),
    quotas,
    removed: [...removed.values()],
    implied,
    unlisted: others.filter(({ path }) => !removed.has(path)).map(({ path }) => path),
    obstacles: [
      ...lostPolicy(state, file),
      ...lostScopes(changes),
      ...tooManyRemovals(state, [...removed.values(), ...replaced(changes, before)], options.maxRemovalPercent),
    ],
  };
}

/** Returns what is removed, with what is in that or refers to it, by path. Each depends on earlier ones only. */
function* findRemoved(
  state: OrgState,
  others: readonly StateResource[],
  { prunes, authorId }: PlanOptions,
): Steps<ReadonlyMap<string, StateResource>> {
  const removed = new Map<string, StateResource>();
  if (prunes === undefined) return removed;
  const isStepOver = createStepCounter();
  const protects = findProtected(state, authorId);
  for (const each of others) {
    if (!protects(each) && (prunes(each) || findImplying(each, removed) !== undefined)) removed.set(each.path, each);
    if (isStepOver()) yield;
  }
  return removed;
}

/** What has methods of its own to be created and deleted. */
interface Listed {
  readonly type: FileType;
}

function isListed<Resource extends FileResource>(resource: Resource): resource is Resource & Listed {
  return resource.type !== "limit";
}

function byPath<Resource extends { readonly path: string }>(
  resources: readonly Resource[],
): ReadonlyMap<string, Resource> {
  return new Map(resources.map((resource) => [resource.path, resource]));
}

const written = { useProtoFieldName: true } as const;

/** Returns the names of the fields that differ. */
export function changedFields(type: FileType | "org", before: Message, after: Message): readonly string[] {
  const schema = type === "org" ? OrgSchema : schemaOf(type);
  const [from, to] = [before, after].map((message) => toJson(schema, message, written) as JsonObject);
  return schema.fields
    .map(({ name }) => name)
    .filter((name) => JSON.stringify(from?.[name]) !== JSON.stringify(to?.[name]));
}

function changeOfOrg({ org }: OrgState, file: OrgFile): readonly PlannedChange[] {
  const fields = changedFields("org", org, file.org);
  const values = findChangedValues(OrgSchema, fields, org, file.org);
  const content = { fields, values, message: file.org, sent: file.org };
  return fields.length === 0 ? [] : [{ action: "update", type: "org", path: "", ...content, place: "org_file" }];
}

function changeOf(
  before: StateResource | undefined,
  { type, path, message, sent, place }: PlacedResource & Listed,
  violations: FieldViolation[],
): PlannedChange | undefined {
  if (before === undefined) return { action: "create", type, path, fields: [], message, sent, place };
  const schema = schemaOf(type);
  const fields = changedFields(type, before.message, message);
  if (fields.length === 0) return undefined;
  const values = findChangedValues(schema, fields, before.message, message);
  const fixed = schema.fields.find((field) => fields.includes(field.name) && isImmutable(field));
  if (fixed === undefined) return { action: "update", type, path, fields, values, message, sent, place };
  if (type === "role binding") return { action: "replace", type, path, fields, values, message, sent, place };
  violations.push({
    field: `${place}.${fixed.name}`,
    description: `cannot change: ${path} has another; delete it first, or give this one another name`,
  });
  return undefined;
}

const removalOf = ({ type, path }: StateResource & Listed): PlannedChange => ({
  action: "delete",
  type,
  path,
  fields: [],
  message: undefined,
  sent: undefined,
  place: "",
});

function requireReferences(
  resource: PlacedResource,
  stays: (path: string) => boolean,
  violations: FieldViolation[],
): void {
  for (const { field, path } of referencesOf(resource)) {
    if (stays(path)) continue;
    const description = `there is no ${path}, in the file or in what stays of the org`;
    violations.push({ field: field === "" ? resource.place : `${resource.place}.${field}`, description });
  }
}

function requireExpected(
  { subjectPath, projectPath, place }: FileExpectation,
  stays: (path: string) => boolean,
  violations: FieldViolation[],
): void {
  for (const path of [subjectPath, projectPath]) {
    if (path !== "" && !stays(path))
      violations.push({ field: place, description: `there is no ${path}, in the file or in what stays of the org` });
  }
}

function requireFew(changes: readonly PlannedChange[], { name }: OrgState): void {
  const updates = changes.filter(({ action }) => action === "update" || action === "replace").length;
  const [count, most, what] =
    updates > maxUpdates ? [updates, maxUpdates, "updates"] : [changes.length, maxChanges, "changes"];
  if (count <= most) return;
  const description = `the file makes ${count} ${what}, and at most ${most} are made at once: apply it in parts, each with some of the resources and without pruning`;
  throw new ServiceError("LIMIT_EXCEEDED", description, { quotas: [{ subject: `/orgs/${name}`, description }] });
}

function replaced(changes: readonly PlannedChange[], before: ReadonlyMap<string, StateResource>): StateResource[] {
  return changes
    .flatMap(({ action, path }) => (action === "replace" ? [before.get(path)] : []))
    .filter((each) => each !== undefined);
}

/** What is removed before others are created: the groups in groups, which could make a circle with new ones. */
const first: readonly (readonly [Action, PlannedChange["type"]])[] = [
  ["update", "org"],
  ["delete", "subgroup"],
];
const created: readonly FileType[] = ["member", "role", "group", "project", "identity provider", "client", "webhook"];
const within: readonly FileType[] = ["subgroup", "membership", "role binding"];
/** Each before what it refers to. */
export const removedLast: readonly FileType[] = [
  "role binding",
  "membership",
  "role",
  "group",
  "project",
  "member",
  "identity provider",
  "client",
  "webhook",
];

const order = new Map(
  [
    ...first,
    ...created.flatMap((type) => [["create", type] as const, ["update", type] as const]),
    ["update", "quota"] as const,
    ...within.flatMap((type) => [["create", type] as const, ["replace", type] as const, ["update", type] as const]),
    ...removedLast.map((type) => ["delete", type] as const),
  ].map(([action, type], index) => [`${action} ${type}`, index]),
);

function inOrderOfWrites(changes: readonly PlannedChange[]): PlannedChange[] {
  const rank = ({ action, type }: PlannedChange): number => required(order.get(`${action} ${type}`));
  return changes.toSorted((one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : 1));
}

/** What a plan requires an apply to be of: the revision of the org, the changes, and the request with its file, as hashes. */
export interface PlanToken {
  readonly revision: string;
  readonly changes: string;
  readonly request: string;
}

export function formatToken({ revision, changes, request }: PlanToken): string {
  return `${revision}.${changes}.${request}`;
}

/** Returns what a text says that a caller sent; empty for what it lacks. */
export function parseToken(text: string): PlanToken {
  const [revision = "", changes = "", request = ""] = text.split(".");
  return { revision, changes, request };
}

const hexOfHash = 32;

/** Returns a hash of what was asked for. Nobody can look for a secret by it, and who plans needs to know none. */
export function hashRequest(request: unknown): string {
  const text = JSON.stringify(request, (key, value: unknown) => (secretFields.has(key) ? undefined : value));
  return createHash("sha256").update(text).digest("hex").slice(0, hexOfHash);
}

function schemaOfChange(type: PlannedChange["type"]): DescMessage {
  if (type === "org") return OrgSchema;
  return schemaOf(type === "quota" ? "limit" : type);
}

/** Returns a hash of changes with all that they write. */
export function* hashChanges({ changes }: Pick<Plan, "changes">): Steps<string> {
  const hash = createHash("sha256");
  const isStepOver = createStepCounter();
  for (const { action, type, path, fields, message } of changes) {
    const schema = schemaOfChange(type);
    const text = message === undefined ? null : toJson(schema, message);
    hash.update(JSON.stringify([action, type, path, fields, text]));
    if (isStepOver()) yield;
  }
  return hash.digest("hex").slice(0, hexOfHash);
}
