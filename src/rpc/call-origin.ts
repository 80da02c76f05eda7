import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Origin } from "../changes/author.ts";
import { networkOf } from "../identity/address-prefix.ts";
import { invalidField } from "../errors/service-error.ts";
import { requestIdKey } from "./request-id-key.ts";

/** The context key of the client's IP address; null if it is not known. */
export const clientAddressKey = createContextKey<string | null>(null, { description: "client address" });

/**
 * Returns the key by which calls without a known caller are counted, in place of an org and of a caller: the client's address or, for
 * IPv6, the network from which it may choose addresses.
 */
export function addressKeyOf(values: ContextValues): string {
  const address = values.get(clientAddressKey);
  return `address ${address === null ? "unknown" : networkOf(address)}`;
}

const maxLength = 256;

/** @throws ServiceError FIELD_INVALID when `X-Request-Reason` or `X-On-Behalf-Of` is too long or not in ASCII. */
export function readOrigin(headers: Headers, values: ContextValues, credentialId: string): Origin {
  return {
    credentialId,
    requestId: values.get(requestIdKey) || null,
    remoteAddress: values.get(clientAddressKey),
    userAgent: headers.get("user-agent")?.slice(0, maxLength) ?? null,
    reason: readStatement(headers, "x-request-reason"),
    onBehalfOf: readStatement(headers, "x-on-behalf-of"),
  };
}

/** Reads a header in which the caller states something for the change log. */
function readStatement(headers: Headers, name: string): string | null {
  const text = headers.get(name);
  if (text === null || text === "") return null;
  if (text.length <= maxLength && /^[ -~]*$/.test(text)) return text;
  throw invalidField(name, `must be at most ${maxLength} characters of printable ASCII`, "header");
}
