import {
  create,
  createRegistry,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.ts";
import { statusOf } from "./status-codes.ts";

/** Encodes an error as the JSON body described in AIP-193. */
export function encodeError(error: ConnectError, httpStatus: number): string {
  const details = error.details.map(encodeDetail);
  return JSON.stringify({
    error: { code: httpStatus, status: statusOf(error.code).name, message: error.rawMessage, details },
  });
}

const registry: Registry = createRegistry(file_google_rpc_error_details);

function encodeDetail(detail: ConnectError["details"][number]): JsonObject {
  try {
    if ("desc" in detail)
      return withType(detail.desc.typeName, toJsonOf(detail.desc, create(detail.desc, detail.value)));
    const desc = registry.getMessage(detail.type);
    if (desc !== undefined) return withType(detail.type, toJsonOf(desc, fromBinary(desc, detail.value)));
    return { ...withType(detail.type, {}), value: Buffer.from(detail.value).toString("base64") };
  } catch {
    // A detail that cannot be encoded must not suppress the error.
    return withType("desc" in detail ? detail.desc.typeName : detail.type, {});
  }
}

function toJsonOf(desc: Parameters<typeof create>[0], message: Parameters<typeof toJson>[1]): JsonValue {
  return toJson(desc, message, { useProtoFieldName: true, registry });
}

function withType(typeName: string, value: JsonValue): JsonObject {
  const type = { "@type": `type.googleapis.com/${typeName}` };
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { ...type, ...value } : { ...type, value };
}
