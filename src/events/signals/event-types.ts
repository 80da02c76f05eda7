// The types of events that streams send, by the names that this code has for them.

const caep = "https://schemas.openid.net/secevent/caep/event-type/";
const risc = "https://schemas.openid.net/secevent/risc/event-type/";
const ssf = "https://schemas.openid.net/secevent/ssf/event-type/";

/** Those that a stream chooses from: OpenID Continuous Access Evaluation Profile 1.0, and OpenID RISC Profile 1.0. */
export const eventTypes = {
  sessionRevoked: `${caep}session-revoked`,
  credentialChange: `${caep}credential-change`,
  accountDisabled: `${risc}account-disabled`,
  accountEnabled: `${risc}account-enabled`,
  accountPurged: `${risc}account-purged`,
} as const;

export const supportedEventTypes: readonly string[] = Object.values(eventTypes);

/** Those of the framework, which every stream sends (OpenID Shared Signals Framework 1.0, 8.1.4 and 8.1.5). */
export const streamEventTypes = {
  verification: `${ssf}verification`,
  streamUpdated: `${ssf}stream-updated`,
} as const;
