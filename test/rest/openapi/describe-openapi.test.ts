import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { DescMessage, FileRegistry } from "@bufbuild/protobuf";
import openapi from "../../../gen/openapi.json" with { type: "json" };
import { compileFieldSelection } from "../../../src/rest/json/select-fields.ts";
import { describeOpenApi, type OpenApiOptions } from "../../../src/rest/openapi/describe-openapi.ts";
import type { OpenApiDocument, Operation, Parameter } from "../../../src/rest/openapi/openapi-document.ts";
import { buildImage } from "./build-image.ts";

let image: FileRegistry;
let zoo: OpenApiDocument;

function describeService(name: string, changed: Partial<OpenApiOptions> = {}): OpenApiDocument {
  const service = image.getService(`zoo.v1.${name}`);
  if (service === undefined) throw new Error(`no ${name}`);
  return describeOpenApi({
    info: { title: "Zoo", version: "1", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "https://zoo.example.com" }],
    services: [{ service, tag: "Zoo" }],
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
    security: [{ token: [] }],
    errorDomain: "zoo.example.com",
    errorDetails: [],
    errors: [],
    ...changed,
  });
}

beforeAll(() => {
  image = buildImage();
  zoo = describeService("ZooService");
});

function operation(httpMethod: string, path: string): Operation {
  const found = zoo.paths[path]?.[httpMethod];
  if (found === undefined || !("operationId" in found)) throw new Error(`no ${httpMethod} ${path}`);
  return found as Operation;
}

function parameter(of: Operation, name: string): Parameter | undefined {
  return of.parameters.find((each): each is Parameter => "name" in each && each.name === name);
}

function property(message: string, name: string): unknown {
  return (zoo.components.schemas[message]?.["properties"] as Record<string, unknown> | undefined)?.[name];
}

function animalMessage(): DescMessage {
  const message = image.getMessage("zoo.v1.Animal");
  if (message === undefined) throw new Error("no Animal");
  return message;
}

const animal = "/v1/cages/{cage}/animals/{animal}";
const animals = "/v1/cages/{cage}/animals";

describe("paths", () => {
  test("have one operation per binding, with parameters named for the resource", () => {
    const found = Object.entries(zoo.paths).flatMap(([path, item]) =>
      Object.keys(item).map((httpMethod) => `${httpMethod} ${path}`),
    );
    expect(found.toSorted()).toEqual(
      [
        `delete ${animal}`,
        `get ${animal}`,
        `patch ${animal}`,
        `x-additionalOperations ${animal}`,
        `get ${animals}`,
        `post ${animals}`,
        `post ${animal}:feed`,
        `get ${animals}:watch`,
        "get /v1/animals/{name}",
        "post /v1/animals:count",
        "get /v1/files/{name}",
      ].toSorted(),
    );
  });

  test("list custom HTTP methods in x-additionalOperations", () => {
    expect(zoo.paths[animal]?.["x-additionalOperations"]).toMatchObject({ FEED: { operationId: "feedAnimalByFeed" } });
  });

  test("take the examples of parameters from the examples of the field", () => {
    expect(parameter(operation("get", animal), "cage")).toMatchObject({ in: "path", required: true, example: "north" });
    expect(parameter(operation("get", animal), "animal")).toMatchObject({ example: "leo" });
    expect(parameter(operation("get", animals), "cage")).toMatchObject({ example: "north" });
  });

  test("document that ** matches slashes", () => {
    expect(parameter(operation("get", "/v1/files/{name}"), "name")?.description).toContain("one or more segments");
  });

  test("reject two operations that OpenAPI cannot distinguish", () => {
    expect(() => describeService("CollidingService")).toThrow("CollidingService/GetRest");
  });
});

describe("operations", () => {
  test("take summary and description from the comment of the method", () => {
    expect(operation("get", animal)).toMatchObject({
      operationId: "getCageAnimal",
      summary: "Answers one animal",
      description: "Answers one animal. It must be there.",
    });
    expect(operation("get", "/v1/animals/{name}").operationId).toBe("getAnimal");
    expect(operation("delete", animal).deprecated).toBe(true);
    expect(zoo.tags).toEqual([{ name: "Zoo", description: "Answers questions on animals. All of them." }]);
  });

  test("have the query parameters that the transcoder accepts", () => {
    const list = operation("get", animals);
    const names = list.parameters.flatMap((each) => ("name" in each && each.in === "query" ? [each.name] : []));
    expect(names).toEqual(["page_size", "kinds", "labels", "filter.title", "raw", "fields"]);
    expect(parameter(list, "page_size")).toMatchObject({
      schema: { type: "integer", minimum: 0, maximum: 1000 },
    });
    expect(parameter(list, "kinds")).toMatchObject({ explode: true, schema: { type: "array" } });
    expect(parameter(list, "labels")).toMatchObject({ style: "deepObject", explode: true });
    expect(parameter(list, "raw")?.content).toHaveProperty(["application/json"]);
  });

  test("name the parameter for partial responses unlike any field", () => {
    const names = (of: Operation) => of.parameters.flatMap((each) => ("$ref" in each ? [each.$ref] : []));
    expect(names(operation("get", animals))).toContain("#/components/parameters/AnimalPlainFields");
    expect(names(operation("get", animal))).toContain("#/components/parameters/AnimalFields");
    expect(names(operation("delete", animal))).toEqual([]);
  });

  test("allow for partial responses the paths of the fields of the response", () => {
    const { schema } = zoo.components.parameters["AnimalFields"] ?? {};
    expect(schema).toMatchObject({ type: "string", minLength: 1 });
    const pattern = new RegExp(String(schema?.["pattern"]), "u");
    const taken = [
      "title",
      "title,nap",
      "*",
      "address.street,foods",
      "address.*",
      "friends.1",
      "friends.`a.b`",
      "friends.*",
    ];
    for (const paths of taken) {
      expect([paths, pattern.test(paths)]).toEqual([paths, true]);
      expect(() => compileFieldSelection(animalMessage(), paths)).not.toThrow();
    }
    for (const paths of ["", "title,", ",title", "titles", "title.x", "notes.x", "address.streets"]) {
      expect([paths, pattern.test(paths)]).toEqual([paths, false]);
      expect(() => compileFieldSelection(animalMessage(), paths)).toThrow();
    }
  });

  test("say what a name in a path may not be", () => {
    const segmentPattern = () => ({ pattern: "[a-z]+", except: "none" });
    const { paths } = describeService("ZooService", { segmentPattern });
    expect(paths[`${animal}:feed`]?.["post"]?.parameters).toContainEqual(
      expect.objectContaining({
        name: "animal",
        schema: { minLength: 1, type: "string", pattern: "^([a-z]+)$", not: { pattern: "^(none)$" } },
      }),
    );
  });

  test("respond with 201 and Location, 204 or 304 where HTTP requires it", () => {
    const created = operation("post", animals).responses;
    expect(created["201"]).toMatchObject({ headers: { Location: {}, ETag: {} } });
    expect(created).not.toHaveProperty("200");
    expect(operation("delete", animal).responses["204"]).not.toHaveProperty("content");
    expect(operation("get", animal).responses).toHaveProperty("304");
  });

  test("accept If-Match and list 412 if the method checks an etag", () => {
    const update = operation("patch", animal);
    expect(parameter(update, "If-Match")).toMatchObject({ in: "header" });
    expect(update.responses["412"]).toEqual({ $ref: "#/components/responses/PreconditionFailedError" });
    expect(parameter(operation("get", animal), "If-Match")).toBeUndefined();
    expect(parameter(operation("post", animals), "If-Match")).toBeUndefined();
  });

  test("return the field named by response_body", () => {
    expect(operation("get", animals).responses["200"]).toMatchObject({
      content: { "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Animal" } } } },
    });
  });

  test("list all formats of a stream", () => {
    const { content } = operation("get", `${animals}:watch`).responses["200"] as { content: object };
    expect(Object.keys(content)).toEqual(["application/json", "application/x-ndjson", "text/event-stream"]);
    expect(Object.keys(operation("post", "/v1/animals:count").requestBody?.content ?? {})).toEqual([
      "application/x-ndjson",
    ]);
  });

  test("return an HttpBody as bytes", () => {
    expect(operation("get", "/v1/files/{name}").responses["200"]).toMatchObject({
      content: { "*/*": { schema: { format: "binary" } } },
    });
  });
});

describe("schemas", () => {
  test("have the types of protobuf JSON", () => {
    expect(property("Animal", "heartbeats")).toMatchObject({ type: "string", format: "int64" });
    expect(property("Animal", "photo")).toMatchObject({ type: "string", contentEncoding: "base64" });
    expect(property("Animal", "born")).toMatchObject({ type: "string", format: "date-time" });
    expect(property("Animal", "nickname")).toEqual({ type: ["string", "null"] });
    expect(property("Animal", "anything")).toEqual({});
    expect(property("Animal", "friends")).toMatchObject({
      additionalProperties: { $ref: "#/components/schemas/Animal" },
    });
    expect(zoo.components.schemas["AnimalKind"]).toEqual({
      type: "string",
      description: "What it is.\n\n- `KIND_UNSPECIFIED`: Not known.\n- `MAMMAL`: Has fur.",
      enum: ["KIND_UNSPECIFIED", "MAMMAL"],
    });
  });

  test("express constraints as keywords, or in the description if there is no keyword", () => {
    expect(property("AnimalInput", "title")).toMatchObject({ minLength: 1, maxLength: 20 });
    expect(property("AnimalInput", "weight")).toMatchObject({ minimum: 0, exclusiveMaximum: 9000 });
    expect(property("AnimalInput", "foods")).toMatchObject({ maxItems: 3, uniqueItems: true, items: { minLength: 2 } });
    expect(property("AnimalInput", "email")).toMatchObject({ format: "email" });
    expect(property("AnimalInput", "code")).toMatchObject({
      pattern: "^[A-Z]{2}$",
      description: "It must be two capitals.",
    });
    expect(property("AnimalInput", "heartbeats")).toMatchObject({ description: "It must be greater than 0." });
    expect(property("AnimalInput", "born")).toMatchObject({ description: "It must be in the past." });
    expect(property("AnimalInput", "maybe")).not.toHaveProperty("minLength");
  });

  test("mark fields as readOnly, writeOnly, immutable, deprecated or required", () => {
    expect(property("Animal", "name")).toMatchObject({ readOnly: true });
    expect(property("AnimalInput", "name")).toBeUndefined();
    expect(property("Animal", "chip")).toBeUndefined();
    expect(property("AnimalInput", "chip")).toMatchObject({ writeOnly: true });
    expect(property("AnimalInput", "kind")).toMatchObject({
      description: expect.stringContaining("cannot be changed"),
    });
    expect(property("AnimalInput", "old")).toMatchObject({ deprecated: true });
    expect(zoo.components.schemas["AnimalInput"]).toMatchObject({ required: ["title"] });
  });

  test("of requests refuse other fields, those of responses allow what requests may not contain", () => {
    expect(zoo.components.schemas["AnimalInput"]).toMatchObject({ additionalProperties: false });
    expect(zoo.components.schemas["Animal"]).not.toHaveProperty("additionalProperties");
    expect(property("Animal", "title")).not.toHaveProperty("maxLength");
    expect(property("AnimalInput", "title")).toMatchObject({ maxLength: 20 });
  });

  test("of a PATCH require nothing, omit output-only fields and allow null", () => {
    const update = zoo.components.schemas["AnimalUpdate"];
    expect(update).not.toHaveProperty("required");
    expect(update?.["properties"]).not.toHaveProperty("name");
    expect(property("AnimalUpdate", "born")).toMatchObject({ type: ["string", "null"] });
    expect(property("AnimalUpdate", "title")).toMatchObject({ type: "string" });
    expect(zoo.components.schemas["AddressUpdate"]).not.toHaveProperty("required");
  });

  test("of floating-point fields allow NaN, unless no number is ever NaN or infinite", () => {
    expect(property("Animal", "weight")).toMatchObject({
      anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }],
    });
    const finite = describeService("ZooService", { areNumbersFinite: true }).components.schemas["Animal"];
    expect(finite).toMatchObject({ properties: { weight: { type: "number", format: "double" } } });
  });

  test("of the details of errors are told apart by their @type", () => {
    const { schemas } = describeService("ZooService", { errorDetails: [animalMessage()] }).components;
    expect(schemas["ErrorDetail"]).toEqual({
      oneOf: [{ $ref: "#/components/schemas/AnimalDetail" }],
      discriminator: {
        propertyName: "@type",
        mapping: { "type.googleapis.com/zoo.v1.Animal": "#/components/schemas/AnimalDetail" },
      },
    });
    expect(schemas["AnimalDetail"]).toMatchObject({
      properties: { "@type": { const: "type.googleapis.com/zoo.v1.Animal" }, title: { type: "string" } },
      required: ["@type"],
    });
  });

  test("are omitted if nothing refers to them", () => {
    expect(Object.keys(zoo.components.schemas)).not.toContain("Unused");
    expect(Object.keys(zoo.components.schemas)).not.toContain("ListAnimalsResponse");
  });
});

test("the document is valid, and so are its examples", () => {
  const directory = mkdtempSync(join(tmpdir(), "openapi-"));
  try {
    const file = join(directory, "zoo.json");
    writeFileSync(file, JSON.stringify(zoo));
    writeFileSync(
      join(directory, "redocly.yaml"),
      "telemetry: off\nextends: [recommended]\nrules:\n  no-ambiguous-paths: off\n  no-invalid-media-type-examples: error\n  no-invalid-schema-examples: error\n",
    );
    const redocly = join(import.meta.dirname, "../../../node_modules/.bin/redocly");
    const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", REDOCLY_TELEMETRY: "off" };
    expect(() =>
      execFileSync(redocly, ["lint", file, "--max-problems", "5"], { cwd: directory, env, stdio: "pipe" }),
    ).not.toThrow();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("every object and every choice of the API is a component, so that generators need not make up names", () => {
  expect(unnamedIn(openapi, "", false)).toEqual([]);
});

/** Returns the places of schemas that a generator would have to name. */
function unnamedIn(value: unknown, place: string, isComponent: boolean): string[] {
  if (typeof value !== "object" || value === null) return [];
  const isSchema = !place.endsWith("/properties");
  // A schema or null is no choice: it becomes a value that may be missing.
  const isNullable = "anyOf" in value && JSON.stringify(value.anyOf).endsWith(',{"type":"null"}]');
  const needsName = isSchema && !isNullable && ["properties", "anyOf", "oneOf", "allOf"].some((key) => key in value);
  const inside = Object.entries(value).flatMap(([key, each]) =>
    // What looks like a schema in an example is data.
    key.startsWith("example") ? [] : unnamedIn(each, `${place}/${key}`, place === "/components/schemas"),
  );
  return needsName && !isComponent ? [place, ...inside] : inside;
}
