import {
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
  getOption,
  hasOption,
  isFieldSet,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  Ignore,
  field as fieldRules,
  message as messageRules,
  oneof as oneofRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { type Accept, compileRules } from "./accept-rules.ts";
import { hasNoNul, hasNoNulInside, isJson } from "./find-nul.ts";
import { isWellKnown, valueOf } from "./value-of.ts";

type AcceptMessage = (message: Message) => boolean;

const compiled = new WeakMap<DescMessage, AcceptMessage>();

const never: Accept = () => false;

/**
 * Checks whether a message, and the messages in it, obviously keep their `buf.validate` constraints. Most do, which takes about a
 * microsecond. protovalidate decides about all others, and says what is wrong.
 */
export function obviouslyKeepsConstraints(schema: DescMessage, message: Message): boolean {
  return compileMessage(schema)(message);
}

function compileMessage(desc: DescMessage): AcceptMessage {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  let checks: readonly AcceptMessage[] = [];
  const accepts: AcceptMessage = (message) => checks.every((check) => check(message));
  // A message may contain itself.
  compiled.set(desc, accepts);
  if (hasOption(desc, messageRules) || desc.oneofs.some((oneof) => hasOption(oneof, oneofRules))) checks = [never];
  else if (!isWellKnown(desc)) checks = desc.fields.flatMap((field) => compileField(field) ?? []);
  return accepts;
}

/** Returns undefined if all values of the field are valid. */
function compileField(field: DescField): AcceptMessage | undefined {
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : undefined;
  if (rules?.ignore === Ignore.ALWAYS) return undefined;
  const checks = [compileOwn(rules, field), ...compileParts(field, rules), ...compileTexts(field)].filter(
    (check) => check !== undefined,
  );
  const isRequired = rules?.required === true;
  if (checks.length === 0 && !isRequired) return undefined;
  // The zero value of a field without presence must keep the rules too, unless they are ignored for it.
  const isZeroValid = rules?.ignore === Ignore.IF_ZERO_VALUE || field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  return (message) => {
    if (!isFieldSet(message, field)) {
      if (isRequired) return false;
      if (isZeroValid) return true;
    }
    const value = valueOf(message, field);
    return checks.every((check) => check(value));
  };
}

/** Compiles the rules for a value as a whole, or for an item, key or value of it. */
function compileOwn(rules: FieldRules | undefined, field: DescField): Accept | undefined {
  if (rules === undefined) return undefined;
  if (rules.cel.length > 0 || rules.celExpression.length > 0) return never;
  return rules.type.case === undefined ? undefined : (compileRules(rules, field) ?? never);
}

/** Returns the rule for the texts in a value that are in no message. */
function compileTexts(field: DescField): Accept[] {
  const isText = field.scalar === ScalarType.STRING;
  switch (field.fieldKind) {
    case "scalar":
      return isText ? [hasNoNul] : [];
    case "list":
      return isText ? [(items) => (items as unknown[]).every(hasNoNul)] : [];
    case "map":
      return [
        (entries) => Object.keys(entries as object).every(hasNoNul),
        ...(isText ? [(entries: unknown) => Object.values(entries as object).every(hasNoNul)] : []),
      ];
    case "message":
      return isJson(field.message) ? [hasNoNulInside] : [];
    default:
      return [];
  }
}

/** Compiles the rules for what is in a value: its items, its keys and values, or the fields of its message. */
function compileParts(field: DescField, rules: FieldRules | undefined): (Accept | undefined)[] {
  const { case: type, value } = rules?.type ?? { case: undefined };
  switch (field.fieldKind) {
    case "list": {
      const check = compilePart(type === "repeated" ? value.items : undefined, field, field.message);
      return [check && ((items) => (items as unknown[]).every(check))];
    }
    case "map": {
      const [keys, values] = type === "map" ? [value.keys, value.values] : [];
      const [checkKey, checkValue] = [compilePart(keys, field), compilePart(values, field, field.message)];
      return [
        checkKey && ((entries) => Object.keys(entries as object).every(checkKey)),
        checkValue && ((entries) => Object.values(entries as object).every(checkValue)),
      ];
    }
    case "message":
      return [compileMessage(field.message) as Accept];
    default:
      return [];
  }
}

function compilePart(rules: FieldRules | undefined, field: DescField, desc?: DescMessage): Accept | undefined {
  if (rules !== undefined && rules.ignore !== Ignore.UNSPECIFIED) return never;
  const [own, inner] = [compileOwn(rules, field), desc && (compileMessage(desc) as Accept)];
  return own && inner ? (value) => own(value) && inner(value) : (own ?? inner);
}
