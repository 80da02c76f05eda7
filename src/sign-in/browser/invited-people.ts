// The cookie with the person who has signed in for an invitation: encrypted, and good for this invitation alone.
import type { Sealer } from "../../identity/sealer.ts";
import { parseSecretHandle } from "../../identity/secret-handle.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import type { InvitedPerson } from "../../iam/sign-in/invitations.ts";
import { invitedCookie, readCookie, setCookie } from "./cookie.ts";

export interface InvitedPeople {
  /** Returns the person of a browser, who has signed in for the invitation of a secret; undefined for nobody, or if that is too long ago. */
  read(request: HttpRequest, secret: string): InvitedPerson | undefined;
  /** Returns the value of a header that keeps a person for the invitation of a secret; undefined for a text that is none. */
  keep(person: InvitedPerson, secret: string): string | undefined;
}

/** How long a person may take to decide, in seconds. */
const personSeconds = 900;

interface SealedPerson extends InvitedPerson {
  /** In milliseconds. */
  readonly expireTime: number;
}

export function createInvitedPeople(sealer: Pick<Sealer, "seal" | "open">): InvitedPeople {
  return {
    read(request, secret) {
      const [cookie, handle] = [readCookie(request, invitedCookie), parseSecretHandle(secret)];
      if (cookie === undefined || handle === undefined) return undefined;
      const opened = sealer.open("invited person", handle.id, Buffer.from(cookie, "base64url"));
      const person = opened && (JSON.parse(opened.toString()) as SealedPerson);
      return person !== undefined && person.expireTime > Date.now() ? person : undefined;
    },

    keep({ subject, providerId, providerName, claims }, secret) {
      const handle = parseSecretHandle(secret);
      if (handle === undefined) return undefined;
      const expireTime = Date.now() + personSeconds * 1000;
      const person: SealedPerson = { subject, providerId, providerName, claims, expireTime };
      const sealed = sealer.seal("invited person", handle.id, Buffer.from(JSON.stringify(person)));
      return `${setCookie(sealed.toString("base64url"), invitedCookie)}; Max-Age=${personSeconds}`;
    },
  };
}
