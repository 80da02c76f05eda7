import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { ResourceRow, ResourceTable, TypedDefinition } from "../definition/definition.ts";
import type { Transition } from "../definition/lifecycle.ts";
import { idOf } from "../rows/row-key.ts";
import type { ResourceDependencies } from "../rules.ts";

/** Lets everything that subscribes to the transitions of a resource follow one, before the row is changed. */
export async function followTransition<Table extends ResourceTable, Row extends ResourceRow>(
  { registry, authorHolds }: Pick<ResourceDependencies, "registry" | "authorHolds">,
  transaction: OrgTransaction,
  definition: TypedDefinition<Table, Row>,
  row: Row,
  { transition, force }: { readonly transition: Transition; readonly force: boolean },
): Promise<void> {
  for (const { follow } of registry.followersOf(definition.type)) {
    const id = idOf(definition, row);
    const what = `the ${definition.label.one}`;
    await follow(transaction, { id, what, path: definition.pathOf(row), transition, force, authorHolds });
  }
}
