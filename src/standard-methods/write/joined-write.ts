// Calls of methods that write in the transaction of the call that makes them, in process: all of them are committed, or none.
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Written } from "../../access/previews/preview.ts";
import type { WriteGroup } from "../../changes/write-group.ts";

/** The write whose transaction others share. */
export interface JoinedWrite {
  readonly group: WriteGroup;
  /** The changes to orgs that they wrote, for the preview of access. */
  readonly written: Written[];
}

const joinedKey = createContextKey<JoinedWrite | undefined>(undefined, {
  description: "the write whose transaction the call shares",
});

/** Lets the calls that are made with a context write in a transaction; undefined to end that. Nothing that comes over the wire sets it. */
export function joinWrites(values: ContextValues, joined: JoinedWrite | undefined): void {
  values.set(joinedKey, joined);
}

export function joinedOf(values: ContextValues): JoinedWrite | undefined {
  return values.get(joinedKey);
}
