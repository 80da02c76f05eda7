import {
  type DescExtension,
  type DescField,
  getExtension,
  getOption,
  hasExtension,
  hasOption,
} from "@bufbuild/protobuf";
import {
  field as fieldRules,
  type FieldRules,
  Ignore,
  predefined,
  type Rule,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { isRequired } from "../field-behavior.ts";
import type { Schema } from "../openapi-document.ts";
import { celKeywords, type Sized } from "./cel-keywords.ts";
import { type Constraints, none, standardConstraints } from "./standard-constraints.ts";

/** The constraints of a field, of the items of a list, and of the keys and values of a map. */
export interface FieldConstraints {
  readonly own: Constraints;
  readonly elements: Constraints;
  readonly keys: Constraints;
}

/**
 * Reads the `buf.validate` rules of a field: standard rules, CEL, and predefined rules, which are extensions with CEL.
 *
 * @param predefinedRules the known extensions with predefined rules.
 */
export function readConstraints(field: DescField, predefinedRules: readonly DescExtension[]): FieldConstraints {
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : undefined;
  const { type } = rules ?? { type: undefined };
  const read = (each: FieldRules | undefined, holder?: DescField) => readRules(each, holder, field, predefinedRules);
  return {
    own: read(rules, field),
    elements: read(type?.case === "repeated" ? type.value.items : type?.case === "map" ? type.value.values : undefined),
    keys: read(type?.case === "map" ? type.value.keys : undefined),
  };
}

/** @param holder the field if the rules apply to the field itself; undefined if they apply to its items, keys or values. */
function readRules(
  rules: FieldRules | undefined,
  holder: DescField | undefined,
  field: DescField,
  predefinedRules: readonly DescExtension[],
): Constraints {
  if (rules === undefined || rules.ignore === Ignore.ALWAYS) return none;
  const standard = standardConstraints(rules);
  const enumKeywords = enumConstraints(rules, field);
  const sized: Sized = rules.type.case === "map" ? "Properties" : rules.type.case === "repeated" ? "Items" : "Length";
  const isFilled = holder !== undefined && isRequired(holder);
  const cel = celRules(rules, predefinedRules);
  const own: Constraints = {
    keywords: Object.assign(
      {},
      ...cel.map((rule) => celKeywords(rule.expression, sized, isFilled)),
      standard.keywords,
      enumKeywords,
    ) as Schema,
    sentences: [
      ...standard.sentences,
      ...cel.map(({ message, expression }) => (message === "" ? `must satisfy \`${expression}\`` : message)),
    ],
  };
  // Such rules do not apply to an empty value, which keywords cannot express.
  const isPassedOver = rules.ignore === Ignore.IF_ZERO_VALUE && !isFilled;
  if (!isPassedOver) return own;
  const { format, ...others } = own.keywords;
  const isUuid = format === "uuid" && Object.keys(others).length === 0;
  if (isUuid) return { keywords: { pattern: uuidOrEmpty }, sentences: ["must be a UUID"] };
  return { keywords: {}, sentences: [...own.sentences, ...describeKeywords(own.keywords)] };
}

const uuidOrEmpty = "^$|^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

function celRules(rules: FieldRules, predefinedRules: readonly DescExtension[]): readonly Rule[] {
  const typed = rules.type.value;
  const applied =
    typed === undefined
      ? []
      : predefinedRules.filter((each) => hasExtension(typed, each) && getExtension(typed, each) !== false);
  return [...rules.cel, ...applied.flatMap((each) => getOption(each, predefined).cel)];
}

function enumConstraints({ type }: FieldRules, { enum: desc }: DescField): Schema {
  if (type.case !== "enum" || desc === undefined) return {};
  const { value: rules } = type;
  const nameOf = (number: number): string => desc.value[number]?.name ?? String(number);
  return {
    ...(rules.in.length > 0 && { enum: rules.in.map(nameOf) }),
    ...(rules.notIn.length > 0 && { not: { enum: rules.notIn.map(nameOf) } }),
    ...(Object.hasOwn(rules, "const") && { const: nameOf(rules.const) }),
  };
}

function describeKeywords(keywords: Schema): string[] {
  return Object.entries(keywords).map(
    ([keyword, value]) => `must have ${keyword} \`${JSON.stringify(value)}\` unless it is empty`,
  );
}
