// Refresh tokens: `tenantry_refresh_`, the id of the session and that of its customer, the number of the token in it, and a signature that only
// this service can make. So nothing about a token is stored, and a token that was never issued cannot end a session.
import type { Sealer } from "../sealer.ts";
import { uuidOfHex } from "../uuid-bytes.ts";

export interface RefreshToken {
  readonly sessionId: string;
  /** The customer of the session. Undefined in a token of a server of an earlier version, whose session may live on for months. */
  readonly customerId: string | undefined;
  /** Counts the refreshes of the session. */
  readonly number: bigint;
}

export interface RefreshTokens {
  format(token: RefreshToken): string;
  /** Returns undefined for a text that is no refresh token of this service. */
  parse(text: string): RefreshToken | undefined;
}

const start = "tenantry_refresh_";

const pattern = new RegExp(`^${start}([0-9a-f]{32})([0-9a-f]{32})?([0-9a-f]{1,15})_([A-Za-z0-9_-]{43})$`);

export function isRefreshTokenLike(text: string): boolean {
  return text.startsWith(start);
}

export function createRefreshTokens(sealer: Pick<Sealer, "sign" | "isSigned">): RefreshTokens {
  return {
    format({ sessionId, customerId = "", number }) {
      const body = `${`${sessionId}${customerId}`.replaceAll("-", "")}${number.toString(16)}`;
      return `${start}${body}_${sealer.sign("refresh token", body).toString("base64url")}`;
    },

    parse(text) {
      const [, session = "", customer, number = "", signature = ""] = pattern.exec(text) ?? [];
      const given = Buffer.from(signature, "base64url");
      const isWhole = session !== "" && given.toString("base64url") === signature;
      if (!isWhole || !sealer.isSigned("refresh token", `${session}${customer ?? ""}${number}`, given))
        return undefined;
      const customerId = customer === undefined ? undefined : uuidOfHex(customer);
      return { sessionId: uuidOfHex(session), customerId, number: BigInt(`0x${number}`) };
    },
  };
}
