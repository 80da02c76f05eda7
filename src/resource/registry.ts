// The resources of the service, with what follows from several definitions together.
import { getOption } from "@bufbuild/protobuf";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { type ResourceType, describePattern, isSamePattern, methodNouns, patternsOf } from "../paths/patterns.ts";
import { resourceTypes } from "../../gen/resource-types.ts";
import { type ResourceDefinition, isInOrg, isNamed } from "./definition.ts";

/** Rows that refer to those of a resource, and go with them. */
interface Dependent {
  readonly definition: ResourceDefinition;
  readonly column: string;
}

export interface ResourceRegistry {
  readonly definitions: readonly ResourceDefinition[];
  /** @throws Error for a type that nothing defines. */
  definitionOf(type: ResourceType): ResourceDefinition;
  /** What is in orgs and refers to the rows of a resource. */
  dependentsOf(type: ResourceType): readonly Dependent[];
  /** The resources whose rows are in orgs, each before those that it refers to. */
  readonly inOrgs: readonly ResourceDefinition[];
}

/** @throws Error that names what a definition lacks, or says otherwise than the protos. */
export function createRegistry(definitions: readonly ResourceDefinition[]): ResourceRegistry {
  const byType = new Map<string, ResourceDefinition>();
  for (const definition of definitions) {
    if (byType.has(definition.type)) throw new Error(`the resource ${definition.type} is defined twice`);
    byType.set(definition.type, definition);
    checkDefinition(definition);
  }
  for (const definition of definitions) {
    for (const { to } of definition.storage.references) {
      if (!byType.has(to)) throw new Error(`the resource ${definition.type} refers to ${to}, which is not defined`);
    }
  }
  const inOrgs = inOrderOfRemoval(definitions.filter(isInOrg));
  const dependents = Map.groupBy(
    inOrgs.flatMap((definition) => definition.storage.references.map((reference) => ({ definition, ...reference }))),
    ({ to }) => to,
  );
  return {
    definitions,
    definitionOf(type) {
      const definition = byType.get(type);
      if (definition === undefined) throw new Error(`no definition of the resource ${type} is registered`);
      return definition;
    },
    dependentsOf: (type) => dependents.get(type) ?? [],
    inOrgs,
  };
}

/**
 * Checks that all resources that the protos declare are defined.
 *
 * @throws Error that names one that is not.
 */
export function requireAllDefined({ definitions }: ResourceRegistry): void {
  for (const type of Object.keys(resourceTypes)) {
    if (!definitions.some((definition) => definition.type === type)) {
      throw new Error(`the protos declare the resource ${type}, and no definition of it is registered`);
    }
  }
}

/** Checks what a definition says against its proto. */
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
      fail(`its proto has the pattern ${describePattern(pattern)}, and none of its places has`);
    }
  }
  for (const { pattern, parents } of places) {
    if (!declared.some((each) => isSamePattern(each, pattern))) {
      fail(`it has a place ${describePattern(pattern)}, and no pattern of its proto has`);
    }
    if (
      parents.length !== pattern.length - 1 ||
      parents.some(({ collection }, level) => collection !== pattern[level])
    ) {
      fail(`what it is in does not lead to ${describePattern(pattern)}`);
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
    requireColumn("delete_time", "which a resource with a lifecycle has");
    if (lifecycle.states.length > 0) requireColumn("state", "in which its states are");
  } else if (columns.includes("delete_time")) fail("it has a delete_time and no lifecycle");
  if ((storage.labels !== "none") !== columns.includes("labels"))
    fail("what it says of labels is not what its columns say");
  if (isNamed(definition) && storage.nameConstraints.length === 0) fail("no constraint keeps its names unique");
  if (limit !== undefined && isInOrg(definition) && storage.countedBy === undefined)
    fail("it has a limit and is not counted");
  checkMethods(definition, fail);
}

/** Methods that go with a lifecycle, and only with one. */
const lifecycleVerbs = new Set(["Undelete", "Purge"]);

function checkMethods({ type, service, lifecycle }: ResourceDefinition, fail: (problem: string) => never): void {
  const { one, many } = methodNouns(type);
  const plural = resourceTypes[type].plural;
  let count = 0;
  for (const method of service.methods) {
    const isOfResource = method.name.endsWith(one) || method.name.endsWith(many);
    if (!isOfResource) continue;
    const { permission } = getOption(method, authorization);
    const [, collection] = permission.split(".");
    if (collection !== plural) continue;
    count++;
    const verb = method.name.slice(0, -(method.name.endsWith(many) ? many : one).length);
    if (lifecycleVerbs.has(verb) && lifecycle === undefined) fail(`it has ${method.name} and no lifecycle`);
  }
  if (count === 0) fail(`${service.typeName} has no method whose permission is iam.${plural}.<verb>`);
  if (lifecycle !== undefined && !service.methods.some(({ name }) => name === `Undelete${one}`)) {
    fail(`it has a lifecycle and no Undelete${one}`);
  }
}

/** @throws Error when they refer to each other in a circle. */
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
