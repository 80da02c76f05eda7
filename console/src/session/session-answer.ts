// What `POST /console/session` answers.

export interface SessionOrg {
  /** Such as `/orgs/acme`. */
  readonly path: string;
  readonly displayName: string;
}

export interface SessionMember {
  /** Such as `/orgs/acme/members/alice`. */
  readonly member: string;
  /** The path by ids, `/orgs/@.../members/@...`, which stays the same when the org or the member gets another name. */
  readonly byIds: string;
  readonly displayName: string;
  readonly org: SessionOrg;
}

export interface SessionAnswer extends SessionMember {
  readonly accessToken: string;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** All members that this browser is signed in as. */
  readonly members: readonly SessionMember[];
  /** The path of the page where the person signs in as further members; empty if there are none. */
  readonly choose: string;
}

/** Nobody is signed in. */
export interface SessionEnd {
  /** The path of the page where people sign in. */
  readonly signIn: string;
}

/** Reads an answer. Throws what the service says if it is neither a session nor the lack of one. */
export async function readAnswer(response: Response): Promise<SessionAnswer | SessionEnd> {
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) {
    const member = readMember(body);
    const expiresAt = Date.parse(text(body, "expire_time"));
    const members = list(body, "members").map(readMember);
    return { ...member, accessToken: text(body, "access_token"), expiresAt, members, choose: text(body, "choose") };
  }
  const error = field(body, "error");
  if (response.status === 401) return { signIn: text(error, "sign_in") || "/sign-in" };
  throw toError(response, body);
}

/** Throws what the service says if a sign-out has failed. */
export async function readSignOut(response: Response): Promise<void> {
  if (!response.ok) throw toError(response, await response.json().catch(() => ({})));
}

function toError({ status }: Response, body: unknown): Error {
  return new Error(text(field(body, "error"), "message") || `The service answered ${status}.`);
}

function readMember(value: unknown): SessionMember {
  const org = field(value, "org");
  return {
    member: slashed(text(value, "member")),
    byIds: `/orgs/@${text(org, "id")}/members/@${text(value, "id")}`,
    displayName: text(value, "display_name"),
    org: { path: slashed(text(org, "path")), displayName: text(org, "display_name") },
  };
}

/** The API writes paths with a leading slash, and accepts them without one. */
const slashed = (path: string): string => (path.startsWith("/") ? path : `/${path}`);

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

function list(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}
