// What stands in the way of a plan: what a file would do without saying so.
import { isMessage } from "@bufbuild/protobuf";
import { ClientSchema } from "../../gen/iam/v1alpha/client_pb.ts";
import { manyOf } from "./file-resources.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { OrgFile } from "./read-file.ts";
import type { OrgState } from "./read-state.ts";
import type { StateResource } from "./state-resource.ts";

/** A part of a file, or one from before the policy, does not remove the rules for keys without a word. */
export function lostPolicy({ org }: OrgState, file: OrgFile): readonly string[] {
  if (org.apiKeyPolicy === undefined || file.org.apiKeyPolicy !== undefined) return [];
  return [
    "the api_key_policy of the org would be removed: the file must have one; to remove it, update the org itself",
  ];
}

/** A client without scopes may ask for all. An entry with only a name, or from before the scopes, does not widen it without a word. */
export function lostScopes(changes: readonly PlannedChange[]): readonly string[] {
  return changes.flatMap(({ action, fields, path, message }) =>
    action === "update" && fields.includes("scopes") && isMessage(message, ClientSchema) && message.scopes.length === 0
      ? [`${path} has no scopes in the file, and could ask for all: name its scopes, or "*" for all`]
      : [],
  );
}

/** Returns what is refused because a large part of the org would be removed, for each type. One may always be. */
export function tooManyRemovals({ resources }: OrgState, removed: readonly StateResource[], percent: number): string[] {
  return [...Map.groupBy(removed, ({ type }) => type)].flatMap(([type, { length }]) => {
    const total = resources.filter((each) => each.type === type).length;
    const most = Math.max(1, Math.floor((total * percent) / 100));
    if (length <= most) return [];
    return [
      `${length} of ${total} ${manyOf(type)} would be removed, and at most ${most} may be: see max_removal_percent`,
    ];
  });
}
