// How events name what they are about (RFC 9493; OpenID Shared Signals Framework 1.0, 3).
import type { EventStreams } from "../../database/signal-tables.ts";
import type { Target } from "./happenings.ts";

type Simple = Readonly<Record<string, string>>;
type Subject = Simple | Readonly<Record<string, string | Simple>>;

const opaque = (id: string): Simple => ({ format: "opaque", id });

/** @param issuer of the tokens whose `sub` is the id of a member. @param orgId of the stream. */
export function subjectOf(
  target: Target,
  format: EventStreams["subject_format"],
  issuer: string,
  orgId: string,
): Subject {
  const user = (memberId: string): Simple => ({ format: "iss_sub", iss: issuer, sub: memberId });
  const isComplex = format === "COMPLEX";
  const complex = (parts: Readonly<Record<string, Simple>>): Subject => ({
    format: "complex",
    ...parts,
    tenant: opaque(orgId),
  });
  switch (target.kind) {
    case "member":
      return isComplex ? complex({ user: user(target.memberId) }) : user(target.memberId);
    case "session":
      return isComplex
        ? complex({ user: user(target.memberId), session: opaque(target.sessionId) })
        : user(target.memberId);
    case "token":
      return isComplex ? { format: "jwt_id", iss: issuer, jti: target.tokenId } : user(target.memberId);
    case "application":
      return isComplex ? complex({ application: opaque(target.clientId) }) : opaque(target.clientId);
    case "tenant":
      return isComplex ? complex({}) : opaque(orgId);
    case "stream":
      return opaque(target.streamId);
  }
}
