import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { invalidFields } from "../../errors/service-error.ts";

/** The key of the last row of a page. The next page starts after it. */
export type Cursor = readonly string[];

const macBytes = 16;

/** Encodes and decodes page tokens. Tokens are opaque to clients, and rejected if they or the bound arguments were changed. */
export interface PageTokens {
  /** @param binding the method and every argument that must stay the same from page to page. */
  encode(cursor: Cursor, binding: readonly string[]): string;
  /** @throws ServiceError PAGE_TOKEN_INVALID */
  decode(token: string, binding: readonly string[]): Cursor;
}

/** @param key 32 bytes that all servers of the installation share. */
export function createPageTokens(key: Uint8Array): PageTokens {
  // Made once: an HMAC with the bytes would make a key object each time, which takes as long as the rest of the HMAC.
  const secret = createSecretKey(key);
  const seal = (payload: string, binding: readonly string[]): string => {
    const mac = createHmac("sha256", secret)
      .update(JSON.stringify([payload, ...binding]))
      .digest()
      .subarray(0, macBytes);
    return Buffer.concat([mac, Buffer.from(payload)]).toString("base64url");
  };

  return {
    encode: (cursor, binding) => seal(JSON.stringify(cursor), binding),
    decode(token, binding) {
      const payload = Buffer.from(token, "base64url").subarray(macBytes).toString();
      // Compares the whole token, because Node's base64url decoder maps several texts to the same bytes.
      if (!isSameText(token, seal(payload, binding))) {
        const description =
          "must be the next_page_token of an earlier response to the same request (only page_size may differ)";
        throw invalidFields([{ field: "page_token", description, rule: "page_token" }], "PAGE_TOKEN_INVALID");
      }
      return JSON.parse(payload) as Cursor;
    },
  };
}

/** Compares in constant time. */
function isSameText(one: string, other: string): boolean {
  const [bytes, otherBytes] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === otherBytes.length && timingSafeEqual(bytes, otherBytes);
}
