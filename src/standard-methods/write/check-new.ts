import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "../../errors/service-error.ts";
import { renewTurnOf } from "../../turns/renew-turn.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteRequest } from "./write-call.ts";

/**
 * Checks new resources as far as that needs nothing but their messages and may take long, before any lock. Others run between two
 * of them. The creation tells what is wrong, in its order; so a repeated request gets its first answer.
 */
export async function checkNew<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { rules, dependencies }: ServedResource<Table, Row, Desc>,
  { caller, signal }: WriteRequest,
  messages: readonly MessageShape<Desc>[],
): Promise<void> {
  const check = rules.startCheck?.();
  if (check === undefined) return;
  const renew = renewTurnOf(dependencies.turns, caller, signal(), messages.length > 1 ? "large" : "long");
  for (const message of messages) {
    const turn = renew();
    if (turn !== undefined) await turn;
    try {
      check(message);
    } catch (error) {
      if (error instanceof ServiceError) return;
      throw error;
    }
  }
}

/** Returns a check that runs once for each message: before the lock, or under it if it did not run before. Then it tells the same. */
export function onceForEach<Message extends object, Rest extends unknown[], Result>(
  check: (message: Message, ...rest: Rest) => Result,
): (message: Message, ...rest: Rest) => Result {
  const outcomes = new WeakMap<Message, () => Result>();
  const run = (message: Message, rest: Rest): (() => Result) => {
    try {
      const result = check(message, ...rest);
      return () => result;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  };
  return (message, ...rest) => {
    const outcome = outcomes.get(message) ?? run(message, rest);
    outcomes.set(message, outcome);
    return outcome();
  };
}
