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

/** @throws ServiceError FIELD_INVALID with `invalidSyntax` */
export function readObject(body: HttpBody | undefined): Given {
  const type = body?.contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== mediaType && type !== "application/json") {
    throw scimFault("invalidSyntax", `the Content-Type must be ${mediaType} or application/json`);
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body?.data));
    if (isObject(value)) return value;
  } catch {
    // Described below.
  }
  throw scimFault("invalidSyntax", "the body must be a JSON object in UTF-8");
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
