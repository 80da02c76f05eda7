// The events that are sent of what has happened. Each way in which tokens end has a line here, so that a new one does not compile until it
// is decided which event tells it.
import type { TokenEndReason } from "../../access/tokens/find-token-end.ts";
import { eventTypes, streamEventTypes } from "./event-types.ts";
import type { Happening, Target } from "./happenings.ts";

/** What an event says, beside whom it is about. The values are those of JSON. */
type Payload = Readonly<Record<string, string>>;

/** An event before it has a subject in the format of a stream. */
export interface Signal {
  readonly type: string;
  readonly target: Target;
  readonly payload: Payload;
  /** Why, in words for an administrator; undefined for an event that has no such field. */
  readonly reason: string | undefined;
}

/** The signals of what has happened to any target. */
type Signals = readonly Omit<Signal, "target">[];

const { sessionRevoked, credentialChange, accountDisabled, accountEnabled, accountPurged } = eventTypes;

const revoked = (reason: string) => ({ type: sessionRevoked, payload: {}, reason });
const account = (type: string) => ({ type, payload: {}, reason: undefined });

type CredentialType = "api_key" | "client_secret" | "federated_identity";

const credential = (
  credentialType: CredentialType,
  changeType: "create" | "update" | "revoke" | "delete",
  reason: string,
) => ({
  type: credentialChange,
  payload: { credential_type: credentialType, change_type: changeType },
  reason,
});

const signalsOfEnds: Readonly<Record<TokenEndReason, Signals>> = {
  // A token says itself until when it holds.
  EXPIRED: [],
  ORG_DELETED: [revoked("the org was deleted"), account(accountDisabled)],
  MEMBER_DELETED: [revoked("the member was deleted"), account(accountDisabled)],
  MEMBER_SUSPENDED: [revoked("the member was suspended"), account(accountDisabled)],
  ALL_REVOKED: [revoked("all tokens of the member were revoked")],
  API_KEY_DELETED: [
    credential("api_key", "delete", "the API key was deleted"),
    revoked("the API key of the tokens was deleted"),
  ],
  API_KEY_ROTATED: [
    credential("api_key", "revoke", "the API key has ended"),
    revoked("the API key of the tokens has ended"),
  ],
  CLIENT_DELETED: [revoked("the client was deleted")],
  SESSION_ENDED: [revoked("the session was ended")],
  // What ends an impersonation ends the sessions of who impersonates, or is a role that was lost, which no single entry says.
  IMPERSONATION_ENDED: [],
  TOKEN_REVOKED: [revoked("the token was revoked")],
};

const signalsOf: Readonly<Record<Happening["what"], Signals>> = {
  ...signalsOfEnds,
  API_KEY_CREATED: [credential("api_key", "create", "an API key was created")],
  API_KEY_REPLACED: [credential("api_key", "update", "the API key was given another end")],
  CLIENT_SECRET_CREATED: [credential("client_secret", "create", "a client with a secret was created")],
  CLIENT_SECRET_REPLACED: [credential("client_secret", "update", "the secret of the client was replaced")],
  CLIENT_SECRET_DELETED: [credential("client_secret", "delete", "the client was deleted")],
  IDENTITY_CREATED: [credential("federated_identity", "create", "an identity was linked to the member")],
  IDENTITY_DELETED: [credential("federated_identity", "delete", "an identity of the member was removed")],
  MEMBER_ENABLED: [account(accountEnabled)],
  MEMBER_PURGED: [account(accountPurged)],
  ORG_SUSPENDED: [account(accountDisabled)],
  ORG_ENABLED: [account(accountEnabled)],
  STREAM_UPDATED: [{ type: streamEventTypes.streamUpdated, payload: {}, reason: undefined }],
};

export function signalsOfHappening({ what, target }: Happening): readonly Signal[] {
  return signalsOf[what].map((signal) => ({ ...signal, target }));
}
