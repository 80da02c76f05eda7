import { type DescMethod, type Message, equals } from "@bufbuild/protobuf";

interface LoggedCall {
  readonly method: DescMethod;
  readonly request: Message;
}

/** The calls that the current screen has made, for showing how to make them in a shell. */
export interface CallLog {
  /** Keeps a call, unless the same one is there: screens ask some things again and again. */
  add: (call: LoggedCall) => void;
  /** Begins anew, for another screen. */
  clear: () => void;
  snapshot: () => readonly LoggedCall[];
  subscribe: (listener: () => void) => () => void;
}

/** The most calls that are kept. */
const limit = 120;

export function createCallLog(): CallLog {
  let calls: readonly LoggedCall[] = [];
  const listeners = new Set<() => void>();
  const set = (next: readonly LoggedCall[]): void => {
    calls = next;
    for (const listener of listeners) listener();
  };
  return {
    add(call) {
      if (!calls.some((made) => isSame(made, call))) set([...calls, call].slice(-limit));
    },
    clear: () => calls.length > 0 && set([]),
    snapshot: () => calls,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const isSame = (one: LoggedCall, other: LoggedCall): boolean =>
  one.method === other.method && equals(one.method.input, one.request, other.request);
