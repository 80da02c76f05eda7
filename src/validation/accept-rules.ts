// The rules of `buf.validate` that are checked without CEL, which takes some 25 µs a rule. A check returns whether a value obviously
// keeps its rule: it may be false for one that does, which the library then decides, but never true for one that does not.
import { type DescExtension, type DescField, type Message, getExtension, isFieldSet } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  DoubleRulesSchema,
  DurationRulesSchema,
  EnumRulesSchema,
  type FieldRules,
  FieldRulesSchema,
  Int32RulesSchema,
  MapRulesSchema,
  RepeatedRulesSchema,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import * as constraints from "../../gen/iam/v1alpha/constraints_pb.ts";
import { valueOf } from "./value-of.ts";

/** Returns whether a value obviously keeps its rules. */
export type Accept = (value: unknown) => boolean;

/** The checks of the rules of one type, by the name of the rule, from the limit that the rule sets. */
type Checks = Readonly<Record<string, (limit: never, field: DescField) => Accept>>;

const isUuid = (value: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value);
const hasControls = (value: string): boolean => /\p{Cc}/u.test(value);

const stringChecks: Checks = {
  // A text has at most as many characters as UTF-16 code units.
  max_len: (limit: bigint) => text((value) => value.length <= limit),
  max_bytes: (limit: bigint) => text((value) => Buffer.byteLength(value) <= limit),
  min_len: (limit: bigint) => text((value) => limit === 1n && value !== ""),
  uuid: () => text(isUuid),
};

const numberChecks: Checks = {
  gte: (limit: number) => (value) => (value as number) >= limit,
  gt: (limit: number) => (value) => (value as number) > limit,
  lte: (limit: number) => (value) => (value as number) <= limit,
  lt: (limit: number) => (value) => (value as number) < limit,
  finite: () => Number.isFinite,
};

const durationChecks: Checks = {
  gte: (limit: Duration) => (value) => compareDurations(value as Duration, limit) >= 0,
  gt: (limit: Duration) => (value) => compareDurations(value as Duration, limit) > 0,
  lte: (limit: Duration) => (value) => compareDurations(value as Duration, limit) <= 0,
  lt: (limit: Duration) => (value) => compareDurations(value as Duration, limit) < 0,
};

const always: Accept = () => true;

const listChecks: Checks = {
  min_items: (limit: bigint) => (value) => (value as unknown[]).length >= limit,
  max_items: (limit: bigint) => (value) => (value as unknown[]).length <= limit,
  unique: () => (value) => new Set(value as unknown[]).size === (value as unknown[]).length,
  // The rules of each item, which the caller checks.
  items: () => always,
};

const mapChecks: Checks = {
  min_pairs: (limit: bigint) => (value) => Object.keys(value as object).length >= limit,
  max_pairs: (limit: bigint) => (value) => Object.keys(value as object).length <= limit,
  // The rules of each key and value, which the caller checks.
  keys: () => always,
  values: () => always,
};

const enumChecks: Checks = {
  defined_only: (_limit: true, field) => {
    const numbers = new Set<unknown>(field.enum?.values.map(({ number }) => number));
    return (value) => numbers.has(value);
  },
};

const checksOf = new Map<string, Checks>([
  [StringRulesSchema.typeName, stringChecks],
  [Int32RulesSchema.typeName, numberChecks],
  [DoubleRulesSchema.typeName, numberChecks],
  [DurationRulesSchema.typeName, durationChecks],
  [RepeatedRulesSchema.typeName, listChecks],
  [MapRulesSchema.typeName, mapChecks],
  [EnumRulesSchema.typeName, enumChecks],
]);

/** The checks of the rules in `constraints.proto`. */
const predefinedChecks: readonly (readonly [DescExtension, Accept])[] = [
  [constraints.resource_name, text((value) => /^([a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)?$/.test(value) && !isUuid(value))],
  // A shorter one does not have too many lowercase letters either.
  [constraints.display_name, text((value) => value.length <= 64 && !hasControls(value))],
  [constraints.description, text((value) => value.length <= 2048 && !value.includes("\0"))],
  [constraints.one_line, text((value) => !hasControls(value))],
  [
    constraints.permission,
    text((value) => value.length <= 128 && /^[a-z][a-zA-Z0-9]*(\.[a-z][a-zA-Z0-9]*){2}$/.test(value)),
  ],
  [constraints.permission_part, text((value) => /^([a-z][a-zA-Z0-9]{0,41})?$/.test(value))],
  [constraints.kind_name, text((value) => /^([a-z][a-z0-9_]{0,62})?$/.test(value))],
  [constraints.labels, (value) => areLabels(value as Readonly<Record<string, string>>)],
];

/** @returns undefined if one of the rules has no check here. */
export function compileRules({ type: { case: type, value: rules } }: FieldRules, field: DescField): Accept | undefined {
  if (rules === undefined) return always;
  const desc = FieldRulesSchema.fields.find(({ localName }) => localName === type)?.message;
  const checks = checksOf.get(rules.$typeName);
  if (desc === undefined || checks === undefined) return undefined;
  const compiled: (Accept | undefined)[] = desc.fields
    .filter((rule) => isFieldSet(rules, rule))
    .map((rule) => checks[rule.name]?.(valueOf(rules, rule) as never, field));
  for (const { no } of rules.$unknown ?? []) compiled.push(findPredefined(rules, no));
  return compiled.includes(undefined) ? undefined : (value) => compiled.every((accepts) => accepts?.(value));
}

function findPredefined(rules: Message, number: number): Accept | undefined {
  const found = predefinedChecks.find(
    ([extension]) => extension.number === number && extension.extendee.typeName === rules.$typeName,
  );
  return found !== undefined && getExtension(rules, found[0]) === true ? found[1] : undefined;
}

function text(accepts: (value: string) => boolean): Accept {
  return (value) => accepts(value as string);
}

function areLabels(labels: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(labels);
  return (
    entries.length <= 64 &&
    entries.every(
      ([key, value]) => /^[a-z]([a-z0-9_./-]{0,61}[a-z0-9])?$/.test(key) && value.length <= 255 && !hasControls(value),
    )
  );
}

/** Compares two durations; NaN if one is not in its normal form. */
function compareDurations(one: Duration, other: Duration): number {
  const isNormal = ({ seconds, nanos }: Duration): boolean =>
    Math.abs(nanos) < 1_000_000_000 && (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);
  if (!isNormal(one) || !isNormal(other)) return Number.NaN;
  return one.seconds === other.seconds ? one.nanos - other.nanos : Number(one.seconds - other.seconds);
}
