import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { StateAction } from "./state-action.ts";

interface InState {
  readonly state: number;
}

type Run = StateAction<unknown>["run"];

/** The states that resources of a kind can have, as its enum has them. */
type States<Name extends string> = Readonly<Record<Name, number>>;

/**
 * What suspends resources, and activates them again.
 *
 * @param kind what permissions begin with, such as `iam.projects`.
 */
export const suspension = <Resource extends InState>(
  kind: string,
  states: States<"ACTIVE" | "SUSPENDED">,
  calls: { readonly suspend: Run; readonly activate: Run },
): readonly StateAction<Resource>[] => [
  {
    act: lifecycleTexts.suspend,
    intro: lifecycleTexts.suspendIntro,
    done: texts.done.suspended,
    kind: "danger",
    permission: `${kind}.suspend`,
    fits: ({ state }) => state === states.ACTIVE,
    run: calls.suspend,
  },
  {
    act: lifecycleTexts.activate,
    intro: lifecycleTexts.activateIntro,
    done: texts.done.activated,
    kind: "plain",
    permission: `${kind}.activate`,
    fits: ({ state }) => state === states.SUSPENDED,
    run: calls.activate,
  },
];

/**
 * What restores resources that are deleted.
 *
 * @param kind what permissions begin with, such as `iam.projects`.
 * @param intro what is said before.
 */
export const restoration = <Resource extends InState>(
  kind: string,
  states: States<"DELETED">,
  intro: string,
  run: Run,
): StateAction<Resource> => ({
  act: lifecycleTexts.restore,
  intro,
  done: lifecycleTexts.restored,
  kind: "plain",
  permission: `${kind}.undelete`,
  fits: ({ state }) => state === states.DELETED,
  run,
});
