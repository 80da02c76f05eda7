// Security event tokens (RFC 8417) as OpenID Shared Signals Framework 1.0 and its interoperability profile have them: one event each, signed
// with RS256. All but the signature follows from the entry of the log, so that an event is the same each time it is sent.
import { SignJWT } from "jose";
import type { EventStreams } from "../../database/signal-tables.ts";
import { required } from "../../errors/required.ts";
import { type SigningKeys, eventAlgorithm } from "../../identity/tokens/signing-keys.ts";
import type { ChangeRow } from "../changes/store.ts";
import { streamEventTypes } from "./event-types.ts";
import { happeningsOf } from "./happenings.ts";
import { type Signal, signalsOfHappening } from "./signals.ts";
import { subjectOf } from "./subject.ts";

/** What of a stream its events depend on. */
export interface StreamTerms {
  readonly id: string;
  readonly org_id: string;
  readonly audience: string;
  readonly event_types: readonly string[];
  readonly subject_format: EventStreams["subject_format"];
}

/** The verification event that a stream has to send. All are null before the first one, and the id also after each. */
export interface StreamVerification {
  readonly verification_id: string | null;
  readonly verification_state: string | null;
  readonly verification_time: Date | null;
}

/** An event that is not signed yet. */
export interface SecurityEvent {
  readonly jti: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs an event. @throws ServiceError SERVICE_UNAVAILABLE when there is no key to sign with. */
export type SignEvent = (event: SecurityEvent) => Promise<string>;

export function createSignEvent(signingKeys: Pick<SigningKeys, "signingKeyFor">): SignEvent {
  return async ({ claims }) => {
    const { id, key } = await signingKeys.signingKeyFor(eventAlgorithm);
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: eventAlgorithm, typ: "secevent+jwt", kid: id })
      .sign(key);
  };
}

/** Returns the events of an entry that a stream sends, in their order. @param issuer the URL of the service. */
export function eventsOf(stream: StreamTerms, entry: ChangeRow, issuer: string): readonly SecurityEvent[] {
  return (
    happeningsOf(entry)
      .flatMap(signalsOfHappening)
      // Counted before they are chosen, so that an event has the same `jti` when the stream gets other types.
      .map((signal, index) => ({ signal, index }))
      .filter(({ signal }) => isSent(stream, signal))
      .map(({ signal, index }) => {
        const jti = `${entry.revision}-${entry.position}-${index}-${stream.id}`;
        const subject = subjectOf(signal.target, stream.subject_format, issuer, stream.org_id);
        const event = { [signal.type]: payloadOf(signal, entry) };
        return toEvent(stream, issuer, { jti, time: entry.time, txn: entry.revision, subject, event });
      })
  );
}

/**
 * Returns the event with which a receiver verifies that it gets events (OpenID Shared Signals Framework 1.0, 8.1.4); undefined if there is
 * none to send.
 */
export function verificationOf(stream: StreamTerms & StreamVerification, issuer: string): SecurityEvent | undefined {
  const { verification_id: jti, verification_state: state, verification_time: time } = stream;
  if (jti === null) return undefined;
  const event = { [streamEventTypes.verification]: (state ?? "") === "" ? {} : { state } };
  const subject = { format: "opaque", id: stream.id };
  return toEvent(stream, issuer, { jti, time: required(time), subject, event });
}

interface Parts {
  readonly jti: string;
  readonly time: Date;
  /** What the events of a revision have in common. */
  readonly txn?: string;
  readonly subject: object;
  readonly event: object;
}

function toEvent({ audience }: StreamTerms, issuer: string, { jti, time, txn, subject, event }: Parts): SecurityEvent {
  const iat = Math.floor(time.getTime() / 1_000);
  const claims = {
    iss: issuer,
    aud: audience,
    iat,
    jti,
    ...(txn !== undefined && { txn }),
    sub_id: subject,
    events: event,
  };
  return { jti, claims };
}

/** Each stream has the events about itself, and otherwise those that it asked for. */
function isSent({ id, event_types: types }: StreamTerms, { type, target }: Signal): boolean {
  if (target.kind === "stream") return target.streamId === id;
  return types.length === 0 || types.includes(type);
}

function payloadOf(signal: Signal, entry: ChangeRow): object {
  const { type, payload, reason } = signal;
  if (type === streamEventTypes.streamUpdated) return statusOf(entry.after);
  return {
    ...payload,
    event_timestamp: Math.floor((entry.end_time ?? entry.time).getTime() / 1_000),
    ...(reason !== undefined && { initiating_entity: initiatorOf(signal, entry), reason_admin: { en: reason } }),
  };
}

/** Who did it (CAEP 1.0, 2): the member itself, somebody else, or the service. */
function initiatorOf({ target }: Signal, { actor_id: actorId, impersonator_id: impersonatorId }: ChangeRow): string {
  if ((actorId ?? null) === null) return "system";
  const isOwn = "memberId" in target && target.memberId === actorId;
  return isOwn && (impersonatorId ?? null) === null ? "user" : "admin";
}

const statuses: ReadonlyMap<unknown, string> = new Map([
  ["ACTIVE", "enabled"],
  ["PAUSED", "paused"],
  ["DISABLED", "disabled"],
]);

function statusOf(after: object | null): object {
  const row: { readonly state?: unknown; readonly disabled_reason?: unknown } = after ?? {};
  const reason = typeof row.disabled_reason === "string" && { reason: row.disabled_reason };
  return { status: statuses.get(row.state) ?? "disabled", ...reason };
}
