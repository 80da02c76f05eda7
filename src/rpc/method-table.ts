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
import { type PathPattern, patternsOf } from "../paths/patterns.ts";
import type { Wildcards } from "../paths/resource-path.ts";

export interface MethodRules {
  /** `iam.v1alpha.MembersService/GetMember` */
  readonly name: string;
  readonly permission: string;
  /** Where the request says on which resource; undefined for methods on the platform as a whole. */
  readonly target: TargetField | undefined;
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

export type MethodTable = ReadonlyMap<DescMethod, MethodRules>;

/** @throws Error for a method whose rules are missing or wrong; it names the method. */
export function createMethodTable(services: readonly DescService[]): MethodTable {
  const methods = services.flatMap((service) => service.methods);
  return new Map(methods.map((method) => [method, rulesOf(method)]));
}

function rulesOf(method: DescMethod): MethodRules {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!hasOption(method, authorization)) throw new Error(`${name} has no (iam.v1alpha.authorization) option`);
  const { permission, pathField } = getOption(method, authorization);
  if (!/^[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+$/.test(permission)) {
    throw new Error(`${name}: the permission ${JSON.stringify(permission)} is not <area>.<collection>.<verb>`);
  }
  return {
    name,
    permission,
    target: pathField === "" ? undefined : targetOf(method, name, pathField),
    reads: !method.input.fields.some((field) => field.name === "validate_only"),
  };
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
