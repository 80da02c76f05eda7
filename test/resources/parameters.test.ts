// JSON Schemas of parameters that would stop or end the server: providers write them, and every request shares its thread.
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../src/errors/service-error.ts";
import { checkParametersSchema, createCheckParameters } from "../../src/resources/parameters.ts";

const violationOf = (run: () => void) => {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return error.violations[0];
    throw error;
  }
  return undefined;
};

const text: JsonObject = { type: "object", properties: { a: { type: "string" } } };

/** References of which each is to two of the next: 2^24 in all. */
const doubling: JsonObject = {
  type: "object",
  $defs: Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [
      `d${index}`,
      index === 24
        ? { required: ["z"] }
        : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  ),
  $ref: "#/$defs/d0",
};

const typeWith = (schema: JsonObject, revision = "1", id = "a") => ({
  id,
  changed_revision: revision,
  parameters_schema: schema,
});
const checkParameters = (schema: JsonObject, parameters: JsonObject, field: string): void =>
  createCheckParameters()(typeWith(schema), parameters, field);

describe("compiled schemas", () => {
  const check = createCheckParameters(2);
  const isAccepted = (type: ReturnType<typeof typeWith>, parameters: JsonObject): boolean => {
    try {
      check(type, parameters, "parameters");
      return true;
    } catch {
      return false;
    }
  };
  const needs = (name: string): JsonObject => ({ type: "object", required: [name], properties: { [name]: {} } });

  test("are those of the type and its revision, also when there are more than are kept", () => {
    for (const id of ["a", "b", "a"]) {
      for (const name of ["x", "y"]) {
        const described = typeWith(needs(name), name, id);
        expect([isAccepted(described, { x: 1 }), isAccepted(described, { y: 1 })]).toEqual([
          name === "x",
          name === "y",
        ]);
      }
    }
  });

  test("are not refused because others have the processor", () => {
    const waiting = new Int32Array(new SharedArrayBuffer(4));
    let reads = 0;
    const parameters = {
      get x() {
        // These reads take longer than validation may, and no processor time. The first is before it.
        if (++reads < 4) Atomics.wait(waiting, 0, 0, 600);
        return 1;
      },
    };
    expect(isAccepted(typeWith(needs("x"), "busy"), parameters)).toBe(true);
    expect(reads).toBeGreaterThanOrEqual(4);
  });

  test("are not compiled again while they are kept", () => {
    const schema = needs("x");
    expect(isAccepted(typeWith(schema, "kept"), { x: 1 })).toBe(true);
    // The schema of a revision never changes. If it did, this would be seen.
    schema["required"] = ["other"];
    expect(isAccepted(typeWith(schema, "kept"), { x: 1 })).toBe(true);
    expect(isAccepted(typeWith(schema, "next"), { x: 1 })).toBe(false);
  });
});

describe("a schema", () => {
  test("cannot make the validation asynchronous, at any depth", () => {
    for (const schema of [
      { ...text, $async: true },
      { $defs: { a: { ...text, $async: true } }, $ref: "#/$defs/a" },
    ]) {
      expect(violationOf(() => checkParametersSchema(schema, "schema"))).toMatchObject({
        field: "schema",
        rule: "json_schema",
        description: expect.stringContaining("$async"),
      });
      expect(violationOf(() => checkParameters(schema, { a: 1 }, "parameters"))).toMatchObject({ field: "parameters" });
    }
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["refers to itself", { $ref: "#" }, { a: "" }],
    ["refers to nothing dynamically", { $id: "x", type: "object", $dynamicRef: "#foo" }, {}],
    [
      "has a pattern that backtracks",
      { properties: { a: { type: "string", pattern: "^(a+)+$" } }, type: "object" },
      { a: `${"a".repeat(40)}!` },
    ],
    ["repeats its references", doubling, {}],
  ])("that %s refuses the parameters, and the server goes on", (_name, schema, parameters) => {
    expect(violationOf(() => checkParameters(schema, parameters, "parameters"))).toMatchObject({
      field: "parameters",
      rule: "json_schema",
    });
  });
});
