import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, RequestInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import type { Connection } from "./read-connection.ts";
import { systemErrorCode } from "./system-error-code.ts";

export function explainFailure(thrown: unknown, { url, keySource }: Connection): string {
  const error = ConnectError.from(thrown);
  const systemError = systemErrorCode(thrown);
  if (systemError === "EPROTO") {
    return `What answers at ${url} does not speak TLS (EPROTO). Give its address with http:// and --server or TENANTRY_URL.`;
  }
  if (systemError !== undefined) {
    return `No service answers at ${url} (${systemError}). Start one with "npm start" or "tenantry serve", or give its address with --server or TENANTRY_URL.`;
  }
  switch (error.code) {
    case Code.Unauthenticated:
      return `The service at ${url} refuses the API key from ${keySource}: ${error.rawMessage}. Give another one with --key-file or TENANTRY_API_KEY.`;
    case Code.Unimplemented:
    case Code.Unknown:
      return `The server at ${url} does not serve the Tenantry API (${error.rawMessage}). Give its address with --server or TENANTRY_URL.`;
    default:
      return `The service at ${url} answers ${statusName(error.code)}: ${describe(error)}`;
  }
}

/** Returns a short name of a failure: `ECONNREFUSED` or `UNAVAILABLE`. */
export function nameFailure(thrown: unknown): string {
  return systemErrorCode(thrown) ?? statusName(ConnectError.from(thrown).code);
}

function describe(error: ConnectError): string {
  const violations = error
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) => fieldViolations.map(({ field, description }) => `${field}: ${description}`))
    .filter((violation) => !error.rawMessage.includes(violation));
  const requests = error.findDetails(RequestInfoSchema).map(({ requestId }) => `(request ${requestId})`);
  return [error.rawMessage, ...violations, ...requests].join(" ");
}

function statusName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
}
