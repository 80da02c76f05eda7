import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "../../errors/service-error.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { Draft, Outcome, ServedResource } from "../rules.ts";

/**
 * Checks new resources as far as that needs no lock and may take long. Others run between two of them. The creation tells what is
 * wrong, in its order; so a repeated request gets its first answer.
 *
 * @param slices of the call; undefined under a lock, where nobody runs in between.
 * @returns an outcome for each, up to the first one that is at fault; none if there is nothing to check.
 */
export async function checkNew<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row>,
  Checked,
>(
  { rules }: Pick<ServedResource<Table, Row, Desc, NewRow, Checked>, "rules">,
  messages: readonly MessageShape<Desc>[],
  slices?: CallSlices,
): Promise<readonly Outcome<Checked>[]> {
  const check = await rules.startCheck?.(messages);
  if (check === undefined) return [];
  const outcomes: Outcome<Checked>[] = [];
  for (const message of messages) {
    const slice = slices?.next();
    if (slice !== undefined) await slice;
    try {
      const found = check(message);
      outcomes.push(() => found);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      outcomes.push(() => {
        throw error;
      });
      break;
    }
  }
  return outcomes;
}
