import type { Client } from "@connectrpc/connect";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { TokensService } from "./gen/iam/v1alpha/token_pb.ts";

interface Issued {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expireTime?: Timestamp | undefined;
}

export interface Session {
  /** Returns the access token. A minute before it expires, it is refreshed, once for all calls that wait for it. */
  readonly accessToken: () => Promise<string>;
  /** Lets the next call refresh the token. */
  readonly refreshNow: () => void;
}

/** Exchanges the API key of the client for an access token and a refresh token. */
export async function startSession(tokens: Client<typeof TokensService>): Promise<Session> {
  const expiresAt = ({ expireTime }: Issued): number => (expireTime === undefined ? 0 : timestampMs(expireTime));
  let issued: Issued = await tokens.issueToken({ startSession: true });
  let refreshAtMs = expiresAt(issued) - 60_000;
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    issued = await tokens.refreshToken({ refreshToken: issued.refreshToken });
    refreshAtMs = expiresAt(issued) - 60_000;
  }

  return {
    async accessToken() {
      if (Date.now() >= refreshAtMs) {
        refreshing ??= refresh().finally(() => (refreshing = undefined));
        await refreshing;
      }
      return issued.accessToken;
    },
    refreshNow() {
      refreshAtMs = 0;
    },
  };
}
