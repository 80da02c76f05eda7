import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "../../errors/service-error.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { Draft, Outcome, ServedResource } from "../rules.ts";

/**
 * Runs the checks of new resources that need no lock and may take long. An error is not thrown here but by the creation, which first
 * looks whether the request is a repeated one, and has an order of its own for what it checks.
 *
 * @param slices of the call: each resource is checked in a slice of its own. Undefined under a lock, which nobody may wait for so long.
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
