import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "../../errors/service-error.ts";
import { renewTurnOf } from "../../turns/renew-turn.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { Draft, Outcome, ServedResource } from "../rules.ts";
import type { WriteRequest } from "./write-call.ts";

/**
 * Checks new resources as far as that needs no lock and may take long. Others run between two of them. The creation tells what is
 * wrong, in its order; so a repeated request gets its first answer.
 *
 * @param request whose turn others take; undefined under a lock, where it is kept.
 * @returns an outcome for each, up to the first one that is at fault; none if there is nothing to check.
 */
export async function checkNew<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row>,
  Checked,
>(
  { rules, dependencies }: ServedResource<Table, Row, Desc, NewRow, Checked>,
  messages: readonly MessageShape<Desc>[],
  request?: Pick<WriteRequest, "caller" | "signal">,
): Promise<readonly Outcome<Checked>[]> {
  const check = await rules.startCheck?.(messages);
  if (check === undefined) return [];
  const size = messages.length > 1 ? "large" : "long";
  const renew = request && renewTurnOf(dependencies.turns, request.caller, request.signal(), size);
  const outcomes: Outcome<Checked>[] = [];
  for (const message of messages) {
    const turn = renew?.();
    if (turn !== undefined) await turn;
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
