/** What a `traceparent` says (W3C Trace Context, level 1). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Later versions may have more fields at the end. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?=$|-)/;

const maxLength = 512;

/** Returns undefined for what is no `traceparent`, or not one alone: such a call begins a trace of its own. */
export function parseTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== "string" || header.length > maxLength) return undefined;
  const [whole, version, traceId, spanId, flags] = form.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "00" && whole !== header) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-0${isSampled ? 1 : 0}`;
}
