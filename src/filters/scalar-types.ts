import { readTimestamp } from "./read-timestamp.ts";

/** What is known of a type whose values are compared as a whole. */
interface Scalar {
  /** What PostgreSQL calls it. */
  readonly sqlType: string;
  /** What its values look like, for errors. */
  readonly expected: string;
  /** Whether it has `<` and the like. */
  readonly ordered: boolean;
  /** Whether it is a message in the proto: it can be unset, which `null` says. */
  readonly isMessage: boolean;
  /** The value that counts as not set; for messages there is none but null. */
  readonly zero?: string;
  /** Reads a value as AIP-160 writes it; undefined when it is none. */
  readonly read: (text: string) => string | undefined;
}

export type ScalarType = "timestamp" | "duration" | "integer" | "double" | "boolean" | "uuid";

export const scalarTypes: Readonly<Record<ScalarType, Scalar>> = {
  timestamp: {
    sqlType: "timestamptz",
    expected: "a time such as 2026-01-31T12:00:00Z (RFC 3339)",
    ordered: true,
    isMessage: true,
    read: readTimestamp,
  },
  duration: {
    sqlType: "interval",
    expected: "a number of seconds such as 20s or 1.5s",
    ordered: true,
    isMessage: true,
    read: (text) => (/^-?\d{1,12}(?:\.\d{1,6})?s$/.test(text) ? text : undefined),
  },
  integer: {
    sqlType: "bigint",
    expected: "a whole number of 64 bits",
    ordered: true,
    isMessage: false,
    zero: "0",
    read: readInteger,
  },
  double: {
    sqlType: "double precision",
    expected: "a number such as 42, -1.5 or 2.997e9",
    ordered: true,
    isMessage: false,
    zero: "0",
    read: readDouble,
  },
  boolean: {
    sqlType: "boolean",
    expected: "true or false",
    ordered: false,
    isMessage: false,
    zero: "false",
    read: (text) => (text === "true" || text === "false" ? text : undefined),
  },
  uuid: {
    sqlType: "uuid",
    expected: "a UUID such as 01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b",
    ordered: true,
    isMessage: false,
    read: readUuid,
  },
};

function readInteger(text: string): string | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? String(value) : undefined;
}

/** PostgreSQL refuses what is too small for a double; here it is 0. */
function readDouble(text: string): string | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? String(value) : undefined;
}

function readUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(lower) ? lower : undefined;
}
