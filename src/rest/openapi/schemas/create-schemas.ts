import { type DescEnum, type DescField, type DescMessage, ScalarType, hasOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as FieldPresence } from "@bufbuild/protobuf/wkt";
import { resource } from "../../../../gen/google/api/resource_pb.ts";
import { fieldsOfBatch, holdsRequests } from "../batch-requests.ts";
import { exampleIn } from "../example-in.ts";
import { readConstraints } from "../constraints/read-constraints.ts";
import type { Declarations } from "../read-declarations.ts";
import { isImmutable, isInputOnly, isOutputOnly, isRequired } from "../field-behavior.ts";
import type { Schema } from "../openapi-document.ts";
import { isWrapper } from "../../binding/describe-type.ts";
import type { CommentReader } from "../read-comments.ts";
import { createComponentNames } from "./component-names.ts";
import { nullable, scalarSchema, wellKnownSchema } from "./json-type.ts";
import { parseExample } from "./parse-example.ts";

/**
 * The variant of a message schema: `whole` in responses; an `input` in requests, which has neither the fields that only the service sets
 * nor those in the path, and allows no others; `update` for the body of a PATCH, in which no field is required, and null clears a field.
 * Only requests have constraints: a response may contain what no request may, such as the permission `*` of a predefined role.
 */
export type Form = "whole" | "update" | Input;

interface Input {
  readonly kind: "input";
  readonly without: ReadonlySet<string>;
}

export const input: Input = { kind: "input", without: new Set() };

/** What describes the values of fields that are not in the descriptors. */
export interface FieldRules {
  /** Returns the keywords of a path or of a list of fields; undefined for any other field. */
  readonly textKeywordsOf: (field: DescField) => Schema | undefined;
  /** Whether a message of a request may have fields that it does not declare. */
  readonly isOpen: (desc: DescMessage) => boolean;
  /** Whether floating-point values are always numbers, neither NaN nor infinite. */
  readonly areNumbersFinite: boolean;
}

export interface Schemas {
  /** Returns the schema of a message, or a reference to it after adding it to the components. */
  ofMessage(desc: DescMessage, form: Form): Schema;
  ofField(field: DescField, form: Form): Schema;
  ofEnum(desc: DescEnum): Schema;
  /** Returns the components that have been referenced so far, ordered by name. */
  components(): Readonly<Record<string, Schema>>;
}

export function createSchemas(commentOf: CommentReader, declarations: Declarations, rules: FieldRules): Schemas {
  const nameOf = createComponentNames();
  const components = new Map<string, Schema>();

  function refer(
    desc: DescMessage | DescEnum,
    build: () => Schema,
    variants: readonly ((name: string) => string)[] = [(name) => name],
    variant = "",
  ): Schema {
    const name = nameOf(desc, variants, variant);
    if (!components.has(name)) {
      components.set(name, {});
      components.set(name, build());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function ofMessage(desc: DescMessage, form: Form): Schema {
    const own = wellKnownSchema(desc, rules.areNumbersFinite);
    if (own !== undefined) return own;
    const build = (): Schema => buildMessage(desc, form);
    if (form === "whole") return refer(desc, build);
    if (form === "update") return refer(desc, build, [(name) => `${name}Update`], "update");
    // Several rules of one request message may have different fields in the path.
    const fields = [...form.without].toSorted().join("_");
    return refer(desc, build, inputNames(desc, fields), `input without ${fields}`);
  }

  function buildMessage(desc: DescMessage, form: Form): Schema {
    const fields = desc.fields.filter((field) => isIn(field, form));
    const required = form === "update" ? [] : fields.filter((field) => isRequired(field) && !isOutputOnly(field));
    const description = [commentOf(desc), ...describeOneofs(desc)].filter((text) => text !== "").join("\n\n");
    return {
      type: "object",
      ...(description !== "" && { description }),
      ...(desc.deprecated && { deprecated: true }),
      properties: Object.fromEntries(fields.map((field) => [field.name, ofField(field, form)])),
      ...(required.length > 0 && { required: required.map((field) => field.name) }),
      ...(form !== "whole" && !rules.isOpen(desc) && { additionalProperties: false }),
    };
  }

  function ofField(field: DescField, form: Form): Schema {
    const { own, elements, keys } = readConstraints(field, declarations.predefinedRules);
    const comment = commentOf(field);
    const example = parseExample(field, exampleIn(comment));
    const notes = [
      comment,
      field.oneof === undefined ? "" : `Excludes the other members of \`${field.oneof.name}\`.`,
      isImmutable(field) && !comment.includes("cannot be changed")
        ? "It is set at creation and cannot be changed."
        : "",
      describeRules([...own.sentences, ...keys.sentences, ...elements.sentences]),
    ];
    const description = notes.filter((note) => note !== "").join("\n\n");
    const isAnswer = form === "whole";
    const text = isAnswer ? undefined : rules.textKeywordsOf(field);
    const inside = isAnswer ? {} : { ...elements.keywords, ...(field.fieldKind === "list" && text) };
    const schema: Schema = {
      ...ofContent(field, form, inside, isAnswer ? {} : keys.keywords),
      ...(!isAnswer && form !== "update" && isRequired(field) && filled(field)),
      ...(!isAnswer && own.keywords),
      ...(field.fieldKind !== "list" && text),
      ...(description !== "" && { description }),
      ...(isOutputOnly(field) && { readOnly: true }),
      ...(isInputOnly(field) && { writeOnly: true }),
      ...(field.deprecated && { deprecated: true }),
      ...(example !== undefined && { examples: [example] }),
    };
    // Null clears only a field with explicit presence; other fields have an empty value for that.
    const isCleared = form === "update" && field.presence === FieldPresence.EXPLICIT;
    // A wrapper may be null, except in a list or a map.
    const isWrapped = field.fieldKind === "message" && isWrapper(field.message);
    return isCleared || isWrapped ? nullable(schema) : schema;
  }

  function ofContent(field: DescField, form: Form, elements: Schema, keys: Schema): Schema {
    // Only the fields of the body itself can be left out of an update.
    const inner = form === "whole" ? "whole" : holdsRequests(field) ? inBatch : input;
    switch (field.fieldKind) {
      case "list":
        return { type: "array", items: { ...ofElement(field, inner), ...elements } };
      case "map": {
        const keyPattern = field.mapKey === ScalarType.STRING ? undefined : keyPatterns[field.mapKey];
        const propertyNames = { ...(keyPattern !== undefined && { pattern: keyPattern }), ...keys };
        return {
          type: "object",
          additionalProperties: { ...ofElement(field, inner), ...elements },
          ...(Object.keys(propertyNames).length > 0 && { propertyNames }),
        };
      }
      default:
        return ofElement(field, form === "update" ? "update" : inner);
    }
  }

  function ofElement(field: DescField, form: Form): Schema {
    if (field.message !== undefined) return ofMessage(field.message, form);
    if (field.enum !== undefined) return ofEnum(field.enum);
    return scalarSchema(field.scalar ?? ScalarType.STRING, rules.areNumbersFinite);
  }

  function ofEnum(desc: DescEnum): Schema {
    if (desc.typeName === "google.protobuf.NullValue") return { type: "null" };
    return refer(desc, () => {
      const values = desc.values.map((value) => `- \`${value.name}\`: ${commentOf(value)}`);
      return {
        type: "string",
        description: [commentOf(desc), values.join("\n")].filter((text) => text !== "").join("\n\n"),
        enum: desc.values.map((value) => value.name),
      };
    });
  }

  return {
    ofMessage,
    ofField,
    ofEnum,
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Returns the keyword for a field that must not be empty. */
function filled(field: DescField): Schema {
  if (field.fieldKind === "list") return { minItems: 1 };
  if (field.fieldKind === "map") return { minProperties: 1 };
  return field.scalar === ScalarType.STRING ? { minLength: 1 } : {};
}

/** `CancelOperationBody`, `CheckAccessRequest`, `MemberInput`, `QuotaRequestInput` */
function inputNames(desc: DescMessage, fields: string): readonly ((name: string) => string)[] {
  // A resource may be a request for something, such as a QuotaRequest.
  const isRequest = desc.name.endsWith("Request") && !hasOption(desc, resource);
  if (fields === "") return [(name) => (isRequest ? name : `${name}Input`)];
  const suffix = (name: string): string => (isRequest ? `${name.slice(0, -"Request".length)}Body` : `${name}Body`);
  return [suffix, (name) => `${suffix(name)}Without_${fields}`];
}

const inBatch: Input = { kind: "input", without: fieldsOfBatch };

const keyPatterns: Readonly<Partial<Record<ScalarType, string>>> = {
  [ScalarType.BOOL]: "^(true|false)$",
  [ScalarType.INT32]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.SINT32]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.SFIXED32]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.INT64]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.SINT64]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.SFIXED64]: "^-?(0|[1-9][0-9]*)$",
  [ScalarType.UINT32]: "^(0|[1-9][0-9]*)$",
  [ScalarType.FIXED32]: "^(0|[1-9][0-9]*)$",
  [ScalarType.UINT64]: "^(0|[1-9][0-9]*)$",
  [ScalarType.FIXED64]: "^(0|[1-9][0-9]*)$",
};

function isIn(field: DescField, form: Form): boolean {
  if (form === "whole") return !isInputOnly(field);
  if (form === "update") return !isOutputOnly(field);
  return !form.without.has(field.name) && !isOutputOnly(field);
}

function describeOneofs(desc: DescMessage): string[] {
  return desc.oneofs.map(({ fields }) => `At most one of ${fields.map((field) => `\`${field.name}\``).join(", ")}.`);
}

/** Formats the rules of a field for its description. A rule that starts with "must" becomes a sentence with "It". */
function describeRules(rules: readonly string[]): string {
  const sentences = rules.map((rule) => (rule.startsWith("must ") ? `It ${rule}.` : `${rule.replace(/\.$/, "")}.`));
  return sentences.length > 1 ? sentences.map((sentence) => `- ${sentence}`).join("\n") : sentences.join("");
}
