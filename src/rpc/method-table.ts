// What the interceptors need to know of each method, read from the protos once, when the server starts.
import {
  type DescField,
  type DescMethod,
  type DescService,
  ScalarType,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import type { Trims } from "../access/authorise.ts";
import { type PathPattern, patternsOf } from "../paths/patterns.ts";
import type { Wildcards } from "../paths/resource-path.ts";

export interface MethodRules {
  /** `iam.v1alpha.MembersService/GetMember` */
  readonly name: string;
  /** What the caller must hold; undefined where anybody may call. */
  readonly permission: string | undefined;
  /**
   * What the caller must hold besides, on what the resource is in, when the request sets `allow_missing`: an Update that may
   * create. Undefined for methods that never do.
   */
  readonly createPermission: string | undefined;
  /** Where the request says on which resource; undefined for methods on the platform as a whole. */
  readonly target: TargetField | undefined;
  /** The same for questions about anything, of ours or of other services. */
  readonly places: PlaceField | undefined;
  /** Which calls show what is in the orgs where the caller may list it, when it may not do so in all. */
  readonly trims: Trims;
  /** Whether it changes nothing. Every method that changes something takes `validate_only` (AIP-163). */
  readonly reads: boolean;
}

export interface TargetField {
  readonly localName: string;
  /** As in the proto, for errors. */
  readonly name: string;
  /** What the path can look like; an empty pattern stands for the platform as a whole. */
  readonly patterns: readonly PathPattern[];
  readonly wildcards: Wildcards;
}

/**
 * A field with the path of anything: in the request, in each message of a list of it, or in a message of either. An item of a
 * list without that message means the one of the request, and so does an empty list.
 */
export interface PlaceField {
  readonly listName: string | undefined;
  readonly messageName: string | undefined;
  readonly localName: string;
  /** As in the proto, for errors. */
  readonly name: string;
}

export type MethodTable = ReadonlyMap<DescMethod, MethodRules>;

/** @throws Error for a method whose rules are missing or wrong; it names the method. */
export function createMethodTable(services: readonly DescService[]): MethodTable {
  const methods = services.flatMap((service) => service.methods);
  return new Map(methods.map((method) => [method, rulesOf(method)]));
}

/** The permissions that methods ask for, each once. */
export function permissionsOf(table: MethodTable): string[] {
  const permissions = [...table.values()].map(({ permission }) => permission);
  return [...new Set(permissions.filter((permission) => permission !== undefined))];
}

/** The collections below an org, or whatever else is on top, that the paths of methods go through, each once. */
export function collectionsOf(table: MethodTable): string[] {
  const patterns = [...table.values()].flatMap(({ target }) => target?.patterns ?? []);
  return [...new Set(patterns.flatMap((pattern) => pattern.slice(1)))];
}

function rulesOf(method: DescMethod): MethodRules {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!hasOption(method, authorization)) throw new Error(`${name} has no (iam.v1alpha.authorization) option`);
  const { permission, pathField, anyone } = getOption(method, authorization);
  if (anyone) {
    if (permission !== "" || pathField !== "") throw new Error(`${name}: what anyone may call needs no permission`);
  } else if (!/^[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+$/.test(permission)) {
    throw new Error(`${name}: the permission ${JSON.stringify(permission)} is not <area>.<collection>.<verb>`);
  }
  const places = placesOf(method, pathField);
  const target = pathField === "" || places !== undefined ? undefined : targetOf(method, name, pathField);
  return {
    name,
    permission: anyone ? undefined : permission,
    createPermission: createPermissionOf(method, name),
    target,
    places,
    trims: trimsOf(method, target),
    reads: !method.input.fields.some((field) => field.name === "validate_only"),
  };
}

/** ListRoles without a parent lists those that are the same in all orgs. */
function trimsOf({ name }: DescMethod, target: TargetField | undefined): Trims {
  if (name === "ListOrgs" || name === "ListRoles") return "always";
  return name.startsWith("List") && target?.patterns[0]?.[0] === "orgs" ? "any org" : "never";
}

/** What the service's Create of the same resource asks for. */
function createPermissionOf({ name: methodName, input, parent }: DescMethod, name: string): string | undefined {
  if (!methodName.startsWith("Update") || !input.fields.some((field) => field.name === "allow_missing"))
    return undefined;
  const createName = methodName.replace("Update", "Create");
  const create = parent.methods.find((method) => method.name === createName);
  if (create === undefined) throw new Error(`${name} takes allow_missing, but there is no ${createName}`);
  return getOption(create, authorization).permission;
}

/** Where a question says what it is about: a field that refers to any resource, `*`. */
function placesOf({ input }: DescMethod, pathField: string): PlaceField | undefined {
  const steps = pathField.split(".");
  const last = steps.pop();
  const names: { listName?: string; messageName?: string } = {};
  let desc = input;
  for (const step of steps) {
    const field = desc.fields.find(({ name }) => name === step);
    if (field?.fieldKind === "list" && field.listKind === "message") names.listName = field.localName;
    else if (field?.fieldKind === "message") names.messageName = field.localName;
    else return undefined;
    desc = field.message;
  }
  const field = desc.fields.find(({ name }) => name === last);
  if (field?.fieldKind !== "scalar" || getOption(field, resource_reference).type !== "*") return undefined;
  const { listName, messageName } = names;
  return { listName, messageName, localName: field.localName, name: field.name };
}

function targetOf(method: DescMethod, name: string, pathField: string): TargetField {
  const field = method.input.fields.find((candidate) => candidate.name === pathField);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
    throw new Error(`${name}: its path_field ${pathField} is no string field of ${method.input.typeName}`);
  }
  return {
    localName: field.localName,
    name: field.name,
    patterns: patternsOfField(field, name),
    wildcards: wildcardsOf(method),
  };
}

/** The patterns of the resource, or of its parents, that the field's `google.api.resource_reference` names. */
function patternsOfField(field: DescField, method: string): readonly PathPattern[] {
  const { type, childType } = getOption(field, resource_reference);
  const patterns = patternsOf(resourceType(childType === "" ? type : childType));
  if (patterns === undefined) throw new Error(`${method}: ${field.name} has no resource_reference to a known resource`);
  return childType === "" ? patterns : patterns.map((pattern) => pattern.slice(0, -1));
}

const resourceType = (type: string): string => type.slice(type.indexOf("/") + 1);

/** AIP-159: a List or BatchGet takes `-` for any parent, a Get where an id still picks one resource, a write nowhere. */
function wildcardsOf(method: DescMethod): Wildcards {
  if (method.name.startsWith("List") || method.name.startsWith("BatchGet")) return "anywhere";
  return method.name.startsWith("Get") ? "above-id" : "nowhere";
}
