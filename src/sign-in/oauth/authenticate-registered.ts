import { type RegisteredClient, isRegisteredId, isSecretOf } from "../../iam/clients/registered-client.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { invalidClient, readCredentials } from "./authenticate-client.ts";
import type { Form } from "./read-form.ts";

/**
 * Authenticates the registered client of a request: a confidential one with its secret, as the password of Basic authentication
 * or as `client_secret`. A public one only names itself.
 *
 * @param find returns a client by its id.
 * @returns undefined if the request names none.
 * @throws OAuthError invalid_client
 */
export async function authenticateRegistered(
  find: (id: string) => Promise<RegisteredClient | undefined>,
  request: HttpRequest,
  form: Form,
): Promise<RegisteredClient | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined && /^bearer /i.test(authorization)) return undefined;
  const credentials = readCredentials(authorization, form);
  const id = credentials?.id ?? form.get("client_id");
  if (id === undefined || !isRegisteredId(id)) return undefined;
  if ((form.get("client_id") ?? id) !== id)
    throw invalidClient("the client_id must be that of the Authorization header");
  const client = await find(id);
  const secret = credentials?.secret;
  if (client !== undefined && isAuthenticated(client, secret)) return client;
  // The same error in all cases, so that it does not say which clients there are.
  throw invalidClient("the client does not exist, or its secret is missing, mistyped or has ended");
}

function isAuthenticated(client: RegisteredClient, secret: string | undefined): boolean {
  return client.confidential ? secret !== undefined && isSecretOf(client, secret) : secret === undefined;
}
