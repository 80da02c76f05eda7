// The resources of the service, and what follows from their definitions together.
import { type DescMessage, getOption } from "@bufbuild/protobuf";
import { authorization } from "../../../gen/iam/v1alpha/authorization_pb.ts";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type ResourceType, describePattern, isSamePattern, methodNouns, patternsOf } from "../../paths/patterns.ts";
import { resourceTypes } from "../../../gen/resource-types.ts";
import { isImmutable } from "../../validation/field-behavior.ts";
import { type ResourceDefinition, isBelowOrg, isInOrg, isNamed } from "./definition.ts";
import type { Transition } from "./lifecycle.ts";

/** A resource whose rows refer to the rows of another resource by a column. */
export interface Referrer {
  readonly definition: ResourceDefinition;
  readonly column: string;
}

/** A resource whose rows refer to the rows of another resource by something else. */
interface HiddenReferrer {
  readonly definition: ResourceDefinition;
  readonly refers: NonNullable<ResourceDefinition["storage"]["hiddenReferences"]>[number]["refers"];
}

/** A transition that a resource in the org of the write, or the org itself, is about to make. */
export interface FollowedTransition {
  readonly id: string;
  /** Of the resource: `the project`. */
  readonly what: string;
  readonly path: string;
  readonly transition: Transition;
  /** Whether a deletion was requested with `force`. */
  readonly force: boolean;
  readonly authorHolds: AuthorHolds;
}

/** What another folder does when a resource makes a transition: a sweep follows the deletion of a project. */
export interface Follower {
  readonly of: ResourceType;
  /**
   * Checks a transition, or makes the changes that go with it. Called under the lock of the org, after the checks of the resource's own
   * rules and before the row is changed.
   */
  readonly follow: (transaction: OrgTransaction, followed: FollowedTransition) => Promise<void>;
}

export interface ResourceRegistry {
  readonly definitions: readonly ResourceDefinition[];
  /**
   * Returns the definition of a type.
   *
   * @throws Error when the type is not defined.
   */
  definitionOf(type: ResourceType): ResourceDefinition;
  /** Returns the definition of a type that another version may have logged; undefined if it is not defined. */
  readonly findDefinition: (type: string) => ResourceDefinition | undefined;
  /** Returns the resources in orgs whose rows are removed with the rows of a resource that they refer to. */
  dependentsOf(type: ResourceType): readonly Referrer[];
  /** Returns the resources in orgs whose references restrict the removal of a resource. */
  usersOf(type: ResourceType): readonly Referrer[];
  hiddenUsersOf(type: ResourceType): readonly HiddenReferrer[];
  /** Whether rows of resources in orgs refer to the rows of a resource by a column. */
  isReferredTo(type: ResourceType): boolean;
  /** Returns what follows the transitions of a resource. */
  followersOf(type: ResourceType): readonly Follower[];
  /** The resources whose rows are in orgs, in removal order: each before the resources that it refers to. */
  readonly inOrgs: readonly ResourceDefinition[];
}

/**
 * Creates the registry.
 *
 * @throws Error when a definition is incomplete or contradicts its proto.
 */
export function createRegistry(
  definitions: readonly ResourceDefinition[],
  followers: readonly Follower[] = [],
): ResourceRegistry {
  const byType = new Map<string, ResourceDefinition>();
  for (const definition of definitions) {
    if (byType.has(definition.type)) throw new Error(`the resource ${definition.type} is defined twice`);
    byType.set(definition.type, definition);
    checkDefinition(definition);
  }
  for (const definition of definitions) {
    const { references, hiddenReferences = [] } = definition.storage;
    for (const { to } of [...references, ...hiddenReferences]) {
      if (!byType.has(to)) throw new Error(`the resource ${definition.type} refers to ${to}, which is not defined`);
    }
  }
  for (const definition of definitions) requireRemovable(definition, byType);
  const inOrgs = inOrderOfRemoval(definitions.filter(isInOrg));
  const referrers = inOrgs.flatMap((definition) =>
    definition.storage.references.map((reference) => ({ definition, ...reference })),
  );
  const hidden = definitions.flatMap((definition) =>
    (definition.storage.hiddenReferences ?? []).map((reference) => ({ definition, ...reference })),
  );
  const dependents = Map.groupBy(
    referrers.filter(({ onDelete }) => onDelete === "cascade"),
    ({ to }) => to,
  );
  return {
    definitions,
    definitionOf(type) {
      const definition = byType.get(type);
      if (definition === undefined) throw new Error(`no definition of the resource ${type} is registered`);
      return definition;
    },
    findDefinition: (type) => byType.get(type),
    dependentsOf: (type) => dependents.get(type) ?? [],
    usersOf: (type) => referrers.filter(({ to, onDelete }) => to === type && onDelete === "restrict"),
    hiddenUsersOf: (type) => hidden.filter(({ to }) => to === type),
    isReferredTo: (type) => referrers.some(({ to }) => to === type),
    followersOf: (type) => followers.filter(({ of }) => of === type),
    inOrgs,
  };
}

/**
 * Checks that every resource that the protos declare is defined.
 *
 * @throws Error that names the resource that is not.
 */
export function requireAllDefined({ definitions }: ResourceRegistry): void {
  for (const type of Object.keys(resourceTypes)) {
    if (!definitions.some((definition) => definition.type === type)) {
      throw new Error(`the protos declare the resource ${type}, but no definition of it is registered`);
    }
  }
}

/**
 * Checks that a reference which restricts removals does not refer to something that is removed in a cascade: the foreign key would fail.
 * An org is removed with all that is in it.
 */
function requireRemovable(
  { type, storage: { references } }: ResourceDefinition,
  definitions: ReadonlyMap<string, ResourceDefinition>,
): void {
  const own = new Set<string>(references.map(({ to }) => to));
  for (const { to: kept } of references.filter(({ onDelete }) => onDelete === "restrict")) {
    const target = definitions.get(kept);
    if (target === undefined || !isInOrg(target)) continue;
    const other = target.storage.references.find(
      ({ to, onDelete }) => onDelete === "cascade" && to !== "Org" && !own.has(to),
    );
    if (other === undefined) continue;
    throw new Error(
      `the resource ${type} keeps ${kept}, which is removed together with ${other.to}: it must refer to ${other.to}, too`,
    );
  }
}

/** Checks a definition against its proto. */
function checkDefinition(definition: ResourceDefinition): void {
  const { type, schema, places, otherPlaces = [], storage, lifecycle, limit } = definition;
  const fail = (problem: string): never => {
    throw new Error(`the resource ${type}: ${problem}`);
  };
  if (schema.name !== type) fail(`its schema is that of ${schema.name}`);
  const declared = patternsOf(type) ?? fail("no message declares it with google.api.resource");
  const served = [...places.map(({ pattern }) => pattern), ...otherPlaces];
  for (const pattern of declared) {
    if (!served.some((each) => isSamePattern(each, pattern))) {
      fail(`the pattern ${describePattern(pattern)} of its proto is not among its places`);
    }
  }
  for (const { pattern, parents } of places) {
    if (!declared.some((each) => isSamePattern(each, pattern))) {
      fail(`its place ${describePattern(pattern)} is not among the patterns of its proto`);
    }
    if (
      parents.length !== pattern.length - 1 ||
      parents.some(({ collection }, level) => collection !== pattern[level])
    ) {
      fail(`its parents do not match ${describePattern(pattern)}`);
    }
  }
  const columns: readonly string[] = storage.columns;
  const requireColumn = (column: string, why: string): void => {
    if (!columns.includes(column)) fail(`its columns lack ${column}, ${why}`);
  };
  for (const { column } of [...places.flatMap(({ parents }) => parents), ...storage.references]) {
    requireColumn(column, "which refers to another resource");
  }
  for (const column of [...storage.key, storage.id]) requireColumn(column, "which is in its key");
  if (storage.countedBy !== undefined) requireColumn(storage.countedBy, "by which it is counted");
  if (lifecycle !== undefined) {
    // The write path finds what locks its contents by the org and the id alone.
    if (lifecycle.contents === "locked" && storage.key.some((column) => column !== "org_id" && column !== storage.id)) {
      fail(`it locks its contents, so its key must be the org_id and the ${storage.id}, or the ${storage.id} alone`);
    }
    requireColumn("delete_time", "which a resource with a lifecycle has");
    if (lifecycle.deletedNames === "reserved" && places.some(({ parents }) => parents.length > 0)) {
      fail("it reserves the names of deleted resources, so its names must be unique on the whole platform");
    }
    if (lifecycle.states.length > 0) requireColumn("state", "which holds its state");
  } else if (columns.includes("delete_time")) fail("it has a delete_time but no lifecycle");
  if ((storage.labels !== "none") !== columns.includes("labels")) fail("its storage.labels contradicts its columns");
  if (isNamed(definition) && storage.nameConstraints.length === 0) fail("no constraint keeps its names unique");
  if (limit !== undefined && isInOrg(definition) && storage.countedBy === undefined)
    fail("it has a limit but is not counted");
  checkMethods(definition, fail);
}

/** Methods that only a resource with a lifecycle may have. */
const lifecycleVerbs = new Set(["Undelete", "Purge"]);

function checkMethods(definition: ResourceDefinition, fail: (problem: string) => never): void {
  const { type, service, schema, lifecycle, places } = definition;
  const { one, many } = methodNouns(type);
  const { plural, area } = resourceTypes[type];
  let count = 0;
  for (const method of service.methods) {
    const isOfResource = method.name.endsWith(one) || method.name.endsWith(many);
    if (!isOfResource) continue;
    const { permission, renamePermission } = getOption(method, authorization);
    if (!permission.startsWith(`${area}.${plural}.`)) continue;
    count++;
    const verb = method.name.slice(0, -(method.name.endsWith(many) ? many : one).length);
    const hasRevision = method.output.fields.some(({ name }) => name === "revision");
    if (verb === "List" && places.some(isBelowOrg) && !hasRevision)
      fail(`${method.output.name} must have the field revision, since it lists what is in an org`);
    if (lifecycleVerbs.has(verb) && lifecycle === undefined) fail(`it has ${method.name} but no lifecycle`);
    const hasPlatformName = isNamed(definition) && places[0].parents.length === 0 && !hasFixedName(schema);
    if (verb === "Update" && hasPlatformName !== (renamePermission !== "")) {
      fail(
        `${method.name} must have a rename_permission if, and only if, its names are unique on the whole platform and can change`,
      );
    }
  }
  if (count === 0) fail(`${service.typeName} has no method whose permission is ${area}.${plural}.<verb>`);
  if (lifecycle !== undefined && !service.methods.some(({ name }) => name === `Undelete${one}`)) {
    fail(`it has a lifecycle but no Undelete${one}`);
  }
}

function hasFixedName(schema: DescMessage): boolean {
  return schema.fields.some((field) => field.name === "name" && isImmutable(field));
}

/**
 * Orders definitions so that each comes before those that it refers to.
 *
 * @throws Error when the references form a cycle.
 */
function inOrderOfRemoval(definitions: readonly ResourceDefinition[]): ResourceDefinition[] {
  const ordered: ResourceDefinition[] = [];
  const visiting = new Set<ResourceType>();
  const visit = (definition: ResourceDefinition): void => {
    if (ordered.includes(definition)) return;
    if (visiting.has(definition.type))
      throw new Error(`the resource ${definition.type} refers to itself through others`);
    visiting.add(definition.type);
    for (const other of definitions) {
      if (other !== definition && other.storage.references.some(({ to }) => to === definition.type)) visit(other);
    }
    ordered.push(definition);
  };
  for (const definition of definitions) visit(definition);
  return ordered;
}
