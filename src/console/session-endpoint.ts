// The session of the console: a browser that is signed in buys a short-lived access token for one of its members, with which the
// console calls the API, or signs out. This is the only place where the cookie counts for more than a page, so that a request must be
// JSON and come from a page of this service.
import type { Logger } from "pino";
import type { Origin } from "../changes/author.ts";
import { ServiceError } from "../errors/service-error.ts";
import { noteCaller } from "../http/call-record.ts";
import type { HttpRequest, HttpResponse } from "../http/http-messages.ts";
import { closeAfterEarlyAnswer } from "../http/listener/close-after-early-answer.ts";
import { refuseMethodsBut } from "../http/plain-error.ts";
import type { RequestPace } from "../http/request-pace.ts";
import type { BrowserSession, BrowserSessions, SignedInMember } from "../iam/sign-in/browser-sessions.ts";
import type { SignInChoices } from "../iam/sign-in/sign-in-choices.ts";
import { type BrowserResponse, json, send } from "../sign-in/browser/browser-responses.ts";
import { clearCookie, lastUsed, readCookie, setCookie } from "../sign-in/browser/cookie.ts";
import { isSameOrigin, otherOrigin } from "../sign-in/browser/require-same-origin.ts";
import { readJson } from "../sign-in/oauth/read-form.ts";
import { SignInRequired, describeConsoleError } from "./console-error.ts";
import { isPathOf } from "./is-path-of.ts";

export interface SessionEndpointDependencies {
  readonly browserSessions: Pick<BrowserSessions, "find" | "forget" | "end" | "issueToken">;
  readonly signInChoices: Pick<SignInChoices, "find">;
  /** Counts a call against the limits of a member. */
  readonly count: (member: Pick<SignedInMember, "memberId" | "orgId">, reads: boolean) => Promise<void>;
  readonly originOf: (request: HttpRequest) => Origin;
  readonly logger: Logger;
}

export const sessionPath = "/console/session";

export function createSessionEndpoint(
  dependencies: SessionEndpointDependencies,
): (request: HttpRequest, response: HttpResponse, pace: RequestPace) => Promise<void> {
  const { logger } = dependencies;
  return async (request, response, pace) => {
    if (refuseMethodsBut(["POST", "DELETE"], request, response, sessionPath)) return;
    closeAfterEarlyAnswer(request, response);
    try {
      if (!isSameOrigin(request)) throw new ServiceError("PERMISSION_DENIED", otherOrigin);
      const member = readMember(await readJson(request));
      const buys = request.method === "POST";
      const answered = await (buys ? buyToken : signOut)(dependencies, request, member);
      // A sign-out is answered the same to anybody, and says nothing about who asks.
      if (buys) pace.markKnown();
      send(response, answered);
    } catch (thrown) {
      if (response.destroyed || response.headersSent) return;
      const answered = describeConsoleError(thrown, request);
      if (answered.status === 500) logger.error({ err: thrown }, "a request for the session of the console failed");
      send(response, answered);
    }
  };
}

/** @returns the path of the member of a request; undefined for none. @throws ServiceError FIELD_INVALID */
function readMember(body: Readonly<Record<string, unknown>>): string | undefined {
  const { member, ...others } = body;
  const [other] = Object.keys(others);
  const isPath = typeof member === "string" && member !== "";
  if (other === undefined && (isPath || member === undefined)) return member;
  const what = other === undefined ? "member" : JSON.stringify(other.slice(0, 64));
  const rule = "the body may have member only, the path of a member such as /orgs/acme/members/alice";
  throw new ServiceError("FIELD_INVALID", `${what}: ${rule}`);
}

async function buyToken(
  { browserSessions, signInChoices, count }: SessionEndpointDependencies,
  request: HttpRequest,
  wanted: string | undefined,
): Promise<BrowserResponse> {
  const cookie = readCookie(request);
  const [session, choices] =
    cookie === undefined
      ? [undefined, []]
      : await Promise.all([browserSessions.find(cookie), signInChoices.find(cookie)]);
  const choose = choices.length > 0 ? { choose: "/sign-in/choice" } : {};
  if (session === undefined) {
    throw new SignInRequired("this browser is not signed in, or its sign-in has ended", choose.choose ?? "/sign-in");
  }
  const member = findMember(session, wanted, readCookie(request, lastUsed));
  if (member === undefined) throw new SignInRequired(explainOther(session, wanted), "/sign-in");
  const { orgId, memberId, sessionId: credentialId } = member;
  noteCaller(request, { orgId, memberId, credentialId, impersonator: undefined });
  await count(member, false);
  const { text, token } = await browserSessions.issueToken(session, member);
  const members = session.members.map(describeMember);
  const answer = json(200, {
    access_token: text,
    expire_time: new Date(token.expireTime).toISOString(),
    ...describeMember(member),
    members: members.toSorted((one, other) => (one.member < other.member ? -1 : 1)),
    ...choose,
  });
  return { ...answer, headers: { ...answer.headers, "Set-Cookie": setCookie(credentialId, lastUsed) } };
}

/**
 * Returns the member of a request: the one that it names or, without a name, the one that was used last. That is the one that the browser
 * signed in as last if there was none.
 */
function findMember(
  { members }: BrowserSession,
  wanted: string | undefined,
  used: string | undefined,
): SignedInMember | undefined {
  if (wanted !== undefined) return members.find((each) => isPathOf(wanted, each));
  return members.find(({ sessionId }) => sessionId === used) ?? members.at(-1);
}

const mostNamed = 10;

function explainOther({ members }: BrowserSession, wanted = ""): string {
  const named = members.slice(0, mostNamed).map(({ path }) => path);
  const known = [...named, ...(members.length > mostNamed ? ["..."] : [])].join(", ");
  return `this browser is not signed in as ${JSON.stringify(wanted.slice(0, 256))}, only as ${known}`;
}

function describeMember({ path, memberId, displayName, orgPath, orgId, orgDisplayName, customerPath }: SignedInMember) {
  const org = { path: orgPath, id: orgId, display_name: orgDisplayName, customer: customerPath };
  return { member: path, id: memberId, display_name: displayName, org };
}

/** Ends the session of one member or, without one, the sign-in. What has ended already is no error. */
async function signOut(
  { browserSessions, originOf, logger }: SessionEndpointDependencies,
  request: HttpRequest,
  wanted: string | undefined,
): Promise<BrowserResponse> {
  const cookie = readCookie(request);
  const done = json(200, {});
  if (cookie === undefined) return done;
  if (wanted !== undefined) {
    const { members = [] } = (await browserSessions.find(cookie)) ?? {};
    const member = members.find((each) => isPathOf(wanted, each));
    if (member === undefined) return done;
    if (members.length > 1) {
      const { orgId: org_id, memberId: member_id, sessionId: id } = member;
      await browserSessions.end([{ org_id, member_id, id }], originOf(request));
      return done;
    }
  }
  const keys = await browserSessions.forget(cookie);
  try {
    await browserSessions.end(keys, originOf(request));
  } catch (cause) {
    logger.error({ err: cause }, "a session of a browser that signed out could not be ended");
    throw new ServiceError("SERVICE_UNAVAILABLE", partlyEnded, { cause });
  }
  return { ...done, headers: { ...done.headers, "Set-Cookie": [clearCookie(), clearCookie(lastUsed)] } };
}

const partlyEnded =
  "this browser is signed out, but a session could not be ended in its org; tokens of that session end within ten minutes";
