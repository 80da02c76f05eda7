// Which addresses the service connects to on behalf of an org. An org chooses the URLs of its identity providers and webhooks, and must not
// reach with them what only this machine and its network reach.
import { containsAddress } from "../address-prefix.ts";

/** Also as IPv4-mapped IPv6. */
const allIPv4 = ["0.0.0.0/0"];

/** The IPv4 prefixes of the IANA registry of special-purpose addresses, multicast, and where a cloud answers its machines alone. */
const specialIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

/** All IPv6 addresses that are assigned to networks. */
const globalIPv6 = ["2000::/3"];

/** Those of them that are not: Teredo and other protocols, documentation, 6to4, which contains IPv4 addresses. */
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** The addresses at which a URL may be `http`. */
const loopback = ["127.0.0.0/8", "::1/128"];

/**
 * Reports whether the service may connect to an address: a public one, or one in a network that the operator allows.
 *
 * @param address as `dns.lookup` returns it.
 * @param networks prefixes in canonical form.
 */
export function mayConnect(address: string, networks: readonly string[]): boolean {
  // An address with a zone, `fe80::1%eth0`, is local.
  if (address.includes("%")) return false;
  if (containsAddress(networks, address)) return true;
  if (containsAddress(allIPv4, address)) return !containsAddress(specialIPv4, address);
  return containsAddress(globalIPv6, address) && !containsAddress(specialIPv6, address);
}

/** Reports whether an address is of this machine, and the operator allows it. */
export function isAllowedLoopback(address: string, networks: readonly string[]): boolean {
  return containsAddress(loopback, address) && containsAddress(networks, address);
}
