import type { AccessEvents } from "../../database/log-tables.ts";
import type { Caller } from "../../identity/caller.ts";
import type { OneReference } from "../../paths/parse-path.ts";

/** Whose credential a sign-in or a call had, by ids. */
export interface EventCaller extends Pick<Caller, "orgId" | "memberId"> {
  readonly credentialId?: string | null | undefined;
  readonly impersonator?: { readonly memberId: string } | undefined;
}

/** A sign-in, or a call that was refused. It is in the log of the caller's org, and in that of the org that it is about. */
export interface AccessEvent {
  readonly kind: AccessEvents["kind"];
  /** Undefined if it is not known who it was. */
  readonly caller: EventCaller | undefined;
  /** The org that was asked for, whether it exists or not; undefined for none. */
  readonly org: OneReference | undefined;
  readonly method: string;
  /** What was asked for in that org; empty for nothing. */
  readonly resourcePath: string;
  /** Empty for what was not refused. */
  readonly reason: string;
  readonly reasonDetail: string;
  readonly remoteAddress: string | null;
  readonly requestId: string | null;
}

/** Notes an event, which is written later. Never fails, and waits for nothing. */
export type NoteAccess = (event: AccessEvent) => void;
