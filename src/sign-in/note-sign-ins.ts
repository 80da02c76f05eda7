// Notes who signs in, and who fails to, for the logs of the orgs that it concerns.
import type { Origin } from "../changes/author.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { AccessEvent, EventCaller, NoteAccess } from "../events/access-events/access-event.ts";
import type { MemberKey } from "../iam/sign-in/sign-in-links.ts";
import type { BrowserSessions } from "../iam/sign-in/browser-sessions.ts";
import type { FirstSignIns, NewcomerRefusal } from "../iam/sign-in/first-sign-ins.ts";
import type { ProviderSignIn, SignedInPerson } from "../iam/sign-in/provider-sign-in.ts";
import type { SignInChoices } from "../iam/sign-in/sign-in-choices.ts";
import { OAuthError } from "./oauth/oauth-error.ts";

type Where = Pick<Origin, "remoteAddress" | "requestId">;

/** What is known of a sign-in before it succeeds. */
interface SignIn {
  /** Where it is made: `sign-in`. */
  readonly method: string;
  readonly where: Where;
  readonly caller?: EventCaller | undefined;
  /** The org at which it is made, for one whose caller is not known. */
  readonly org?: AccessEvent["org"];
}

export interface NoteSignIns {
  readonly succeeded: (signIn: SignIn) => void;
  readonly failed: (signIn: SignIn, reason: string, reasonDetail?: string) => void;
  /** Runs a part of a sign-in, and notes that it failed if its error says why. Returns what it returns, and throws what it throws. */
  readonly watch: <Result>(signIn: SignIn, run: () => Promise<Result>) => Promise<Result>;
}

export function createNoteSignIns(note: NoteAccess): NoteSignIns {
  const add = (kind: AccessEvent["kind"], signIn: SignIn, reason: string, reasonDetail: string): void => {
    const { method, where, caller, org } = signIn;
    if (caller === undefined && org === undefined) return;
    const { remoteAddress, requestId } = where;
    note({ kind, caller, org, method, resourcePath: "", reason, reasonDetail, remoteAddress, requestId });
  };
  const failed: NoteSignIns["failed"] = (signIn, reason, detail = "") => add("SIGN_IN_FAILED", signIn, reason, detail);
  return {
    succeeded: (signIn) => add("SIGN_IN_SUCCEEDED", signIn, "", ""),
    failed,
    async watch(signIn, run) {
      try {
        return await run();
      } catch (thrown) {
        const { reason, detail, ...known } = explain(thrown);
        if (reason !== undefined) failed({ ...signIn, ...known }, reason, detail);
        throw thrown;
      }
    },
  };
}

/** What an error says; no reason if it is not about who signs in. */
function explain(thrown: unknown): Partial<SignIn> & { readonly reason?: string; readonly detail?: string } {
  if (thrown instanceof OAuthError) return thrown.error === "invalid_client" ? { reason: "TOKEN_INVALID" } : {};
  if (!(thrown instanceof ServiceError) || !told.has(thrown.reason)) return {};
  const { reason, metadata, concerns } = thrown;
  const detail = metadata["ended_by"] ?? "";
  if (concerns === undefined) return { reason, detail };
  const { orgId, member } = concerns;
  if (member !== undefined) return { reason, detail, caller: { orgId, ...member } };
  return { reason, detail, org: { by: "id", value: orgId } };
}

const told: ReadonlySet<string> = new Set([
  "ADDRESS_NOT_ALLOWED",
  "GRANT_INVALID",
  "LIMIT_EXCEEDED",
  "PERMISSION_DENIED",
  "TOKEN_INVALID",
]);

const atBrowser = "sign-in";

/** Returns the same functions, which note the sign-ins of browsers. */
export function noteBrowserSignIns(
  { succeeded, watch }: NoteSignIns,
  sessions: BrowserSessions,
  choices: SignInChoices,
): { readonly browserSessions: BrowserSessions; readonly signInChoices: SignInChoices } {
  const signInOf = (member: MemberKey | undefined, where: Where): SignIn => ({
    method: atBrowser,
    where,
    caller: member && { orgId: member.orgId, memberId: member.memberId },
  });
  return {
    browserSessions: {
      ...sessions,
      async start(member, origin) {
        const signIn = signInOf(member, origin);
        const cookie = await watch(signIn, () => sessions.start(member, origin));
        succeeded(signIn);
        return cookie;
      },
    },
    signInChoices: {
      ...choices,
      async choose(...args) {
        const [, , , origin] = args;
        const member = await choices.choose(...args);
        succeeded(signInOf(member, origin));
        return member;
      },
    },
  };
}

interface AtProvider {
  readonly providerSignIn: ProviderSignIn;
  readonly firstSignIns: FirstSignIns;
  readonly noteSignIns: Pick<NoteSignIns, "failed" | "watch">;
}

/** Who has signed in at a provider, and why no member was created for somebody whom nobody has linked, if the provider creates members. */
export interface PersonAtProvider extends SignedInPerson {
  readonly refusal?: NewcomerRefusal | undefined;
}

/**
 * Finishes a sign-in at a provider, also the first of somebody for whom it creates a member. That it fails is noted in the org of the provider,
 * and that it is of somebody whom nobody has linked, or of whose members none is active.
 */
export async function finishAtProvider(
  { providerSignIn, firstSignIns, noteSignIns }: AtProvider,
  where: Origin,
  answer: Parameters<ProviderSignIn["finish"]>,
): Promise<PersonAtProvider> {
  const signIn: SignIn = { method: atBrowser, where };
  const person = await noteSignIns.watch(signIn, () => providerSignIn.finish(...answer));
  const { newcomer, org } = person;
  // Who comes for an invitation is linked with it, if at all.
  if (org === undefined || person.claims !== undefined) return person;
  const ofOrg: SignIn = { ...signIn, org: { by: "name", value: org } };
  const entered = newcomer && (await noteSignIns.watch(ofOrg, () => firstSignIns.enter(newcomer, where)));
  const identities = typeof entered === "object" ? entered : person.identities;
  const refusal = typeof entered === "object" ? undefined : entered;
  if (identities.length === 0) noteSignIns.failed(ofOrg, "GRANT_INVALID", refusal ?? "NOT_LINKED");
  else if (!identities.some(({ usable }) => usable)) noteSignIns.failed(ofOrg, "GRANT_INVALID", "MEMBER_NOT_ACTIVE");
  return { ...person, identities, refusal };
}
