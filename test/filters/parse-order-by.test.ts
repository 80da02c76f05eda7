import { describe, expect, test } from "vitest";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { thrownBy } from "../paths/service-failure.ts";
import { thingFields } from "./things.ts";

/** Renders a parsed order as text, with the columns. */
const render = (text: string): string =>
  parseOrderBy(text, thingFields)
    .map(({ column, descending }) => `${column} ${descending ? "desc" : "asc"}`)
    .join(", ");

describe("parses an order:", () => {
  const readings: readonly [text: string, order: string][] = [
    ["", ""],
    ["   ", ""],
    ["name", "things.name asc"],
    ["name desc", "things.name desc"],
    ["name asc", "things.name asc"],
    ["create_time desc, name", "things.create_time desc, things.name asc"],
    ["create_time,name desc", "things.create_time asc, things.name desc"],
    ["  create_time  ,  name   desc  ", "things.create_time asc, things.name desc"],
    ["count,id desc,delete_time", "things.count asc, things.id desc, things.delete_time asc"],
  ];

  test.each(readings)("%j", (text, order) => {
    expect(render(text)).toBe(order);
  });
});

describe("rejects an order with the column and what was expected there:", () => {
  const expected =
    "expected one of the fields count, create_time, delete_time, display_name, id, name, purge_time, update_time, got";
  const refusals: readonly [text: string, column: number, problem: string][] = [
    ["foo", 1, `${expected} "foo"`],
    ["name, foo desc", 7, `${expected} "foo"`],
    ["labels", 1, `${expected} "labels"`],
    ["labels.env", 1, `${expected} "labels.env"`],
    ["description", 1, `${expected} "description"`],
    ["toString", 1, `${expected} "toString"`],
    ["createTime", 1, `${expected} "createTime"`],
    ["-name", 1, `${expected} "-name"`],
    ["name\tdesc", 1, String.raw`${expected} "name\tdesc"`],
    [",", 1, `${expected} ","`],
    ["name,", 6, `${expected} the end`],
    ["name, ,id", 7, `${expected} ","`],
    ["name DESC", 6, `expected desc, asc or ",", got "DESC"`],
    ["name id", 6, `expected desc, asc or ",", got "id"`],
    ["name desc desc", 11, `expected "," or the end, got "desc"`],
    ["name desc id, count", 11, `expected "," or the end, got "id, count"`],
    ["name, name desc", 7, "the field is repeated"],
    ["name, id, count, create_time", 18, "at most 3 fields are allowed"],
    ["😀".repeat(50), 1, `${expected} "${"😀".repeat(40)}…"`],
    ["name, 😀 x", 7, `${expected} "😀"`],
  ];

  test.each(refusals)("%j", (text, column, problem) => {
    const error = thrownBy(() => parseOrderBy(text, thingFields));
    expect(error.reason).toBe("FIELD_INVALID");
    expect(error.violations).toEqual([
      { field: "order_by", description: `column ${column}: ${problem}`, rule: "order_by" },
    ]);
  });

  test("more than 1024 characters", () => {
    const error = thrownBy(() => parseOrderBy(" ".repeat(1025), thingFields));
    expect(error.violations[0]?.description).toBe("must be at most 1024 characters long");
  });
});
