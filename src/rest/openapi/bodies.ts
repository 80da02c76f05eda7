import type { DescField, DescMessage, DescMethod, JsonValue } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { findUpdateMaskField } from "../binding/infer-update-mask.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import { exampleIn } from "./example-in.ts";
import { type ExamplePurpose, exampleMessage } from "./example-message.ts";
import type { Content, MediaType, RequestBody, Schema } from "./openapi-document.ts";
import type { CommentReader } from "./read-comments.ts";
import type { Answered } from "./system-parameters.ts";
import type { Form, Schemas } from "./schemas/create-schemas.ts";

const json = "application/json";
const lines = "application/x-ndjson";
const events = "text/event-stream";

interface Describing {
  readonly schemas: Schemas;
  readonly commentOf: CommentReader;
}

/** @param pathFields the fields in the path, as dotted paths, which the body need not repeat. */
export function describeRequestBody(
  method: DescMethod,
  rule: HttpRule,
  pathFields: ReadonlySet<string>,
  { schemas, commentOf }: Describing,
): RequestBody | undefined {
  const { input } = method;
  if (rule.body === "") return undefined;
  const field = rule.body === "*" ? undefined : input.fields.find(({ name }) => name === rule.body);
  const desc = field === undefined ? input : field.message;
  const description = field === undefined ? commentOf(input) : commentOf(field);
  const shared = { ...(description !== "" && { description }), required: true };
  if (isBytes(desc, field)) return { ...shared, content: bytes };
  const isUpdate = rule.httpMethod === "PATCH" && findUpdateMaskField(input) !== undefined && field !== undefined;
  const form = isUpdate ? "update" : formWithout(rule.body, pathFields);
  const schema =
    field === undefined || isPlainMessage(field)
      ? schemas.ofMessage(desc ?? input, form)
      : schemas.ofField(field, form);
  const media: MediaType = {
    schema: { ...schema },
    ...(desc !== undefined &&
      (field === undefined || isPlainMessage(field)) && {
        example: withoutFields(exampleMessage(desc, purposeOf(input, isUpdate, commentOf), commentOf), form),
      }),
  };
  return { ...shared, content: { [method.methodKind === "client_streaming" ? lines : json]: media } };
}

export function describeAnswer(method: DescMethod, rule: HttpRule, { schemas, commentOf }: Describing): Content {
  const { output } = method;
  const field = output.fields.find(({ name }) => name === rule.responseBody);
  const desc = field === undefined ? output : field.message;
  if (isBytes(desc, field)) return bytes;
  const isWhole = field === undefined;
  const schema = isWhole ? schemas.ofMessage(output, "whole") : schemas.ofField(field, "whole");
  const whole = exampleMessage(output, "answer", commentOf);
  const example: JsonValue | undefined = isWhole ? whole : whole[field.name];
  if (method.methodKind !== "server_streaming")
    return { [json]: { schema, ...(example !== undefined && { example }) } };
  return {
    [json]: { schema: { type: "array", items: schema }, ...(example !== undefined && { example: [example] }) },
    [lines]: { schema },
    [events]: { schema },
  };
}

/** Returns what a method answers, which determines its system parameters. */
export function answered(method: DescMethod, rule: HttpRule, content: Content, schemas: Schemas): Answered {
  const { output } = method;
  if (!(json in content)) return { kind: "other" };
  const field = output.fields.find(({ name }) => name === rule.responseBody);
  const message = field === undefined ? output : field.fieldKind === "map" ? undefined : field.message;
  return {
    kind: method.methodKind === "server_streaming" ? "stream" : "json",
    ...(message !== undefined && { message, schema: schemas.ofMessage(message, "whole") }),
  };
}

const binary: Schema = { type: "string", format: "binary" };
const bytes: Content = { "*/*": { schema: binary } };

function isBytes(desc: DescMessage | undefined, field: DescField | undefined): boolean {
  const isSingle = field === undefined || field.fieldKind === "message";
  return desc?.typeName === HttpBodySchema.typeName && isSingle;
}

function isPlainMessage(field: DescField): boolean {
  return field.fieldKind === "message";
}

/** Returns the form of a body without the fields in the path. Strips the prefix `body` from their paths. */
function formWithout(body: string, pathFields: ReadonlySet<string>): Form {
  const prefix = body === "*" ? "" : `${body}.`;
  const given = [...pathFields].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  const own = given.filter((path) => !path.includes("."));
  return { kind: "input", without: new Set(own) };
}

function withoutFields(example: Record<string, JsonValue>, form: Form): Record<string, JsonValue> {
  if (typeof form === "string") return example;
  return Object.fromEntries(Object.entries(example).filter(([name]) => !form.without.has(name)));
}

/** Returns the purpose of an example. The example of an update has the fields that the comment on its mask names. */
function purposeOf(input: DescMessage, isUpdate: boolean, commentOf: CommentReader): ExamplePurpose {
  const mask = isUpdate ? findUpdateMaskField(input) : undefined;
  return mask === undefined ? "create" : { update: exampleIn(commentOf(mask))?.split(",") };
}
