import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as FieldPresence } from "@bufbuild/protobuf/wkt";
import { exampleIn } from "../example-in.ts";
import { readConstraints } from "../constraints/read-constraints.ts";
import type { Declarations } from "../read-declarations.ts";
import { isImmutable, isInputOnly, isOutputOnly, isRequired } from "../field-behavior.ts";
import type { Schema } from "../openapi-document.ts";
import { isWrapper } from "../../binding/describe-type.ts";
import type { CommentReader } from "../read-comments.ts";
import { createComponentNames } from "./component-names.ts";
import { describeRules } from "./describe-rules.ts";
import { nullable, scalarSchema, wellKnownSchema } from "./json-type.ts";
import { parseExample } from "./parse-example.ts";

/**
 * The variant of a message schema. A resource has one `whole` schema for responses and for creation: fields that only the
 * service sets are `readOnly`, and fields that creation needs are `required`. A PATCH is partial, so its body is an
 * `update`: no field is required, and null clears a field. A `body` omits the fields that are in the path.
 */
export type Form = "whole" | "update" | { readonly kind: "body"; readonly without: ReadonlySet<string> };

export interface Schemas {
  /** Returns the schema of a message, or a reference to it after adding it to the components. */
  ofMessage(desc: DescMessage, form: Form): Schema;
  ofField(field: DescField, form: Form): Schema;
  ofEnum(desc: DescEnum): Schema;
  /** Returns the components that have been referenced so far, ordered by name. */
  components(): Readonly<Record<string, Schema>>;
}

export function createSchemas(commentOf: CommentReader, declarations: Declarations): Schemas {
  const nameOf = createComponentNames();
  const components = new Map<string, Schema>();

  function refer(desc: DescMessage | DescEnum, suffix: string, build: () => Schema): Schema {
    const name = nameOf(desc, suffix);
    if (!components.has(name)) {
      components.set(name, {});
      components.set(name, build());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function ofMessage(desc: DescMessage, form: Form): Schema {
    const own = wellKnownSchema(desc);
    if (own !== undefined) return own;
    if (form === "whole") return refer(desc, "", () => buildMessage(desc, form));
    // Several rules of one request message may have different fields in the path.
    const suffix = form === "update" ? "Update" : `Without_${[...form.without].toSorted().join("_")}`;
    return refer(desc, suffix, () => buildMessage(desc, form));
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
    const schema: Schema = {
      ...ofContent(field, form, elements.keywords, keys.keywords),
      ...own.keywords,
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
    switch (field.fieldKind) {
      case "list":
        return { type: "array", items: { ...ofElement(field, "whole"), ...elements } };
      case "map": {
        const keyPattern = field.mapKey === ScalarType.STRING ? undefined : keyPatterns[field.mapKey];
        const propertyNames = { ...(keyPattern !== undefined && { pattern: keyPattern }), ...keys };
        return {
          type: "object",
          additionalProperties: { ...ofElement(field, "whole"), ...elements },
          ...(Object.keys(propertyNames).length > 0 && { propertyNames }),
        };
      }
      default:
        return ofElement(field, form === "update" ? "update" : "whole");
    }
  }

  function ofElement(field: DescField, form: Form): Schema {
    if (field.message !== undefined) return ofMessage(field.message, form);
    if (field.enum !== undefined) return ofEnum(field.enum);
    return scalarSchema(field.scalar ?? ScalarType.STRING);
  }

  function ofEnum(desc: DescEnum): Schema {
    if (desc.typeName === "google.protobuf.NullValue") return { type: "null" };
    return refer(desc, "", () => {
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

const keyPatterns: Readonly<Partial<Record<ScalarType, string>>> = {
  [ScalarType.BOOL]: "^(true|false)$",
  [ScalarType.INT32]: "^-?[0-9]+$",
  [ScalarType.SINT32]: "^-?[0-9]+$",
  [ScalarType.SFIXED32]: "^-?[0-9]+$",
  [ScalarType.INT64]: "^-?[0-9]+$",
  [ScalarType.SINT64]: "^-?[0-9]+$",
  [ScalarType.SFIXED64]: "^-?[0-9]+$",
  [ScalarType.UINT32]: "^[0-9]+$",
  [ScalarType.FIXED32]: "^[0-9]+$",
  [ScalarType.UINT64]: "^[0-9]+$",
  [ScalarType.FIXED64]: "^[0-9]+$",
};

function isIn(field: DescField, form: Form): boolean {
  if (form === "whole") return true;
  if (form === "update") return !isOutputOnly(field);
  return !form.without.has(field.name) && !isOutputOnly(field);
}

function describeOneofs(desc: DescMessage): string[] {
  return desc.oneofs.map(({ fields }) => `At most one of ${fields.map((field) => `\`${field.name}\``).join(", ")}.`);
}
