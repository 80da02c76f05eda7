import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { AtItem } from "../batch/batch-item.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { RowWrite, ServedResource } from "../rules.ts";

/**
 * Checks that the caller may take away what the writes take from others, before they are made.
 *
 * @throws ServiceError REVOKE_EXCEEDS_OWN that names the item.
 */
export async function requireMayRevoke<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { rules: { revokes }, dependencies: { escalation } }: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  writes: readonly RowWrite<Row>[],
  atItem: AtItem,
): Promise<void> {
  if (revokes === "nothing") return;
  const revocations = writes.map(revokes);
  if (revocations.every(({ length }) => length === 0)) return;
  try {
    await escalation.requireMayRevoke(transaction, revocations.flat());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // All are checked together, for the sake of time. To name the item, they are checked again one by one.
    for (const [index, each] of revocations.entries()) {
      await atItem(index, () => escalation.requireMayRevoke(transaction, each));
    }
    throw error;
  }
}
