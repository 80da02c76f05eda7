import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { namesIn, shapeOf } from "../../console/src/screens/resources/parameter-shape.ts";
import { required } from "../../src/errors/required.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });

/** Returns the kinds of the fields for a schema, by their names. */
function kindsOf(schema: JsonObject): Record<string, string> {
  const fields: Record<string, string> = {};
  const visit = ({ name, kind }: NonNullable<ReturnType<typeof shapeOf>>): void => {
    fields[name] = kind.type;
    if (kind.type === "group") kind.fields.forEach(visit);
  };
  visit(required(shapeOf(schema, "Parameters")));
  return fields;
}

describe("the fields for parameters", () => {
  test("are those that the schema says", () => {
    const schema = object({
      image: { type: "string" },
      size: { type: "integer" },
      safe: { type: "boolean" },
      zone: { enum: ["a", 1] },
      version: { const: 2 },
      boot: object({ delay: { $ref: "#/$defs/seconds" } }),
      tags: { type: "array" },
      any: true,
    });
    expect(kindsOf({ ...schema, $defs: { seconds: { type: "number" } } })).toEqual({
      parameters: "group",
      "parameters.image": "text",
      "parameters.size": "number",
      "parameters.safe": "boolean",
      "parameters.zone": "choice",
      "parameters.version": "choice",
      "parameters.boot": "group",
      "parameters.boot.delay": "number",
      "parameters.tags": "json",
      "parameters.any": "json",
    });
  });

  const image = { image: { type: "string" } };
  test.each<[string, JsonObject]>([
    ["that has other properties, too", object(image, { additionalProperties: true })],
    ["that says more of its properties", object(image, { oneOf: [{ required: ["image"] }] })],
    ["without properties", { type: "object" }],
    ["with a name that is a path", object({ "a.b": { type: "string" } })],
    ["with the name of a prototype", object(JSON.parse('{"__proto__": {"type": "string"}}'))],
    ["with too many properties", object(Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`p${n}`, {}])))],
    ["that refers to itself", { $ref: "#" }],
    ["that refers to nothing", { $ref: "#/$defs/constructor" }],
  ])("are one of JSON for an object %s", (_what, schema) => {
    expect(kindsOf(schema)).toEqual({ parameters: "json" });
  });

  test("end where a schema goes round", () => {
    const node = object({ next: { $ref: "#/$defs/node" } });
    expect(kindsOf({ ...object({ first: { $ref: "#/$defs/node" } }), $defs: { node } })).toEqual({
      parameters: "group",
      "parameters.first": "group",
      "parameters.first.next": "group",
      "parameters.first.next.next": "json",
    });
  });

  test("are few, however often a schema refers to the same", () => {
    const twenty = (name: string): JsonObject =>
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, { $ref: `#/$defs/${name}` }]));
    const $defs = { one: object(twenty("two")), two: object(twenty("three")), three: { type: "string" } };
    const kinds = Object.values(kindsOf({ ...object(twenty("one")), $defs }));
    expect(kinds.length).toBeLessThanOrEqual(51);
    expect(kinds).toContain("json");
  });

  test("are none for a type without parameters, and know their own names", () => {
    expect(shapeOf(undefined, "Parameters")).toBeUndefined();
    const shape = required(shapeOf(object({ boot: object(image) }), "Parameters"));
    expect(namesIn(shape)).toEqual(["parameters", "parameters.boot", "parameters.boot.image"]);
  });
});
