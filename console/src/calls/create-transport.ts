import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import type { Session } from "../session/session.ts";
import type { CallLog } from "./call-log.ts";
import { noteTarget } from "./lack.ts";

/** Returns a transport to the service that the console came from, as whom the session acts. */
export function createTransport(session: Session, calls: CallLog): Transport {
  const authorize: Interceptor = (next) => async (request) => {
    const send = async (): Promise<Awaited<ReturnType<typeof next>>> => {
      const token = await session.token();
      request.header.set("authorization", `Bearer ${token}`);
      try {
        return await next(request);
      } catch (error) {
        const failure = ConnectError.from(error);
        if (failure.code === Code.Unauthenticated) session.refused(token);
        if (failure.code === Code.PermissionDenied && !request.stream) noteTarget(failure, request.message);
        throw failure;
      }
    };
    if (!request.stream) calls.add({ method: request.method, request: request.message });
    return send().catch((error: unknown) => {
      // The token may have ended with what it was made from. Another one says whether somebody is still signed in.
      if (ConnectError.from(error).code === Code.Unauthenticated) return send();
      throw error;
    });
  };
  return createConnectTransport({ baseUrl: globalThis.location.origin, interceptors: [authorize] });
}
