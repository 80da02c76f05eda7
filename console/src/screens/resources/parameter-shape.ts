// The fields that a form has for the parameters of a resource, by the JSON Schema of its type. Providers write the schemas, so what the
// form has no field for is typed as JSON, and the service says what is wrong with it.
import { type JsonObject, type JsonValue } from "@bufbuild/protobuf";

/** What a field is for. */
export interface ParameterField {
  /** The name in forms and in what the service says of it: `parameters.boot.delay`. */
  readonly name: string;
  /** The name of the property: `delay`. */
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly required: boolean;
  readonly initial: JsonValue | undefined;
  readonly kind: ParameterKind;
}

type ParameterKind =
  | { readonly type: "text" }
  | { readonly type: "number" }
  | { readonly type: "boolean" }
  | { readonly type: "json" }
  | { readonly type: "choice"; readonly values: readonly JsonValue[] }
  | { readonly type: "group"; readonly fields: readonly ParameterField[] };

/** How deep objects are shown with fields of their own, and how many fields a form has. */
const [maxDepth, maxFields] = [3, 50];

/** Of an object with another keyword, such as `oneOf`, properties alone do not say what it can have. */
const plain = new Set(
  "$schema $id $defs $comment type title description default examples properties required".split(" "),
);

/** Names that are no path. */
const simpleName = /^[A-Za-z][\w-]*$/;

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textIn = (schema: JsonObject, keyword: string): string => {
  const value = schema[keyword];
  return typeof value === "string" ? value : "";
};

/** Returns the field for all parameters of a type; undefined if its resources have none. */
export function shapeOf(schema: JsonObject | undefined, label: string): ParameterField | undefined {
  if (schema === undefined) return undefined;
  const position = { name: "parameters", key: "parameters", label, required: false, depth: 0 };
  return fieldOf({ root: schema, left: { fields: maxFields }, ...position }, schema);
}

interface Position extends Pick<ParameterField, "name" | "key" | "label" | "required"> {
  /** The whole schema, to which references lead. */
  readonly root: JsonObject;
  readonly depth: number;
  /** How many fields the form can still have. */
  readonly left: { fields: number };
}

function fieldOf({ root, depth, left, ...position }: Position, written: JsonValue | undefined): ParameterField {
  const schema = follow(root, written);
  return {
    ...position,
    label: textIn(schema, "title") || position.label,
    hint: textIn(schema, "description"),
    initial: schema["default"],
    kind: kindOf({ root, depth, left, ...position }, schema),
  };
}

/** Returns what a reference leads to, with what is said beside it; an empty schema for what the form cannot follow. */
function follow(root: JsonObject, written: JsonValue | undefined): JsonObject {
  if (!isObject(written)) return {};
  const { $ref, ...rest } = written;
  if ($ref === undefined) return written;
  const [, name = ""] = typeof $ref === "string" ? (/^#\/\$defs\/([\w-]+)$/.exec($ref) ?? []) : [];
  const definitions = root["$defs"];
  const found = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  return isObject(found) && found["$ref"] === undefined ? { ...found, ...rest } : {};
}

function kindOf(position: Position, schema: JsonObject): ParameterKind {
  const { enum: values, type } = schema;
  if (Array.isArray(values)) return { type: "choice", values };
  if (schema["const"] !== undefined) return { type: "choice", values: [schema["const"]] };
  if (type === "string") return { type: "text" };
  if (type === "number" || type === "integer") return { type: "number" };
  if (type === "boolean") return { type: "boolean" };
  return groupOf(position, schema) ?? { type: "json" };
}

function groupOf({ root, name, depth, left }: Position, schema: JsonObject): ParameterKind | undefined {
  const { properties, additionalProperties = false } = schema;
  const isPlain = Object.keys(schema).every((keyword) => plain.has(keyword) || keyword === "additionalProperties");
  if (!isObject(properties) || !isPlain || additionalProperties !== false || depth >= maxDepth) return undefined;
  const keys = Object.keys(properties);
  if (keys.length === 0 || keys.length > left.fields || !keys.every((key) => simpleName.test(key))) return undefined;
  left.fields -= keys.length;
  const { required } = schema;
  const isRequired = (key: string): boolean => Array.isArray(required) && required.includes(key);
  // Schemas come without the order that they were written in.
  const inOrder = keys.toSorted((one, other) => Number(isRequired(other)) - Number(isRequired(one)));
  const fields = inOrder.map((key) =>
    fieldOf(
      { root, left, name: `${name}.${key}`, key, label: key, required: isRequired(key), depth: depth + 1 },
      properties[key],
    ),
  );
  return { type: "group", fields };
}

/** Returns the names of all fields, those of groups before those in them. */
export const namesIn = ({ name, kind }: ParameterField): string[] => [
  name,
  ...(kind.type === "group" ? kind.fields.flatMap(namesIn) : []),
];
