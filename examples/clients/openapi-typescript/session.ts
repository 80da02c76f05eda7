import createClient from "openapi-fetch";
import type { components, paths } from "./tenantry.ts";

type Issued = components["schemas"]["IssueTokenResponse"];

export interface Session {
  /** Returns the access token. A minute before it expires, it is refreshed, once for all calls that wait for it. */
  readonly accessToken: () => Promise<string>;
  /** Lets the next call refresh the token. */
  readonly refreshNow: () => void;
}

/** Exchanges an API key for an access token and a refresh token. */
export async function startSession(baseUrl: string, apiKey: string): Promise<Session> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
  const refreshAt = ({ expire_time }: Issued): number => Date.parse(expire_time ?? "") - 60_000;
  const { data, error } = await client.POST("/iam/v1alpha/tokens:issue", { body: { start_session: true } });
  if (error !== undefined) throw new Error(error.error.message);
  let issued: Issued = data;
  let refreshAtMs = refreshAt(issued);
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const body = { refresh_token: issued.refresh_token ?? "" };
    const next = await client.POST("/iam/v1alpha/tokens:refresh", { body });
    if (next.error !== undefined) throw new Error(next.error.error.message);
    issued = next.data;
    refreshAtMs = refreshAt(issued);
  }

  return {
    async accessToken() {
      if (Date.now() >= refreshAtMs) {
        refreshing ??= refresh().finally(() => (refreshing = undefined));
        await refreshing;
      }
      return issued.access_token ?? "";
    },
    refreshNow() {
      refreshAtMs = 0;
    },
  };
}
