import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidFields } from "../errors/service-error.ts";

/** The key of the last row of a page, by which the next one goes on. */
export type Cursor = readonly string[];

const macBytes = 16;

/** Makes and reads page tokens: opaque to clients, and refused when they or the other arguments were changed. */
export interface PageTokens {
  /** @param binding the method and every argument that must stay the same from page to page. */
  encode(cursor: Cursor, binding: readonly string[]): string;
  /** @throws ServiceError PAGE_TOKEN_INVALID */
  decode(token: string, binding: readonly string[]): Cursor;
}

/** @param key 32 bytes that all servers of the installation share. */
export function createPageTokens(key: Uint8Array): PageTokens {
  const mac = (payload: string, binding: readonly string[]): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([payload, ...binding]))
      .digest()
      .subarray(0, macBytes);

  return {
    encode(cursor, binding) {
      const payload = JSON.stringify(cursor);
      return Buffer.concat([mac(payload, binding), Buffer.from(payload)]).toString("base64url");
    },
    decode(token, binding) {
      const bytes = Buffer.from(token, "base64url");
      const payload = bytes.subarray(macBytes).toString();
      if (bytes.length <= macBytes || !timingSafeEqual(bytes.subarray(0, macBytes), mac(payload, binding))) {
        const description =
          "must be the next_page_token of an earlier answer to the same request (only page_size may differ)";
        throw invalidFields([{ field: "page_token", description, rule: "page_token" }], "PAGE_TOKEN_INVALID");
      }
      return JSON.parse(payload) as Cursor;
    },
  };
}
