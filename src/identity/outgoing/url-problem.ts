import { isIP } from "node:net";
import { isAllowedLoopback, mayConnect } from "./public-address.ts";

/**
 * Returns why the service does not connect to a URL, as a phrase that follows its name; undefined if it may. A host name is
 * resolved, and its addresses are checked, when the service connects to it.
 *
 * @param networks the prefixes of addresses, besides public ones, that the operator allows.
 */
export function findUrlProblem(
  text: string,
  networks: readonly string[],
  example = "https://login.example.com",
): string | undefined {
  if (!URL.canParse(text)) return `must be a URL such as ${example}, got ${quote(text)}`;
  const { protocol, hostname, username, password } = new URL(text);
  // `URL` writes IPv4 addresses in decimal and IPv6 addresses in brackets, whatever their spelling was.
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const isAddress = isIP(host) !== 0;
  const isPlain = protocol === "http:" && isAddress && isAllowedLoopback(host, networks);
  if (protocol !== "https:" && !isPlain) return `must begin with https://, got ${quote(text)}`;
  if (`${username}${password}` !== "") return "must not contain a user name or password";
  if (host.endsWith(".")) return `must name its host without a dot at the end, got ${quote(hostname)}`;
  if (isAddress && !mayConnect(host, networks)) return `must be at a public address, got ${host}`;
  if (/(^|\.)localhost$/.test(host)) return `must be at a public address, got ${host}`;
  return undefined;
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 200));
