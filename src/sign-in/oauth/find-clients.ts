// The clients of OAuth requests. Who fails to authenticate, and who gets tokens, is noted for the orgs that it concerns.
import { findRegisteredClient, type RegisteredClient } from "../../iam/clients/registered-client.ts";
import type { IssuedTokens } from "../../iam/tokens/issue-token.ts";
import type { Origin } from "../../changes/author.ts";
import type { Database } from "../../database/database.ts";
import type { Authenticate } from "../../identity/authenticate.ts";
import type { Caller } from "../../identity/caller.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { requestPathOf } from "../../http/request-path.ts";
import type { NoteSignIns } from "../note-sign-ins.ts";
import { authenticateClient } from "./authenticate-client.ts";
import { authenticateRegistered } from "./authenticate-registered.ts";
import type { Form } from "./read-form.ts";

export interface ClientDependencies {
  readonly database: Database;
  readonly authenticate: Authenticate;
  readonly noteSignIns: NoteSignIns;
  /** Returns the IP address of a request's client; null if it is not known. */
  readonly addressOf: (request: HttpRequest) => string | null;
  readonly originOf: (request: HttpRequest, credentialId: string) => Origin;
}

interface FindClients {
  /** Returns the registered client of a request; undefined if it names none. @throws OAuthError invalid_client */
  readonly findRegistered: (request: HttpRequest, form: Form) => Promise<RegisteredClient | undefined>;
  /** Returns the client that authenticates with an API key or a token; undefined if the request has none. */
  readonly findClient: (request: HttpRequest, form: Form) => Promise<Caller | undefined>;
  /**
   * Gets tokens, which is a sign-in of their member.
   *
   * @param orgId of the client.
   */
  readonly signedIn: (
    request: HttpRequest,
    orgId: string,
    getTokens: () => Promise<IssuedTokens>,
  ) => Promise<IssuedTokens>;
}

export function createFindClients(dependencies: ClientDependencies): FindClients {
  const { database, authenticate, noteSignIns, addressOf, originOf } = dependencies;
  const signInAt = (request: HttpRequest) => ({
    method: requestPathOf(request.url ?? "").slice(1),
    where: originOf(request, ""),
  });
  return {
    async findRegistered(request, form) {
      let found: RegisteredClient | undefined;
      const find = async (id: string) => (found = await findRegisteredClient(database.reads, id));
      try {
        return await authenticateRegistered(find, request, form);
      } catch (error) {
        if (found !== undefined) {
          const org = { by: "id", value: found.org_id } as const;
          noteSignIns.failed({ ...signInAt(request), org }, "TOKEN_INVALID");
        }
        throw error;
      }
    },
    findClient(request, form) {
      const find = (authorization: string) =>
        noteSignIns.watch(signInAt(request), () => authenticate(authorization, addressOf(request)));
      return authenticateClient(find, request, form);
    },
    async signedIn(request, orgId, getTokens) {
      const signIn = signInAt(request);
      const issued = await noteSignIns.watch({ ...signIn, org: { by: "id", value: orgId } }, getTokens);
      const { token } = issued;
      const caller = { orgId: token.orgId, memberId: token.memberId, credentialId: token.sessionId };
      noteSignIns.succeeded({ ...signIn, caller });
      return issued;
    },
  };
}
