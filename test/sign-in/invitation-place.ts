// The browser of an invited person: it opens the link, signs in at a real provider, and decides.
import { simpleParser } from "mailparser";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { expect } from "vitest";
import { required } from "../../src/errors/required.ts";
import { parseSecretHandle } from "../../src/identity/secret-handle.ts";
import { passThrough } from "../support/openid-issuers.ts";
import { type LinkedProvider, ofPage } from "./provider-place.ts";

interface Answered {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** A browser with the cookies that the service has set. */
export interface Browser {
  readonly cookies: ReadonlyMap<string, string>;
  get(path: string): Promise<Answered>;
  /** Sends a form of a page of the service. */
  post(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Answered>;
  /** Opens a link: its page, and the form that the script fills in. */
  open(link: string): Promise<Answered>;
  /** Signs in at a provider for the invitation that is open. */
  signIn(provider: LinkedProvider, again?: boolean): Promise<Answered>;
  /** Sends the decision of the page of an invitation; without its id, of the one that is open. */
  decide(decision: string, headers?: Record<string, string>, invitation?: string): Promise<Answered>;
}

const page = "/sign-in/invitation";

export function openBrowser(url: string): Browser {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit, headers: Record<string, string> = {}): Promise<Answered> => {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(`${url}${path}`, { ...init, headers: { ...headers, cookie }, redirect: "manual" });
    for (const each of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, location: response.headers.get("location"), text: await response.text() };
  };
  const browser: Browser = {
    cookies,
    get: (path) => send(path, {}),
    post: (path, form = {}, headers = ofPage) =>
      send(path, { method: "POST", body: new URLSearchParams(form) }, headers),
    async open(link) {
      const { pathname, hash } = new URL(link);
      expect((await browser.get(pathname)).text).toContain('name="code"');
      const taken = await browser.post(pathname, { code: hash.slice(1) });
      return taken.location === null ? taken : browser.get(taken.location);
    },
    async signIn(provider, again = false) {
      const form = { provider: provider.id, return_to: page, ...(again && { again: "1" }) };
      const started = await browser.post("/sign-in/start", form);
      expect(started.status).toBe(303);
      const back = await passThrough(required(started.location), provider.redirectUri);
      const returned = await browser.get(`${back.pathname}${back.search}`);
      return returned.location === null ? returned : browser.get(returned.location);
    },
    decide(decision, headers = ofPage, invitation = openIn(cookies)) {
      return browser.post(`${page}/decision`, { decision, invitation }, headers);
    },
  };
  return browser;
}

const openIn = (cookies: Browser["cookies"]): string =>
  parseSecretHandle(cookies.get("__Host-tenantry-invitation") ?? "")?.id ?? "";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** What the server got, headers and body. */
  readonly raw: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailServer {
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** The addresses that it refuses. */
  readonly refused: Set<string>;
  /** How many connections have ended. */
  readonly ended: () => number;
  close(): Promise<void>;
}

/** A real SMTP server on loopback, which says nothing of a recipient before a promise is resolved. */
export async function startMailServer(held = Promise.resolve()): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refused = new Set<string>();
  let ended = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo({ address }, _session, done) {
      const problem = refused.has(address) ? Object.assign(new Error("no such mailbox"), { responseCode: 550 }) : null;
      void held.then(() => done(problem));
    },
    onClose: () => void ended++,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        void simpleParser(raw).then(({ subject = "", text = "" }) => {
          mails.push({ from, to, raw, subject, text });
          done();
        });
      });
    },
  });
  // A client that has gone.
  server.on("error", () => {});
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refused,
    ended: () => ended,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Returns the link in a mail. */
export const linkIn = ({ text }: ReceivedMail): string => required(/https:\S+#\S+/.exec(text))[0];
