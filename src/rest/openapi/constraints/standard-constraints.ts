import { toJson } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type {
  FieldRules,
  StringRules,
  DurationRules,
  TimestampRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Schema } from "../openapi-document.ts";
import { regexKeywords } from "./cel-keywords.ts";

/** Rules as keywords of JSON Schema or, where there is none, as sentences that continue after "It ". */
export interface Constraints {
  readonly keywords: Schema;
  readonly sentences: readonly string[];
}

/** Converts the standard rules of buf.validate, which do not use CEL. */
export function standardConstraints({ type }: FieldRules): Constraints {
  switch (type.case) {
    case "string":
      return stringConstraints(type.value);
    case "float":
    case "double":
    case "int32":
    case "uint32":
    case "sint32":
    case "fixed32":
    case "sfixed32":
      return numberConstraints(type.value, false);
    case "int64":
    case "uint64":
    case "sint64":
    case "fixed64":
    case "sfixed64":
      return numberConstraints(type.value, true);
    case "repeated": {
      const { minItems, maxItems, unique } = type.value;
      return keywords({ ...limits("Items", minItems, maxItems), ...(unique && { uniqueItems: true }) });
    }
    case "map":
      return keywords(limits("Properties", type.value.minPairs, type.value.maxPairs));
    case "bytes":
      return { keywords: {}, sentences: byteLimits(type.value.len, type.value.minLen, type.value.maxLen) };
    case "bool":
      return keywords(hasOwnRule(type.value, "const") ? { const: type.value.const } : {});
    case "timestamp":
      return { keywords: {}, sentences: timestampSentences(type.value) };
    case "duration":
      return durationConstraints(type.value);
    case "enum":
    case "any":
    case "fieldMask":
    case undefined:
      return none;
  }
}

export const none: Constraints = { keywords: {}, sentences: [] };

function keywords(schema: Schema): Constraints {
  return { keywords: schema, sentences: [] };
}

function stringConstraints(rules: StringRules): Constraints {
  const { len, minLen, maxLen, lenBytes, minBytes, maxBytes, wellKnown } = rules;
  const schema: Record<string, unknown> = {
    ...limits("Length", len || minLen, len || maxLen),
    // Each character takes at least one byte, so the limit on bytes also limits the length.
    ...(maxBytes > 0n && maxLen === 0n && len === 0n && { maxLength: Number(maxBytes) }),
    ...(rules.in.length > 0 && { enum: rules.in }),
    ...(rules.notIn.length > 0 && { not: { enum: rules.notIn } }),
    ...(hasOwnRule(rules, "const") && { const: rules.const }),
  };
  const sentences = byteLimits(lenBytes, minBytes, maxBytes);
  const patterns = [
    rules.pattern,
    rules.prefix && `^${escapeRegex(rules.prefix)}`,
    rules.suffix && `${escapeRegex(rules.suffix)}$`,
    rules.contains && escapeRegex(rules.contains),
  ].filter((pattern) => pattern !== "");
  const read = patterns.map(regexKeywords).filter((each) => "pattern" in each);
  if (read.length === 1) Object.assign(schema, read[0]);
  else if (read.length > 1) schema["allOf"] = read;
  if (rules.pattern !== "" && !("pattern" in regexKeywords(rules.pattern))) {
    sentences.push(`must match the regular expression \`${rules.pattern}\``);
  }
  if (rules.notContains !== "") sentences.push(`must not contain \`${rules.notContains}\``);
  if (wellKnown.case !== undefined && wellKnown.value !== false) {
    const format = formats[wellKnown.case];
    if (format === undefined) sentences.push(`must be of the format ${wellKnown.case}`);
    else schema["format"] = format;
  }
  return { keywords: schema, sentences };
}

const formats: Readonly<Record<string, string>> = {
  email: "email",
  hostname: "hostname",
  ipv4: "ipv4",
  ipv6: "ipv6",
  uri: "uri",
  uriRef: "uri-reference",
  uuid: "uuid",
};

interface Range<T> {
  readonly const: T;
  readonly lessThan: { readonly case: "lt" | "lte"; readonly value: T } | { readonly case: undefined };
  readonly greaterThan: { readonly case: "gt" | "gte"; readonly value: T } | { readonly case: undefined };
  readonly in: readonly T[];
  readonly notIn: readonly T[];
}

/** @param isText whether the numbers are 64-bit integers, which are strings in JSON and have no range keywords. */
function numberConstraints<T extends number | bigint>(rules: Range<T>, isText: boolean): Constraints {
  const { lessThan, greaterThan } = rules;
  const write = (value: T): unknown => (isText ? String(value) : Number(value));
  const schema: Schema = {
    ...(rules.in.length > 0 && { enum: rules.in.map(write) }),
    ...(rules.notIn.length > 0 && { not: { enum: rules.notIn.map(write) } }),
    ...(hasOwnRule(rules, "const") && { const: write(rules.const) }),
  };
  const less = lessThan.case === undefined ? undefined : `${words[lessThan.case]} ${lessThan.value}`;
  const greater = greaterThan.case === undefined ? undefined : `${words[greaterThan.case]} ${greaterThan.value}`;
  // If the upper limit is not above the lower limit, the rules exclude the range between them.
  const isOutside =
    lessThan.case !== undefined && greaterThan.case !== undefined && lessThan.value <= greaterThan.value;
  if (isOutside) return { keywords: schema, sentences: [`must be ${less} or ${greater}`] };
  if (isText) {
    const both = [greater, less].filter((each) => each !== undefined).join(" and ");
    return { keywords: schema, sentences: both === "" ? [] : [`must be ${both}`] };
  }
  return keywords({
    ...(greaterThan.case === "gte" && { minimum: Number(greaterThan.value) }),
    ...(greaterThan.case === "gt" && { exclusiveMinimum: Number(greaterThan.value) }),
    ...(lessThan.case === "lte" && { maximum: Number(lessThan.value) }),
    ...(lessThan.case === "lt" && { exclusiveMaximum: Number(lessThan.value) }),
    ...schema,
  });
}

const words = { lt: "less than", lte: "at most", gt: "greater than", gte: "at least" } as const;

function timestampSentences({ lessThan, greaterThan, within }: TimestampRules): string[] {
  const sentences = [];
  if (lessThan.case === "ltNow") sentences.push("must be in the past");
  else if (lessThan.case !== undefined) {
    sentences.push(`must be ${words[lessThan.case]} ${toJson(TimestampSchema, lessThan.value)}`);
  }
  if (greaterThan.case === "gtNow") sentences.push("must be in the future");
  else if (greaterThan.case !== undefined) {
    sentences.push(`must be ${words[greaterThan.case]} ${toJson(TimestampSchema, greaterThan.value)}`);
  }
  if (within !== undefined) sentences.push(`must be within ${toJson(DurationSchema, within)} of now`);
  return sentences;
}

function durationConstraints({ lessThan, greaterThan }: DurationRules): Constraints {
  const sentences = [greaterThan, lessThan].flatMap((limit) =>
    limit.case === undefined ? [] : [`must be ${words[limit.case]} ${toJson(DurationSchema, limit.value)}`],
  );
  // If the upper limit is below the lower limit, the rules exclude the range between them.
  const isRange = lessThan.case === undefined || lessThan.value.seconds >= (greaterThan.value?.seconds ?? 0n);
  const isPositive = isRange && greaterThan.case !== undefined && greaterThan.value.seconds >= 0n;
  return { keywords: isPositive ? { pattern: positiveDuration } : {}, sentences };
}

const positiveDuration = String.raw`^[0-9]{1,11}(\.[0-9]{1,9})?s$`;

function limits(kind: "Length" | "Items" | "Properties", min: bigint, max: bigint): Schema {
  return { ...(min > 0n && { [`min${kind}`]: Number(min) }), ...(max > 0n && { [`max${kind}`]: Number(max) }) };
}

function byteLimits(exact: bigint, min: bigint, max: bigint): string[] {
  if (exact > 0n) return [`must be ${exact} bytes long`];
  const sentences = min > 0n ? [`must be at least ${min} bytes long`] : [];
  if (max > 0n) sentences.push(`must be at most ${max} bytes long`);
  return sentences;
}

/**
 * Checks whether a rule is set. Rules track presence, so that `const` can be the default value; an unset rule exists only on
 * the prototype.
 */
function hasOwnRule(rules: object, name: string): boolean {
  return Object.hasOwn(rules, name);
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
