// Calls identity providers as OpenID clients do, with requests that are guarded: src/identity/outgoing.
import { type GuardedRequestOptions, RequestError, createSendGuarded } from "../outgoing/guarded-request.ts";

/** The service does not call a provider, or cannot use its answer. The message is for the person who signs in. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

export type GuardedFetchOptions = Omit<GuardedRequestOptions, "called" | "longer">;

/** The part of `RequestInit` that OpenID clients use. */
interface FetchInit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

export type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>;

/** Creates a function like `fetch`. It throws a ProviderError. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const send = createSendGuarded({ ...options, called: "a URL of the identity provider", longer: "refused" });
  return async (url, { method = "GET", headers = {}, body }) => {
    const content = body instanceof URLSearchParams ? body.toString() : undefined;
    try {
      const { status, headers: all, body: answer } = await send(url, { method, headers, body: content });
      if (status >= 300 && status < 400) throw new ProviderError(`${new URL(url).host} answered with a redirect`);
      const kept = Object.entries(all).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as [string, string]] : [],
      );
      return new Response(answer.length === 0 ? null : answer, { status, headers: kept });
    } catch (error) {
      if (error instanceof RequestError) throw new ProviderError(error.message, { cause: error.cause });
      throw error;
    }
  };
}
