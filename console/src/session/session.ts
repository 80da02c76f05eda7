import { type SessionAnswer, type SessionEnd, type SessionMember, readAnswer, readSignOut } from "./session-answer.ts";

/** Who the console acts as. The access token is kept here alone: in memory, and never shown. */
export interface Session {
  /** What the latest answer of the service said; undefined before the first. */
  current: () => SessionAnswer | undefined;
  /** Makes the console act as a member of the org if this browser is signed in as one, and as whom it acted before otherwise. */
  actIn: (orgPath: string) => Promise<SessionAnswer>;
  /** Makes the console act as another member that this browser is signed in as. */
  actAs: (member: SessionMember) => Promise<SessionAnswer>;
  /** Returns an access token that lives long enough for a call. */
  token: () => Promise<string>;
  /** Forgets the token that the service refused, so that the next call gets another one. */
  refused: (token: string) => void;
  /** Signs this browser out, and leaves the console. Throws what the service says if it did not. */
  signOut: () => Promise<void>;
  subscribe: (listener: () => void) => () => void;
}

interface Surroundings {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** Leaves the console for a page of the service, such as `/sign-in`. */
  readonly leaveTo: (path: string) => void;
  /** Where the person is, which the sign-in leads back to. */
  readonly here: () => string;
}

/** A token with less than this left is renewed before a call. */
const marginMs = 30_000;

function send(fetch: Surroundings["fetch"], method: "POST" | "DELETE", body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch("/console/session", { method, headers, body: JSON.stringify(body), cache: "no-store" });
}

export function createSession({ fetch, now, leaveTo, here }: Surroundings): Session {
  let answer: SessionAnswer | undefined;
  let usable = false;
  let pending: Promise<SessionAnswer> | undefined;
  let signingOut: Promise<void> | undefined;
  const listeners = new Set<() => void>();

  const leaveToSignIn = async (end: SessionEnd): Promise<never> => {
    // What still asks while somebody signs out does not lead back to here.
    const hasSignedOut = await signingOut?.then(
      () => true,
      () => false,
    );
    if (hasSignedOut !== true) leaveTo(`${end.signIn}?return_to=${encodeURIComponent(here())}`);
    // The page is about to go: nothing that waits for the session may go on, or show an error, meanwhile.
    return new Promise(() => {});
  };

  const open = async (memberByIds: string | undefined): Promise<SessionAnswer> => {
    const response = await send(fetch, "POST", memberByIds === undefined ? {} : { member: memberByIds });
    const read = await readAnswer(response);
    if ("signIn" in read) return leaveToSignIn(read);
    answer = read;
    usable = true;
    for (const listener of listeners) listener();
    return read;
  };

  /** Calls that need a token at the same time share one request. */
  const renew = (memberByIds = answer?.byIds): Promise<SessionAnswer> => {
    pending ??= open(memberByIds).finally(() => (pending = undefined));
    return pending;
  };

  const actAs = async (member: SessionMember): Promise<SessionAnswer> => {
    if (pending !== undefined) {
      // It may be for another member, and so may be one that begins before this goes on. Who has asked for it hears of its problem.
      await pending.catch(() => undefined);
      return actAs(member);
    }
    return answer?.byIds === member.byIds && usable ? answer : renew(member.byIds);
  };

  return {
    current: () => answer,
    actAs,
    async actIn(orgPath) {
      const known = answer ?? (await renew());
      const own = known.members.find(({ org }) => org.path === orgPath);
      return own === undefined ? known : actAs(own);
    },
    async token() {
      if (answer !== undefined && usable && answer.expiresAt - now() > marginMs) return answer.accessToken;
      return (await renew()).accessToken;
    },
    refused(token) {
      if (answer?.accessToken === token) usable = false;
    },
    async signOut() {
      signingOut = send(fetch, "DELETE", {}).then(readSignOut);
      await signingOut;
      leaveTo("/sign-in");
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
