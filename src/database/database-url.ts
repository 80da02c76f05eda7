/*
 * The address of a database, as a URL of libpq:
 *
 *   URL        = ( "postgres" / "postgresql" ) "://" [ user [ ":" password ] "@" ] [ host-list ] [ "/" database ] [ "?" parameters ]
 *   host-list  = host [ ":" port ] *( "," host [ ":" port ] )
 *   host       = name / IPv4 address / "[" IPv6 address "]" / path of a directory with a socket, percent-encoded
 *
 * Only the parameters below are known: libpq and pg read some others differently, and a misspelt one would be ignored.
 */
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { isThisMachine } from "./this-machine.ts";

export interface Host {
  /** A name, an address, or the directory of a socket. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseUrl {
  /** One of these is the primary; the others are its standbys. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly ssl: TlsSettings | false;
  /** How long it may take to connect, in milliseconds. */
  readonly connectMs: number;
}

export interface TlsSettings extends Pick<ConnectionOptions, "rejectUnauthorized"> {
  /** The files of the certificate authorities, and of the certificate and key of the client. */
  readonly files: Readonly<Partial<Record<"ca" | "cert" | "key", string>>>;
}

/** A URL cannot be used. The message says what is wrong with it, without repeating what may be a password. */
export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

const form = "must be a URL of the form postgres://user:password@host:5432/database";

/** What each mode of encryption does. Those of libpq that encrypt without checking who answers check it here. */
const modes: ReadonlyMap<string, "off" | "verified" | "unverified"> = new Map([
  ["disable", "off"],
  ["no-verify", "unverified"],
  ["require", "verified"],
  ["verify-ca", "verified"],
  ["verify-full", "verified"],
]);

/** Which file each of these parameters names. */
export const tlsFileParameters = { sslrootcert: "ca", sslcert: "cert", sslkey: "key" } as const;

const parameters = [
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  ...Object.keys(tlsFileParameters),
  "target_session_attrs",
  "connect_timeout",
];

/** In milliseconds. libpq waits without an end by default, and calls would wait for a host that is gone. */
export const usualConnectMs = 5_000;
const maxConnectSeconds = 60;

/** @throws DatabaseUrlError */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const matched = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/i.exec(text);
  if (matched === null) throw new DatabaseUrlError(form);
  const [, login = "", hostList = "", path = "", query = ""] = matched;
  const given = readParameters(query);
  const [user, password] = login.split(/:(.*)/s, 2);
  const hosts = readHosts(given.get("host")?.split(",") ?? hostList.split(","), given.get("port"));
  const isPath = given.has("host") && hostList !== "" && hostList !== "localhost" && !hosts.every(isLocal);
  if (isPath) throw new DatabaseUrlError("names hosts both before the path and in the parameter host: use one of them");
  return {
    hosts,
    user: given.get("user") ?? textOf(user),
    password: given.get("password") ?? textOf(password),
    database: given.get("dbname") ?? textOf(path),
    ssl: readTls(given, hosts),
    connectMs: readConnectMs(given.get("connect_timeout")),
  };
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "options") {
      throw new DatabaseUrlError(
        "has the parameter options, which would replace the limits of time that Tenantry sets; set others for its role: alter role ... set ...",
      );
    }
    if (!parameters.includes(name)) {
      throw new DatabaseUrlError(
        `has the parameter ${JSON.stringify(name)}, which is not known; those are ${parameters.join(", ")}`,
      );
    }
    if (given.has(name)) throw new DatabaseUrlError(`has the parameter ${name} twice`);
    given.set(name, value);
  }
  const session = given.get("target_session_attrs") ?? "primary";
  if (!["primary", "read-write"].includes(session)) {
    throw new DatabaseUrlError(
      "has target_session_attrs with a value other than primary and read-write: Tenantry needs the primary",
    );
  }
  return given;
}

function readConnectMs(seconds: string | undefined): number {
  if (seconds === undefined) return usualConnectMs;
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > maxConnectSeconds) {
    throw new DatabaseUrlError(`has a connect_timeout that is not a number of seconds from 1 to ${maxConnectSeconds}`);
  }
  return Number(seconds) * 1_000;
}

function readHosts(texts: readonly string[], portList: string | undefined): DatabaseUrl["hosts"] {
  const ports = portList?.split(",") ?? [];
  if (ports.length > 1 && ports.length !== texts.length) {
    throw new DatabaseUrlError("has another number of ports than of hosts");
  }
  const [first, ...others] = texts.map((text, index) => readHost(text, ports.length === 1 ? ports[0] : ports[index]));
  if (first === undefined) throw new DatabaseUrlError(form);
  return [first, ...others];
}

function readHost(text: string, portParameter: string | undefined): Host {
  const matched = /^(?:\[([0-9a-f:.]+)\]|([^[\]:]*))(?::(\d*))?$/i.exec(text);
  // The parameter `host` may have an address of IPv6 without brackets, and a path with anything.
  const isBare = isIP(text) === 6 || text.startsWith("/");
  if (matched === null && !isBare) throw new DatabaseUrlError(form);
  const [, bracketed, name, ownPort] = isBare ? [text, text] : (matched ?? []);
  const host = textOf(bracketed ?? name) ?? "localhost";
  const port = textOf(ownPort) ?? textOf(portParameter) ?? "5432";
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new DatabaseUrlError("has a port that is not a number from 1 to 65535");
  }
  return { host, port: Number(port) };
}

/** Whether a host is this machine. */
function isLocal({ host }: Host): boolean {
  return host.startsWith("/") || isThisMachine(host);
}

function readTls(given: ReadonlyMap<string, string>, hosts: DatabaseUrl["hosts"]): DatabaseUrl["ssl"] {
  const named = Object.entries(tlsFileParameters).flatMap(([name, field]) => {
    const file = given.get(name);
    // `system` is what libpq calls the authorities of the system, which are trusted by default here.
    return file === undefined || (name === "sslrootcert" && file === "system") ? [] : [[field, file] as const];
  });
  const mode = given.get("sslmode") ?? (named.length > 0 || given.has("sslrootcert") ? "verify-full" : undefined);
  const other = hosts.find((host) => !isLocal(host));
  if (mode === undefined) {
    if (other === undefined) return false;
    throw new DatabaseUrlError(
      `leads to another machine and has no sslmode: add sslmode=verify-full, with sslrootcert=FILE for a certificate authority of your own, or sslmode=disable to send everything in plain text`,
    );
  }
  const what = modes.get(mode);
  if (what === undefined) {
    throw new DatabaseUrlError(
      `has an sslmode that is not one of ${[...modes.keys()].join(", ")}${["allow", "prefer"].includes(mode) ? ": one that may send everything in plain text is not accepted" : ""}`,
    );
  }
  if (what === "off") return false;
  return { rejectUnauthorized: what === "verified", files: Object.fromEntries(named) };
}

/** Returns a part of the URL as text; undefined if it is empty. */
function textOf(part: string | undefined): string | undefined {
  if (part === undefined || part === "") return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw new DatabaseUrlError("has a % that is not followed by two hexadecimal digits; write % as %25");
  }
}
