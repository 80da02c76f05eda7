import { hash, randomBytes } from "node:crypto";
import { networkOf } from "../../identity/address-prefix.ts";

/** Where a request to refresh comes from. */
export interface RefreshOrigin {
  /** The IP address of the client; null if it is not known. */
  readonly clientAddress: string | null;
  /** The `User-Agent` of the request; null for none. */
  readonly userAgent: string | null;
}

/**
 * Returns a hash of what the requests of one client have in common: its address, or the network from which it may choose one, and its
 * user agent. Of an unknown address, it is like no other.
 */
export function refreshOriginOf({ clientAddress, userAgent }: RefreshOrigin): Buffer {
  if (clientAddress === null) return randomBytes(32);
  return hash("sha256", `${networkOf(clientAddress)} ${userAgent ?? ""}`, "buffer");
}
