// Prefixes of IP addresses (CIDR, RFC 4632 and RFC 4291). An IPv4 address is one address in all its spellings: also as
// IPv4-mapped IPv6, `::ffff:192.0.2.7` and `::ffff:c000:207`. IPv6 prefixes do not contain IPv4 addresses.
import { SocketAddress, isIPv4, isIPv6 } from "node:net";

interface AddressPrefix {
  /** Of 128 bits; an IPv4 address is mapped to IPv6. */
  readonly address: bigint;
  /** The number of leading bits that count. */
  readonly length: number;
}

const bits = 128;

/** The number of bits of `::ffff:0:0/96`, which contains the IPv4 addresses. */
const mappedLength = 96;
const mapped = 0xffffn;

/**
 * Returns an address or prefix in canonical form, with its length: `192.0.2.7/32`, `2001:db8::/32`.
 *
 * @returns undefined for a text that is neither, or for a prefix with other bits set than those that count.
 */
export function canonicalPrefix(text: string): string | undefined {
  const prefix = parsePrefix(text);
  if (prefix === undefined || (prefix.address & hostMask(prefix.length)) !== 0n) return undefined;
  return isMapped(prefix)
    ? `${formatIPv4(prefix.address)}/${prefix.length - mappedLength}`
    : `${formatIPv6(prefix.address)}/${prefix.length}`;
}

/**
 * Reports whether any of these prefixes contains an address.
 *
 * @param prefixes in canonical form.
 * @param address null if it is not known; no prefix contains it then.
 */
export function containsAddress(prefixes: readonly string[], address: string | null): boolean {
  const value = address === null ? undefined : parseAddress(address);
  if (value === undefined) return false;
  const own = { address: value, length: bits };
  return prefixes.some((text) => contains(parsePrefix(text), own));
}

/**
 * Reports whether any of these prefixes contains another one.
 *
 * @param prefixes in canonical form, as the other one is.
 */
export function containsPrefix(prefixes: readonly string[], other: string): boolean {
  const inner = parsePrefix(other);
  return inner !== undefined && prefixes.some((text) => contains(parsePrefix(text), inner));
}

function contains(outer: AddressPrefix | undefined, inner: AddressPrefix): boolean {
  if (outer === undefined || outer.length > inner.length || isMapped(outer) !== isMapped(inner)) return false;
  const rest = BigInt(bits - outer.length);
  return outer.address >> rest === inner.address >> rest;
}

/** Returns what stands for the client at an address: an IPv4 address, or the /64 of an IPv6 address, in which a client may have any. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const value = parseAddress(address.replace(/%.*$/, ""));
  if (value === undefined) return address;
  const own = { address: value, length: bits };
  return isMapped(own) ? formatIPv4(value) : `${formatIPv6((value >> 64n) << 64n)}/64`;
}

function parsePrefix(text: string): AddressPrefix | undefined {
  const [, name = "", digits] = /^([0-9a-fA-F.:]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseAddress(name);
  if (address === undefined) return undefined;
  const offset = isIPv4(name) ? mappedLength : 0;
  const length = digits === undefined ? bits : Number(digits) + offset;
  return length > bits ? undefined : { address, length };
}

function parseAddress(text: string): bigint | undefined {
  if (isIPv4(text)) return (mapped << 32n) | parseIPv4(text);
  if (!isIPv6(text)) return undefined;
  const [start = "", end] = withoutDots(text).split("::");
  const [leading, trailing] = [groupsOf(start), groupsOf(end ?? "")];
  const between = Array.from({ length: 8 - leading.length - trailing.length }, () => 0n);
  return [...leading, ...between, ...trailing].reduce((sum, group) => (sum << 16n) | group, 0n);
}

function parseIPv4(text: string): bigint {
  return text.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

/** Writes the end of an IPv6 address as two groups if it is an IPv4 address. */
function withoutDots(text: string): string {
  const end = text.slice(text.lastIndexOf(":") + 1);
  if (!end.includes(".")) return text;
  const value = parseIPv4(end);
  return `${text.slice(0, -end.length)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function groupsOf(text: string): bigint[] {
  return text === "" ? [] : text.split(":").map((group) => BigInt(`0x${group}`));
}

function isMapped({ address, length }: AddressPrefix): boolean {
  return length >= mappedLength && address >> 32n === mapped;
}

const hostMask = (length: number): bigint => (1n << BigInt(bits - length)) - 1n;

function formatIPv4(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 0xffn)).join(".");
}

/** RFC 5952. */
function formatIPv6(address: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(112 - index * 16)) & 0xffffn).toString(16),
  );
  return new SocketAddress({ address: groups.join(":"), family: "ipv6" }).address;
}
