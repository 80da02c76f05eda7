// The span of which what runs now is a part. It follows a call through everything that the call waits for, so no function has to hand it
// on. Where calls do something for each other, as in batches and groups, it is said whose spans that belongs to.
import { AsyncLocalStorage } from "node:async_hooks";

/** Values that say what a span was about. They have nothing of a request's body, and no credentials. */
type Attributes = Readonly<Record<string, string | number>>;

/** A call to another service, such as the database, or a part of a call. */
type SpanKind = "client" | "internal";

/** A span that is recorded. Calls that are not sampled have none. */
export interface ActiveSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Begins a part of this span; undefined if its call is over, or has too many parts already. */
  begin(name: string, kind: SpanKind, attributes?: Attributes): ActiveSpan | undefined;
  /**
   * Ends it. What ends twice ended the first time.
   *
   * @param failure the code of an error of the service; undefined for none.
   * @param name replaces that with which it began.
   */
  end(attributes?: Attributes, failure?: string, name?: string): void;
  /** Returns this span, for what is done for other calls as well: the parts that it begins are linked with those. */
  sharedWith(others: readonly ActiveSpan[]): ActiveSpan;
}

const active = new AsyncLocalStorage<ActiveSpan | undefined>();

/** Returns the span of which what runs now is a part; undefined if there is none, or it is not recorded. */
export const activeSpan = (): ActiveSpan | undefined => active.getStore();

/** Runs a function as a part of a span, or of none. */
export function within<Result>(span: ActiveSpan | undefined, run: () => Result): Result {
  return activeSpan() === span ? run() : active.run(span, run);
}

/** Runs a function that is done for several calls at once, of which any may have no span. */
export function withinAll<Result>(spans: readonly (ActiveSpan | undefined)[], run: () => Result): Result {
  const [first, ...others] = new Set(spans.filter((span) => span !== undefined));
  return within(others.length === 0 ? first : first?.sharedWith(others), run);
}
