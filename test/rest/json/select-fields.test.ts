import { type DescMessage, type JsonValue } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { compileFieldSelection, select } from "../../../src/rest/json/select-fields.ts";
import { ratioOf } from "../../support/cpu-time.ts";
import { BookSchema, ListShelvesResponseSchema } from "../gen/rest/test/v1/library_pb.ts";
import { HelloRequestSchema, ParametersSchema } from "../gen/rest/test/v1/parameters_pb.ts";

const book: JsonValue = {
  name: "shelves/1/books/2",
  title: "Faust",
  authorInfo: { firstName: "J. W.", bio: { yearBorn: "1749", text: "" } },
  labels: { env: "prod", "a.b/c": "x", "`": "y" },
  editions: [{ yearBorn: "1808", text: "first" }, { text: "second" }],
  create_time: "2026-01-31T12:00:00Z",
};
const parameters: JsonValue = {
  nested_map: { a: { double_value: 1, enum_value: "X" }, b: { double_value: 2, enum_value: "Y" } },
  struct_value: { a: 1 },
};
const hello: JsonValue = { name: "n", field_name: "f", hiding_field_name: "h" };

test.each<[DescMessage, string, JsonValue, JsonValue]>([
  [BookSchema, "*", book, book],
  [BookSchema, "name,title", book, { name: "shelves/1/books/2", title: "Faust" }],
  [BookSchema, "create_time", book, { create_time: "2026-01-31T12:00:00Z" }],
  [BookSchema, "createTime", book, { create_time: "2026-01-31T12:00:00Z" }],
  [BookSchema, "authorInfo.bio.yearBorn", book, { authorInfo: { bio: { yearBorn: "1749" } } }],
  [BookSchema, "authorInfo.bio.*", book, { authorInfo: { bio: { yearBorn: "1749", text: "" } } }],
  [BookSchema, "authorInfo.bio.text,authorInfo.bio", book, { authorInfo: { bio: { yearBorn: "1749", text: "" } } }],
  [BookSchema, "editions.text", book, { editions: [{ text: "first" }, { text: "second" }] }],
  [BookSchema, "editions.*.yearBorn", book, { editions: [{ yearBorn: "1808" }, {}] }],
  [BookSchema, "labels.env", book, { labels: { env: "prod" } }],
  [BookSchema, "labels.`a.b/c`,labels.````", book, { labels: { "a.b/c": "x", "`": "y" } }],
  [BookSchema, "labels.*", book, { labels: { env: "prod", "a.b/c": "x", "`": "y" } }],
  [BookSchema, "labels.`*`", book, { labels: {} }],
  [BookSchema, "description,publisher", book, {}],
  [
    ParametersSchema,
    "nested_map.*.double_value",
    parameters,
    { nested_map: { a: { double_value: 1 }, b: { double_value: 2 } } },
  ],
  [
    ParametersSchema,
    "nestedMap.a.enumValue,nested_map.*.double_value",
    parameters,
    { nested_map: { a: { double_value: 1, enum_value: "X" }, b: { double_value: 2 } } },
  ],
  [ParametersSchema, "struct_value", parameters, { struct_value: { a: 1 } }],
  [HelloRequestSchema, "field_name", hello, { field_name: "f" }],
  [HelloRequestSchema, "json_customized_name", hello, { name: "n" }],
  [ListShelvesResponseSchema, "shelves.theme", { shelves: [] }, { shelves: [] }],
  [BookSchema, "name", [book, { title: "x" }], [{ name: "shelves/1/books/2" }, {}]],
  [BookSchema, "name", null, null],
  [TimestampSchema, "*", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
])("selects from %s: %s", (desc, paths, json, expected) => {
  expect(select(json, compileFieldSelection(desc, paths))).toStrictEqual(expected);
});

test.each<[DescMessage, string, string]>([
  [BookSchema, "", "must be comma-separated field paths such as name,labels.env or *, got the end at 0"],
  [BookSchema, "name,,title", 'got ",title" at 5'],
  [BookSchema, "name,", "got the end at 5"],
  [BookSchema, "authorInfo..bio", 'got ".bio" at 11'],
  [BookSchema, "labels.`a", 'got "`a" at 7'],
  [BookSchema, "labels.`a`b", 'got "b" at 10'],
  [
    BookSchema,
    "name,nope",
    'has the path "nope", but "nope" is not a field of rest.test.v1.Book; its fields are name, author,',
  ],
  [
    BookSchema,
    "editions.nope",
    '"nope" is not a field of rest.test.v1.Book.Bio; its fields are yearBorn, yearDied, text, *',
  ],
  [BookSchema, "constructor", "is not a field"],
  [BookSchema, "name.x", 'has the path "name.x", but name has no fields'],
  [BookSchema, "labels.env.x", "labels has no fields"],
  [BookSchema, "create_time.seconds", "create_time has no fields"],
  [BookSchema, "*.name", "nothing may follow the * of rest.test.v1.Book"],
  [BookSchema, "name.*", "name has no fields"],
  [TimestampSchema, "seconds", "its fields are *"],
  [BookSchema, Array.from({ length: 101 }, () => "name").join(), "must be at most 100 paths"],
  [
    ParametersSchema,
    Array.from({ length: 17 }, () => "recursive").join("."),
    "must have at most 16 levels in each path",
  ],
])("rejects for %s: %s", (desc, paths, description) => {
  const error = catchError(() => compileFieldSelection(desc, paths));
  expect(error).toBeInstanceOf(RestError);
  expect(error).toMatchObject({ reason: "FIELD_INVALID", violations: [{ field: "fields" }] });
  expect((error as RestError).violations[0]?.description).toContain(description);
});

test("accepts 100 paths and 16 levels", () => {
  const hundred = Array.from({ length: 100 }, () => "name").join();
  expect(select(book, compileFieldSelection(BookSchema, hundred))).toEqual({ name: "shelves/1/books/2" });
  const deep = Array.from({ length: 16 }, () => "recursive").join(".");
  expect(select({ recursive: {} }, compileFieldSelection(ParametersSchema, deep))).toEqual({ recursive: {} });
});

test("selects entries that many paths match in linear time", () => {
  const wild = "nested_map.*.enum_value";
  const paths = Array.from({ length: 99 }, (_, index) => `nested_map.k${index}.double_value`);
  const entries = Array.from({ length: 5_000 }, (_, index): [string, JsonValue] => [
    `k${index}`,
    index < paths.length ? { double_value: index } : { enum_value: index },
  ]);
  const json = { nested_map: Object.fromEntries(entries) };
  const selected = () => select(json, compileFieldSelection(ParametersSchema, [wild, ...paths].join()));
  expect(selected()).toEqual(json);
  const ratio = ratioOf(selected, () => JSON.parse(JSON.stringify(json)) as unknown);
  expect(ratio).toBeLessThan(30);
});

test("omits undefined members, and treats __proto__ as an ordinary key", () => {
  const json = { labels: JSON.parse('{"__proto__":"a"}') as JsonValue, title: undefined } as unknown as JsonValue;
  const selected = select(json, compileFieldSelection(BookSchema, "title,labels.__proto__"));
  expect(JSON.stringify(selected)).toBe('{"labels":{"__proto__":"a"}}');
  expect(Object.keys(selected ?? {})).toEqual(["labels"]);
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
