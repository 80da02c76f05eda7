import { readTimestamp } from "./read-timestamp.ts";

/** A type whose values are compared as a whole. */
interface Scalar {
  readonly sqlType: string;
  /** A description of valid values, for error messages. */
  readonly expected: string;
  /** Whether `<`, `<=`, `>` and `>=` are supported. */
  readonly ordered: boolean;
  /** Whether the type is a message in the proto, which can be unset and compared with `null`. */
  readonly isMessage: boolean;
  /** The default value, which counts as unset. A message is unset only if it is null. */
  readonly zero?: string;
  /** Parses a value in the notation of AIP-160; undefined if it is not valid. */
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

/** Reads a double. PostgreSQL rejects values that underflow; here they become 0. */
function readDouble(text: string): string | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? String(value) : undefined;
}

function readUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(lower) ? lower : undefined;
}
