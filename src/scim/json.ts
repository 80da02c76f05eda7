// What SCIM sends and receives: JSON in the body of a request or response.
import { create } from "@bufbuild/protobuf";
import { type HttpBody, HttpBodySchema } from "../../gen/google/api/httpbody_pb.ts";
import { scimFault } from "./errors.ts";
import { mediaType } from "./media-type.ts";

/** An object as it was sent: nothing is known of its values. */
export type Given = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How many attributes an object may have: each is looked for among all of them, by an operation once for each value that it chooses. */
const maxAttributes = 250;

/** @throws ServiceError FIELD_INVALID with `invalidSyntax`, or `tooMany` for an object with too many attributes, however deep it is. */
export function readObject(body: HttpBody | undefined): Given {
  const type = body?.contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== mediaType && type !== "application/json") {
    throw scimFault("invalidSyntax", `the Content-Type must be ${mediaType} or application/json`);
  }
  const value = parse(body?.data);
  if (!isObject(value)) throw scimFault("invalidSyntax", "the body must be a JSON object in UTF-8");
  requireFewAttributes(value);
  return value;
}

/** Returns undefined for what is no JSON in UTF-8. */
function parse(data: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    return undefined;
  }
}

function requireFewAttributes(body: Given): void {
  const left: unknown[] = [body];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const parts: readonly unknown[] = Object.values(value);
    if (!Array.isArray(value) && parts.length > maxAttributes) {
      throw scimFault("tooMany", `an object can have at most ${maxAttributes} attributes`);
    }
    for (const part of parts) if (typeof part === "object" && part !== null) left.push(part);
  }
}

/** Reads the value of an attribute whose name is compared without case (RFC 7643, 2.1). */
export function attributeOf(object: Given, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

export function toBody(resource: object): HttpBody {
  return create(HttpBodySchema, { contentType: mediaType, data: new TextEncoder().encode(JSON.stringify(resource)) });
}
