// Sends mails through the mail server of the settings. A mail has one recipient, who is told to the server apart from what the mail says, so
// that nothing in it is read as another address.
import type { Logger } from "pino";
import { ServiceError } from "../../errors/service-error.ts";
import { isThisMachine } from "../../database/this-machine.ts";
import { createSlots } from "./slots.ts";

/** Where mails are sent, and from whom. */
export interface MailSettings {
  /** `smtp://user:password@mail.example.com:587` */
  readonly url: string;
  /** The address of the sender. */
  readonly from: string;
}

interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mailer {
  /**
   * Sends a mail.
   *
   * @param orgId the org for which it is sent, which has its share of the connections.
   * @returns why it was not sent; undefined when the mail server has taken it.
   */
  send(orgId: string, mail: Mail): Promise<string | undefined>;
  close(): void;
}

/** The maximum number of mails that wait for the server at once: of an org, and of all. */
const slots = { perKey: 8, total: 64 };

/** How long the server may take for each step, and for all of them, in milliseconds. */
const stepMs = 8_000;
const wholeMs = 15_000;

const maxConnections = 8;

/**
 * Returns what sends mails. The library is loaded with the first one.
 *
 * @param limitMs how long the server may take for a mail, in milliseconds.
 */
export function createMailer({ url, from }: MailSettings, logger: Logger, limitMs = wholeMs): Mailer {
  const withSlot = createSlots({
    ...slots,
    full: () => new ServiceError("SERVICE_UNAVAILABLE", "too many mails of the org are being sent"),
  });
  let transport: ReturnType<typeof openTransport> | undefined;

  const deliver = async ({ to, subject, text }: Mail): Promise<void> => {
    transport ??= openTransport(url);
    const opened = await transport;
    await opened.sendMail({
      from: { name: "", address: from },
      to: { name: "", address: to },
      envelope: { from, to: [to] },
      subject,
      text,
      // RFC 3834: no automatic answers, please.
      headers: { "Auto-Submitted": "auto-generated" },
      disableFileAccess: true,
      disableUrlAccess: true,
      // A server that sends a byte now and then does not keep the caller waiting. The connection is closed, so that a mail which was not sent
      // until then is not sent later either.
      signal: AbortSignal.timeout(limitMs),
    });
  };

  return {
    async send(orgId, mail) {
      try {
        await withSlot(orgId, () => deliver(mail));
        return undefined;
      } catch (error) {
        const problem = describe(error);
        // Neither the address nor the words of the server.
        logger.warn({ orgId, problem }, "a mail was not sent");
        return problem;
      }
    },
    close() {
      void transport?.then((opened) => opened.close());
    },
  };
}

async function openTransport(text: string) {
  const { createTransport } = await import("nodemailer");
  const { protocol, hostname, port, username, password } = new URL(text);
  const secure = protocol === "smtps:";
  const hasUser = username !== "";
  return createTransport({
    pool: true,
    maxConnections,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is sent encrypted, or within this machine.
    requireTLS: hasUser && !secure && !isThisMachine(hostname),
    ...(hasUser && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    // A connection that is given up takes nothing more.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Says what went wrong, without the texts of the server, which may name what is inside of the network. */
function describe(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  const { responseCode, code } = error as { readonly responseCode?: unknown; readonly code?: unknown };
  if (typeof responseCode === "number") {
    return code === "EAUTH"
      ? `the mail server refused the user or password of this service (${responseCode})`
      : `the mail server refused the mail (${responseCode})`;
  }
  return typeof code === "string" && code !== "EABORT"
    ? `the mail server cannot be used (${code})`
    : "the mail server does not answer in time";
}
