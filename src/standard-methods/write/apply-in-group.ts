// Makes planned changes in the transaction of a call, under the lock of the org: all of them, or none.
import type { HandlerContext } from "@connectrpc/connect";
import { type WriteGroup, beginGroup, endGroup } from "../../changes/write-group.ts";
import { joinWrites } from "./joined-write.ts";
import type { WriteCall } from "./write-call.ts";

/**
 * Takes the lock of an org, and calls what makes changes while the calls of a context write in the transaction. Its author must still be allowed
 * to make the call.
 *
 * @param check throws if what the changes were planned from is not what there is.
 * @returns the revision after the changes.
 */
export async function applyInGroup(
  context: HandlerContext,
  { db, request, written }: WriteCall,
  orgId: string,
  check: (group: WriteGroup) => Promise<void> | void,
  apply: (group: WriteGroup) => Promise<void>,
): Promise<string> {
  const group = await beginGroup(db, { org: { by: "id", value: orgId } }, request.remainingMs());
  // Who may no longer make the call is not told more.
  await request.author.confirm(db, group.org);
  await check(group);
  joinWrites(context.values, { group, written });
  try {
    await apply(group);
  } finally {
    joinWrites(context.values, undefined);
  }
  endGroup(group);
  return group.written.revision;
}
