import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  create,
  createRegistry,
  isFieldSet,
} from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { type Violation, createValidator } from "@bufbuild/protovalidate";
import { file_iam_v1alpha_constraints } from "../../gen/iam/v1alpha/constraints_pb.ts";
import { valueNames } from "../rest/value-names.ts";
import type { Steps } from "../scheduling/steps.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { obviouslyKeepsConstraints } from "./accept-message.ts";
import { isRequired } from "./field-behavior.ts";
import { findNul } from "./find-nul.ts";
import { findOversized } from "./find-oversized.ts";
import { valueOf } from "./value-of.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints), regexMatch });

/** Compiled expressions by pattern. The constraints have few patterns. */
const expressions = new Map<string, RegExp>();

/**
 * Matches a pattern. The library's own matcher is RE2 in JavaScript and would double the time to validate a message. RE2
 * guarantees linear time; the patterns of our constraints are linear with RegExp too, mean the same in both, and are the only
 * ones used here.
 */
function regexMatch(pattern: string, text: string): boolean {
  let expression = expressions.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    expressions.set(pattern, expression);
  }
  return expression.test(text);
}

/** The maximum number of violations in an error, so that it fits into the trailers of a gRPC response. */
export const maxViolations = 100;

/**
 * Checks a message and the messages in it against their `buf.validate` constraints and REQUIRED fields. The resource in a
 * message with an `update_mask` may be partial; it is validated after the merge.
 *
 * @param prefix for the field names in errors: `member.`.
 * @throws ServiceError FIELD_INVALID with the violations, at most `maxViolations`.
 */
export function validateMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix = "",
): void {
  refuseOversized(schema, message, prefix);
  const violations = [...missingFields(schema, message, prefix), ...brokenConstraints(schema, message, prefix)];
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

/** Refuses lists and maps that are too long without a look at what is in them. */
function refuseOversized(schema: DescMessage, message: Message, prefix = ""): void {
  const oversized = findOversized(schema, message, prefix);
  if (oversized.length > 0) throw invalidFields(oversized.slice(0, maxViolations));
}

/** Longer lists of messages are validated in steps. */
const maxTogether = 16;

type MessageList = DescField & { fieldKind: "list"; listKind: "message" };

/**
 * Validates as `validateMessage` does: a message with long lists in steps, the others at once.
 *
 * @returns undefined if the message has been validated, and otherwise the steps, which throw when they find violations.
 * @throws ServiceError FIELD_INVALID
 */
export function startValidation<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Steps<void> | undefined {
  const itemsOf = (field: MessageList) => valueOf(message, field) as readonly Message[];
  const long = presenceOf(schema).lists.filter((field) => itemsOf(field).length > maxTogether);
  if (long.length === 0) {
    validateMessage(schema, message);
    return undefined;
  }
  refuseOversized(schema, message);
  return validateLists(schema, message, long);
}

function* validateLists<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  lists: readonly MessageList[],
): Steps<void> {
  const violations = missingFields(schema, message, "");
  const withItems = (items: Readonly<Record<string, readonly Message[]>>): MessageShape<Desc> => ({
    ...message,
    ...items,
  });
  const none = Object.fromEntries(lists.map(({ localName }) => [localName, []]));
  // A list must not be empty, which these are not.
  const names = new Set(lists.map(({ name }) => name));
  if (!obviouslyKeepsConstraints(schema, message)) {
    violations.push(...brokenConstraints(schema, withItems(none)).filter(({ field }) => !names.has(field)));
    for (const { name, localName } of lists) {
      const items = (message as unknown as Readonly<Record<string, readonly Message[]>>)[localName] ?? [];
      for (const [index, item] of items.entries()) {
        if (violations.length >= maxViolations) break;
        yield;
        const broken = brokenConstraints(schema, withItems({ ...none, [localName]: [item] }));
        const first = `${name}[0]`;
        for (const each of broken.filter(({ field }) => field.startsWith(first))) {
          violations.push({ ...each, field: `${name}[${index}]${each.field.slice(first.length)}` });
        }
      }
    }
  }
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

/** Returns the violations of the `buf.validate` constraints of a message and the messages in it. */
export function brokenConstraints<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix = "",
): FieldViolation[] {
  if (obviouslyKeepsConstraints(schema, message)) return [];
  const result = validator.validate(schema, message);
  if (result.kind === "error") throw result.error;
  const broken = (result.violations ?? []).map((violation) => ({
    field: prefix + pathToString(violation.field),
    description: describeViolation(message, violation),
    rule: violation.ruleId,
  }));
  const texts = findNul(schema, message, prefix);
  return [...broken, ...texts.filter((text) => !broken.some(({ field }) => text.field.startsWith(field)))];
}

/** Whose messages hold numbers, and not names. */
const enumRules: ReadonlySet<string> = new Set(["enum.defined_only", "enum.not_in"]);

/** Returns the message of a violation, with what it does not say: the values of an enum, and which entry of a map is meant. */
function describeViolation(root: Message, { field, ruleId, message }: Violation): string {
  if (enumRules.has(ruleId)) {
    // Also of a list or a map of them.
    const values = field.findLast((step) => step.kind === "field")?.enum;
    if (values !== undefined) return `must be one of ${valueNames(values).join(", ")}`;
  }
  const last = field.at(-1);
  if (last?.kind !== "field") return message;
  const key = last.fieldKind === "map" ? findBrokenKey(valueAt(root, field.slice(0, -1)), last, ruleId) : undefined;
  return key === undefined ? message : `${message} (at the key ${JSON.stringify(key.slice(0, 100))})`;
}

/** Returns the first key whose entry breaks a rule about all entries by itself; undefined for rules about their number. */
function findBrokenKey(holder: unknown, field: DescField & { fieldKind: "map" }, ruleId: string): string | undefined {
  const entries = Object.entries(valueOf(holder as Message, field) as Readonly<Record<string, unknown>>);
  const isBroken = ([key, value]: [string, unknown]): boolean => {
    const alone = Object.assign(create(field.parent), { [field.localName]: { [key]: value } });
    return validator.validate(field.parent, alone).violations?.some((each) => each.ruleId === ruleId) === true;
  };
  return entries.find(isBroken)?.[0];
}

function valueAt(root: Message, path: Violation["field"]): unknown {
  let value: unknown = root;
  for (const step of path) {
    if (step.kind === "field") value = valueOf(value as Message, step);
    else if (step.kind === "list_sub") value = (value as readonly unknown[])[step.index];
    else if (step.kind === "map_sub") value = (value as Readonly<Record<string, unknown>>)[String(step.key)];
  }
  return value;
}

/**
 * Returns the violations of REQUIRED.
 *
 * @param outer the message whose list contains this one. A field that `outer` has too may be unset in the item.
 */
function missingFields<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix: string,
  outer?: DescMessage,
): FieldViolation[] {
  const { required, nested, lists } = presenceOf(schema);
  const violations = required
    .filter((field) => !isFieldSet(message, field) && !outer?.fields.some(({ name }) => name === field.name))
    .map((field) => missing(field, prefix));
  for (const field of nested) {
    if (!isFieldSet(message, field)) continue;
    violations.push(...missingFields(field.message, valueOf(message, field) as Message, `${prefix}${field.name}.`));
  }
  for (const field of lists) {
    for (const [index, item] of (valueOf(message, field) as Message[]).entries()) {
      violations.push(...missingFields(field.message, item, `${prefix}${field.name}[${index}].`, schema));
    }
  }
  return violations;
}

/** The fields of a message that must be set, and the fields whose messages are checked too. */
interface Presence {
  readonly required: readonly DescField[];
  readonly nested: readonly (DescField & { fieldKind: "message" })[];
  readonly lists: readonly MessageList[];
}

/** Cached, because every request is validated. */
const presences = new WeakMap<DescMessage, Presence>();

function presenceOf(schema: DescMessage): Presence {
  let presence = presences.get(schema);
  if (presence === undefined) {
    const isUpdate = schema.fields.some((field) => field.name === "update_mask");
    const nested = isUpdate ? [] : schema.fields.filter((field) => field.fieldKind === "message");
    const lists = schema.fields.filter((field) => field.fieldKind === "list" && field.listKind === "message");
    presence = { required: schema.fields.filter(isRequired), nested, lists };
    presences.set(schema, presence);
  }
  return presence;
}

function missing(field: DescField, prefix: string): FieldViolation {
  return { field: prefix + field.name, description: "must be set", rule: "required" };
}
