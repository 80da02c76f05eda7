// protovalidate looks at all items of a list although there are more than it may have: a request of 1 kB that inflates to 250,000
// permissions takes half a second. So lists and maps that are too long are found first, and nothing else is said of such a message.
import {
  type DescField,
  type DescMessage,
  type Message,
  getExtension,
  getOption,
  isFieldSet,
} from "@bufbuild/protobuf";
import { type MapRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { labels } from "../../gen/iam/v1alpha/constraints_pb.ts";
import type { FieldViolation } from "../errors/service-error.ts";
import { isWellKnown, valueOf } from "./value-of.ts";

/** The rule `labels` of maps. */
const maxLabels = 64;

interface Limit {
  readonly max: number;
  readonly description: string;
  readonly rule: string;
}

interface Sizes {
  readonly limits: readonly (Limit & { readonly field: DescField })[];
  readonly messages: readonly (DescField & { readonly message: DescMessage })[];
}

const sizesOfMessages = new WeakMap<DescMessage, Sizes>();

/**
 * Returns a violation for each list and map of a message, and of the messages in it, that is longer than its constraints allow. Does
 * not go through what is in them.
 */
export function findOversized(schema: DescMessage, message: Message, prefix = ""): FieldViolation[] {
  const { limits, messages } = sizesOf(schema);
  const found = limits.filter(({ field, max }) => sizeOf(message, field) > max);
  const names = new Set(found.map(({ field }) => field.name));
  const violations: FieldViolation[] = found.map(({ field, description, rule }) => ({
    field: prefix + field.name,
    description,
    rule,
  }));
  for (const field of messages) {
    if (names.has(field.name) || !isFieldSet(message, field)) continue;
    for (const [path, inner] of messagesIn(message, field)) {
      violations.push(...findOversized(field.message, inner, `${prefix}${path}.`));
    }
  }
  return violations;
}

export function limitedFieldsOf(schema: DescMessage): ReadonlySet<string> {
  return new Set(sizesOf(schema).limits.map(({ field }) => field.name));
}

function sizeOf(message: Message, field: DescField): number {
  const value = valueOf(message, field) as readonly unknown[] | Readonly<Record<string, unknown>>;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function messagesIn(message: Message, field: DescField): readonly (readonly [path: string, inner: Message])[] {
  const value = valueOf(message, field);
  switch (field.fieldKind) {
    case "list":
      return (value as readonly Message[]).map((item, index) => [`${field.name}[${index}]`, item]);
    case "map":
      return Object.entries(value as Readonly<Record<string, Message>>).map(([key, item]) => [
        `${field.name}[${JSON.stringify(key)}]`,
        item,
      ]);
    default:
      return [[field.name, value as Message]];
  }
}

function sizesOf(schema: DescMessage): Sizes {
  let sizes = sizesOfMessages.get(schema);
  if (sizes === undefined) {
    sizes = {
      limits: schema.fields.flatMap((field) => {
        const limit = itemLimitOf(field);
        return limit === undefined ? [] : [{ ...limit, field }];
      }),
      messages: schema.fields.flatMap((field) =>
        field.message === undefined || isWellKnown(field.message) ? [] : [field],
      ),
    };
    sizesOfMessages.set(schema, sizes);
  }
  return sizes;
}

/** Returns the limit that the constraints of a list or a map set; undefined if there is none. */
export function itemLimitOf(field: DescField): Limit | undefined {
  const { type } = getOption(field, fieldRules);
  if (type.case === "repeated" && type.value.maxItems > 0n) {
    const description = `must contain no more than ${type.value.maxItems} item(s)`;
    return { max: Number(type.value.maxItems), description, rule: "repeated.max_items" };
  }
  return type.case === "map" ? limitOfMap(type.value) : undefined;
}

function limitOfMap(rules: MapRules): Limit | undefined {
  if (getExtension(rules, labels)) {
    return { max: maxLabels, description: `must hold at most ${maxLabels} labels`, rule: "labels.count" };
  }
  if (rules.maxPairs === 0n) return undefined;
  const description = `map must be at most ${rules.maxPairs} entries`;
  return { max: Number(rules.maxPairs), description, rule: "map.max_pairs" };
}
