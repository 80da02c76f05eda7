// Applies an Update as AIP-134 describes: the fields in the mask get the new values, all other fields keep theirs.
import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  clone,
  create,
  equals,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect, scalarZeroValue } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, invalidField, invalidFields } from "../../errors/service-error.ts";
import { type FieldPath, quoteKey, splitMaskPath } from "../../rest/field-paths.ts";
import { isImmutable, isOutputOnly } from "../../validation/field-behavior.ts";
import { brokenConstraints, validateMessage } from "../../validation/validate-message.ts";

/** More than the number of fields and labels of any resource. */
const maxMaskPaths = 100;

/** A resource after an update, and whether it differs from before. */
export interface Updated<Resource> {
  readonly resource: Resource;
  readonly changed: boolean;
}

/**
 * Merges the fields of `patch` that `mask` names into a copy of `current`, and validates the result.
 *
 * - Without a mask, every field that is set in `patch` is updated; `*` names all fields.
 * - `labels.env` names one entry of a map. It is removed if `patch` has no such entry. A key with dots is quoted (AIP-161):
 *   ``labels.`example.com/cost` ``.
 * - Output-only fields and `etag` are ignored, so that a client can send back what it has read.
 *
 * @param resourceField the request field that holds `patch`; errors name it.
 * @throws ServiceError FIELD_INVALID for a mask path that names no field, a new value of an immutable field, or a result that
 * violates a constraint.
 */
export function applyUpdate<Desc extends DescMessage>(
  schema: Desc,
  current: MessageShape<Desc>,
  patch: MessageShape<Desc>,
  mask: FieldMask | undefined,
  resourceField: string,
): Updated<MessageShape<Desc>> {
  const next = clone(schema, current);
  const source = reflect(schema, patch);
  const target = reflect(schema, next);
  if (mask !== undefined && mask.paths.length > maxMaskPaths) {
    throw invalidField("update_mask", `must name at most ${maxMaskPaths} fields`, "update_mask");
  }
  const violations: FieldViolation[] = [];
  for (const path of pathsOf(source, mask)) {
    const violation = applyPath(source, target, path, resourceField);
    if (violation !== undefined) violations.push(violation);
  }
  if (violations.length > 0) throw invalidFields(violations);
  validateMessage(schema, next, `${resourceField}.`);
  return { resource: next, changed: !equals(schema, current, next) };
}

function pathsOf(patch: ReflectMessage, mask: FieldMask | undefined): readonly string[] {
  if (mask === undefined || mask.paths.length === 0) {
    return patch.fields.filter((field) => patch.isSet(field)).map((field) => field.name);
  }
  return mask.paths.includes("*") ? patch.fields.map((field) => field.name) : [...new Set(mask.paths)];
}

function applyPath(
  source: ReflectMessage,
  target: ReflectMessage,
  path: string,
  resourceField: string,
): FieldViolation | undefined {
  const [name, ...rest] = splitMaskPath(path) ?? [];
  const field = source.fields.find((candidate) => candidate.name === name?.name);
  if (field === undefined) return unknownPath(path, source, resourceField);
  if (isOutputOnly(field) || field.name === "etag") return undefined;
  if (rest.length > 0) return applyEntry(source, target, field, path, rest, resourceField);
  if (isImmutable(field)) {
    // A full update without an immutable field does not clear it.
    if (!source.isSet(field) || sameValue(source, target, field)) return undefined;
    return {
      field: `${resourceField}.${field.name}`,
      description: "cannot be changed once the resource exists",
      rule: "immutable",
    };
  }
  if (source.isSet(field)) copyField(source, target, field);
  else target.clear(field);
  return undefined;
}

function applyEntry(
  source: ReflectMessage,
  target: ReflectMessage,
  field: DescField,
  path: string,
  [segment, ...deeper]: FieldPath,
  resourceField: string,
): FieldViolation | undefined {
  if (field.fieldKind !== "map" || segment === undefined) return unknownPath(path, source, resourceField);
  if (deeper.length > 0) {
    const key = [segment, ...deeper].map(({ name }) => name).join(".");
    return {
      field: "update_mask",
      description: `goes on after a key of ${field.name}; a key with dots is quoted, as in ${field.name}.${quoteKey(key.slice(0, 100))}`,
      rule: "update_mask",
    };
  }
  const key = segment.name;
  const value: unknown = source.get(field).get(key);
  if (value !== undefined) {
    target.get(field).set(key, value);
    return undefined;
  }
  if (!target.get(field).has(key)) return impossibleKey(source, field, key);
  target.get(field).delete(key);
  return undefined;
}

/** A key that is not there may be removed, but one that cannot be there is a mistake. */
function impossibleKey(
  message: ReflectMessage,
  field: DescField & { fieldKind: "map" },
  key: string,
): FieldViolation | undefined {
  if (field.mapKind !== "scalar") return undefined;
  const alone = reflect(message.desc, create(message.desc));
  alone.get(field).set(key, scalarZeroValue(field.scalar, false));
  const broken = brokenConstraints(message.desc, alone.message).find(({ field: at }) => at.startsWith(field.name));
  if (broken === undefined) return undefined;
  const { description } = broken;
  return {
    field: "update_mask",
    description: `names a key that ${field.name} cannot have: ${JSON.stringify(key.slice(0, 100))}; they ${description}`,
    rule: "update_mask",
  };
}

function unknownPath(path: string, message: ReflectMessage, resourceField: string): FieldViolation {
  const names = message.fields.filter((field) => !isOutputOnly(field)).map((field) => field.name);
  return {
    field: "update_mask",
    description: `names no field of ${resourceField}: ${JSON.stringify(path.slice(0, 100))}; it may name ${names.join(", ")} and *`,
    rule: "update_mask",
  };
}

function copyField(source: ReflectMessage, target: ReflectMessage, field: DescField): void {
  if (field.fieldKind === "map") {
    target.clear(field);
    for (const [key, value] of source.get(field)) target.get(field).set(key, value);
    return;
  }
  target.set(field, source.get(field));
}

/** Compares a field's values. A path may be written without the leading slash. */
function sameValue(source: ReflectMessage, target: ReflectMessage, field: DescField): boolean {
  if (field.fieldKind === "message" || field.fieldKind === "list") {
    const [one, other] = [source, target].map((message) => onlyField(message, field));
    return one !== undefined && other !== undefined && equals(target.desc, one, other);
  }
  const comparable = (message: ReflectMessage): unknown => {
    const value: unknown = message.get(field);
    return typeof value === "string" ? value.replace(/^\//, "") : value;
  };
  return comparable(source) === comparable(target);
}

/** Returns a message with no other field. */
function onlyField(message: ReflectMessage, field: DescField): Message {
  const only = reflect(message.desc, create(message.desc));
  if (message.isSet(field)) only.set(field, message.get(field));
  return only.message;
}
