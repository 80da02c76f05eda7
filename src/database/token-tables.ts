import type { NamedColumns, VersionColumns } from "./shared-columns.ts";
import type { ColumnType, Generated, JSONColumnType } from "kysely";

// The tables of tokens, sessions and clients, as Kysely and pg read them.

/** The public part of a signing key, as a JSON Web Key (RFC 7517). */
type PublicKey = Readonly<Record<string, string>>;

/**
 * The keys that sign tokens. A key is published from its creation, signs from `active_time` until before `retire_time`, and
 * stays published until the last token that it signed has expired.
 */
export interface SigningKeys {
  /** The `kid` of its tokens. */
  id: string;
  algorithm: "ES256" | "RS256" | "EdDSA";
  public_key: JSONColumnType<PublicKey>;
  /** The private key, encrypted; null once the key is retired. */
  sealed_key: Buffer | null;
  create_time: Date;
  active_time: Date;
  retire_time: Date;
}

/** Sessions, in which clients refresh their tokens. A refresh changes no revision. */
export interface Sessions extends VersionColumns {
  customer_id: string;
  org_id: string;
  member_id: string;
  /** The `sid` of its tokens. */
  id: string;
  /** The public part of the API key that started the session, or the id of a registered client; `browser` for a sign-in. */
  client_id: string;
  /** The API key that started the session, with which it ends; null for a sign-in. */
  api_key_id: string | null;
  /** The registered client that its member allowed to act for it, and the org of the client; null for other sessions. */
  oauth_client_id: string | null;
  client_org_id: string | null;
  /** The redirect URI of the code of that client; null for other sessions, and for those of servers of earlier versions. */
  redirect_uri: string | null;
  /** The sign-in that started the session; null for an API key. */
  browser_session_id: string | null;
  /** The identity with which its member signed in, with which the session ends; null without one. */
  identity_id: string | null;
  /** The member's when the session was started. The session ends when the member gets another. */
  token_gen: string | null;
  /** The permissions to which its tokens are narrowed; null for all. */
  scopes: string[] | null;
  /** The project to which its tokens are narrowed; null for none. */
  project_id: string | null;
  /** The prefixes of the addresses from which its tokens are accepted; null for all. */
  allowed_addresses: string[] | null;
  user_agent: string;
  /** The number of the current refresh token. */
  refresh_count: Generated<string>;
  refresh_time: Date | null;
  /** A hash of where that refresh came from; null before the first, and after one by a server of an earlier version. */
  refresh_origin: Buffer | null;
  expire_time: Date;
}

/**
 * What ends tokens before they expire: the removal of an API key, a client or a session, the revocation of a single token, or the end of
 * the overlap after a rotation, which is at a time to come. Kept until the longest life of a token has passed.
 */
export interface EndedTokens {
  customer_id: string;
  org_id: string;
  /** The id of the API key or session, which is the `sid` of its tokens, or the `jti` of a token. */
  id: string;
  type: "ApiKey" | "Session" | "Token" | "Rotation" | "Client";
  end_time: ColumnType<Date, Date | string, Date>;
}

/** The sign-ins of browsers. Which members one stands for is in their sessions. */
export interface BrowserSessions {
  id: string;
  /** The SHA-256 of the secret in the cookie. */
  hash: Buffer;
  sign_in_time: ColumnType<Date, Date | string, never>;
  expire_time: ColumnType<Date, Date | string, never>;
  /**
   * The identities that its person may still choose, each with the `token_gen` that its member had at the sign-in, or an empty text
   * for none; null for a sign-in without an identity provider.
   */
  choices: ColumnType<Readonly<Record<string, string>> | null, string | null, string>;
}

/** Links with which a member signs in once. */
export interface SignInLinks {
  id: string;
  /** The SHA-256 of the secret in the link. */
  hash: Buffer;
  customer_id: string;
  org_id: string;
  member_id: string;
  expire_time: ColumnType<Date, Date | string, never>;
}

/** The links of invitations, also those that are void or used by now: mails are counted by them. */
export interface Invitations {
  id: string;
  customer_id: string;
  org_id: string;
  member_id: string;
  /** The SHA-256 of the secret in the link; null for one that is void or used. */
  hash: Buffer | null;
  /** The SHA-256 of the org and the address, for which the link is: another address of the member voids it. */
  address_hash: Buffer;
  /** Whether the link was sent: a mail server has taken it, or was asked to. */
  mail: "NONE" | "SENDING" | "SENT";
  send_time: ColumnType<Date, Date | string, never>;
  /** When the link ends at the latest, whatever the invitation of its member says. */
  expire_time: ColumnType<Date, Date | string, never>;
}

export interface Clients extends NamedColumns {
  customer_id: string;
  org_id: string;
  redirect_uris: string[];
  /** Whether the client has a secret. */
  confidential: boolean;
  /** The scopes for which it may ask; null for all. */
  scopes: string[] | null;
  /** SHA-256 of the secret; null for a client without one. */
  secret_hash: Buffer | null;
  previous_secret_hash: Buffer | null;
  previous_secret_expire_time: Date | null;
}

/**
 * The codes with which a client gets the tokens of a member that allowed it to act for it. One that was used is kept until it
 * expires, so that its second use ends the session.
 */
export interface AuthorizationCodes {
  id: string;
  /** The SHA-256 of the code. */
  hash: Buffer;
  customer_id: string;
  org_id: string;
  member_id: string;
  /** The member's when it allowed the client. */
  token_gen: string | null;
  client_org_id: string;
  oauth_client_id: string;
  redirect_uri: string;
  /** The SHA-256 of the verifier, in base64url (RFC 7636). */
  code_challenge: string;
  /** The permissions to which the tokens are narrowed; null for all. */
  scopes: string[] | null;
  is_offline: boolean;
  /** The session that the code was exchanged for; null before. */
  session_id: ColumnType<string | null, null, string>;
  use_time: ColumnType<Date | null, null, Date>;
  /** The session of the browser in which the member allowed the client; null in the codes of servers of earlier versions. */
  allowing_session_id: string | null;
  expire_time: ColumnType<Date, Date | string, never>;
}

export interface TokenTables {
  signing_keys: SigningKeys;
  ended_tokens: EndedTokens;
  sessions: Sessions;
  browser_sessions: BrowserSessions;
  sign_in_links: SignInLinks;
  invitations: Invitations;
  clients: Clients;
  authorization_codes: AuthorizationCodes;
}
