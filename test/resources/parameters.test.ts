// JSON Schemas of parameters that could stop the server: providers write them, and every request shares its thread.
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../src/errors/service-error.ts";
import {
  checkParametersSchema,
  createCheckParameters,
  createParametersWork,
  requireChecked,
} from "../../src/resources/parameters.ts";

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
  service_name: "compute",
  name: "instances",
});
const checkParameters = (schema: JsonObject, parameters: JsonObject, field: string, work = createParametersWork()) =>
  createCheckParameters()(typeWith(schema), parameters, field, work);

test("long names around violations are told in part", () => {
  const names = (violation = violationOf(() => checkParameters(text, { a: 1 }, "parameters"))) => violation?.field;
  expect(names()).toBe("parameters.a");
  const nested = { additionalProperties: { items: { type: "string" } } };
  const around = "😀".repeat(10_000);
  expect(names(violationOf(() => checkParameters(nested, { [around]: ["", 1] }, "parameters")))).toBe(
    `parameters.${"😀".repeat(50)}...[1]`,
  );
});

describe("schemas that are kept", () => {
  const check = createCheckParameters(2);
  const isAccepted = (type: ReturnType<typeof typeWith>, parameters: JsonObject): boolean => {
    try {
      check(type, parameters, "parameters", createParametersWork());
      return true;
    } catch {
      return false;
    }
  };
  const needs = (name: string): JsonObject => ({ type: "object", required: [name], properties: { [name]: {} } });

  test("are read once, also if that takes more steps than are accepted", () => {
    const large = typeWith({ properties: { a: { enum: [1] }, b: { pattern: "\\p{L}".repeat(101) } } });
    const reading = (): readonly [left: number, description: string | undefined] => {
      const work = createParametersWork();
      const violation = violationOf(() => check(large, {}, "parameters", work));
      return [work.reading.left, violation?.description];
    };
    const [[first, described], [second, again]] = [reading(), reading()];
    expect(described).toContain("takes too many steps to be read: at most 20000 are accepted");
    expect(again).toBe(described);
    expect(first).toBeLessThan(second);
    expect(second).toBe(createParametersWork().reading.left);
  });

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

  test("are not read again", () => {
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
    }
  });

  test.each<[string, JsonObject, string]>([
    ["refers to itself", { $ref: "#" }, "refers to itself"],
    ["refers to nothing dynamically", { $id: "x", type: "object", $dynamicRef: "#foo" }, "can't resolve reference"],
    ["repeats its references", doubling, "repeats its references"],
    [
      "looks around",
      { properties: { a: { pattern: "^(?!b)" } } },
      'the pattern "^(?!b)" must be one without look-around',
    ],
  ])("that %s is refused, and if it is stored, the parameters are", (_name, schema, problem) => {
    expect(violationOf(() => checkParametersSchema(schema, "schema"))).toMatchObject({
      field: "schema",
      rule: "json_schema",
      description: expect.stringContaining(problem),
    });
    expect(violationOf(() => checkParameters(schema, {}, "parameters"))).toEqual({
      field: "parameters",
      rule: "json_schema",
      description: expect.stringMatching(
        /^cannot be checked, until the provider .*\/services\/compute\/resourceTypes\/instances: #/,
      ),
    });
  });

  test("cannot take more than its part of the work of a request to read", () => {
    const shared = createParametersWork();
    const withPatterns = (length: number): JsonObject => ({
      allOf: Array.from({ length }, (_, index) => ({ pattern: `${index}(?:ab){900}` })),
    });
    const rules = Array.from({ length: 30 }, (_, index) => {
      const work = index === 0 ? createParametersWork() : shared;
      return violationOf(() => checkParametersSchema(withPatterns(index === 0 ? 12 : 10), "schema", work))?.rule;
    });
    expect(rules[0]).toBe("json_schema_size");
    expect(rules.slice(1, 6)).toEqual(Array(5).fill(undefined));
    expect(rules.at(-1)).toBe("json_schema_size");
  });
});

describe("parameters that break a schema", () => {
  test.each<readonly [schema: JsonObject, parameters: JsonObject, field: string, problem: RegExp]>([
    [{ additionalProperties: false, properties: { a: {} } }, { a: 1, zone: "b" }, "parameters", /"zone"/],
    [{ properties: { zone: { enum: ["a", "b"] } } }, { zone: "c" }, "parameters.zone", /must be one of "a", "b"/],
    [{ properties: { zone: { const: "a" } } }, { zone: "c" }, "parameters.zone", /must be "a"/],
    [{ required: ["zone"] }, {}, "parameters", /"zone"/],
    [{ propertyNames: { maxLength: 2 } }, { zone: 1 }, "parameters", /"zone"/],
    [{ dependentRequired: { zone: ["rack"] } }, { zone: 1 }, "parameters", /"rack" when "zone"/],
    [{ properties: { n: { maximum: 3 } } }, { n: 4 }, "parameters.n", /<= 3/],
  ])("are refused with the property and the values that are accepted: %j", (schema, parameters, field, problem) => {
    const violation = violationOf(() => checkParameters(schema, parameters, "parameters"));
    expect(violation).toMatchObject({ field, description: expect.stringMatching(problem) });
  });
});

describe("parameters", () => {
  const backtracking: JsonObject = { type: "object", properties: { a: { pattern: "^(a|a)*$" } } };

  test("are checked by a pattern that would backtrack", () => {
    expect(violationOf(() => checkParameters(backtracking, { a: "a".repeat(10_000) }, "parameters"))).toBeUndefined();
    expect(
      violationOf(() => checkParameters(backtracking, { a: `${"a".repeat(10_000)}!` }, "parameters")),
    ).toMatchObject({
      field: "parameters.a",
      rule: "pattern",
    });
  });

  test("can be a long list of objects, none of them twice", () => {
    const unique = { properties: { disks: { uniqueItems: true } } };
    const disks = Array.from({ length: 2_000 }, (_, index) => ({ index, size: [index] }));
    expect(violationOf(() => checkParameters(unique, { disks }, "parameters"))).toBeUndefined();
    expect(
      violationOf(() => checkParameters(unique, { disks: [...disks, disks[7] ?? null] }, "parameters")),
    ).toMatchObject({
      field: "parameters.disks",
      rule: "uniqueItems",
    });
  });

  test("of a resource, and of a request, have a limit of work, which the error names", () => {
    const check = createCheckParameters();
    const type = typeWith({ properties: { a: { pattern: "(a?){100}$" } } });
    const violation = (length: number, work = createParametersWork()) =>
      violationOf(() => check(type, { a: "a".repeat(length) }, "parameters", work));
    expect(violation(1_000)).toBeUndefined();
    expect(violation(10_000)).toMatchObject({
      field: "parameters",
      rule: "json_schema_size",
      description: expect.stringContaining("/services/compute/resourceTypes/instances"),
    });
    const work = createParametersWork();
    const rules = Array.from({ length: 30 }, () => violation(1_000, work)?.rule);
    expect(rules.filter((rule) => rule === undefined).length).toBeGreaterThan(5);
    expect(rules.at(-1)).toBe("json_schema_size");
  });

  test("are not taken as checked when the schema is another one under the lock", () => {
    const [before, after] = [typeWith(text, "1"), typeWith({ type: "object" }, "2")];
    const checked = { type: before, error: undefined };
    expect(() => requireChecked({ ...before, changed_revision: "2" }, checked)).not.toThrow();
    expect(() => requireChecked(after, checked)).toThrow("has changed during the call; try again");
    expect(() => requireChecked(after, { type: undefined, error: undefined })).toThrow("try again");
  });
});
