// Errors in the form of SCIM (RFC 7644, 3.12).
import type { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type ErrorReason, ServiceError } from "../errors/service-error.ts";
import { mediaType } from "./media-type.ts";

export type ScimFault =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "tooMany";

/** What a code cannot say, in the metadata of an error. */
const faultKey = "scim_type";

/** Returns an error of a request that says with a word of the standard what is wrong with it. */
export function scimFault(fault: ScimFault, message: string): ServiceError {
  return new ServiceError("FIELD_INVALID", message, { metadata: { [faultKey]: fault } });
}

/** Returns an error for a value that another user or group of the source has already, or another member of the org. */
export function notUnique(message: string): ServiceError {
  return new ServiceError("RESOURCE_EXISTS", message);
}

/** What is not possible as things are: a conflict, in the words of the standard, and no mistake of the request. */
const conflicts: ReadonlySet<string> = new Set<ErrorReason>([
  "RESOURCE_EXISTS",
  "LAST_OWNER",
  "OPERATOR_PROTECTED",
  "STATE_FORBIDS",
  "RESOURCE_IN_USE",
]);

export function encodeScimError(error: ConnectError, httpStatus: number) {
  const [info] = error.findDetails(ErrorInfoSchema);
  const reason = info?.reason ?? "";
  const status = conflicts.has(reason) ? 409 : httpStatus;
  const scimType = scimTypeOf(reason, info?.metadata[faultKey]);
  const body = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: error.rawMessage,
  };
  return { httpStatus: status, contentType: mediaType, body: JSON.stringify(body) };
}

function scimTypeOf(reason: string, fault: string | undefined): string | undefined {
  if (fault !== undefined) return fault;
  if (reason === ("RESOURCE_EXISTS" satisfies ErrorReason)) return "uniqueness";
  return reason === ("FIELD_INVALID" satisfies ErrorReason) ? "invalidValue" : undefined;
}
