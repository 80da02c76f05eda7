// Handlers of Create, Update, Delete and of transitions (AIP-133, 134, 135, 164, 216). Each reads the fields that all writes share, and
// runs its write in a transaction.
import { type DescMessage, create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { targetOf } from "../../access/evaluation/call.ts";
import { isOftenWithoutAccess } from "../../changes/access-change.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { Transition } from "../definition/lifecycle.ts";
import { type AddHandler, readWriteRequest, resourceField } from "../method-handler.ts";
import type { ServedResource } from "../rules.ts";
import { checkNew } from "./check-new.ts";
import { createAll } from "./create.ts";
import { deleteOne } from "./delete-one.ts";
import { changeState } from "./transition.ts";
import { updateOne } from "./update.ts";
import { type WriteRequest, runWrite } from "./write-call.ts";

/** State transitions by the verb of their method. */
const stateVerbs: Readonly<Record<string, Transition>> = {
  Undelete: "undelete",
  Suspend: "suspend",
  Activate: "activate",
  Purge: "purge",
};

export function addWriteHandlers<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  add: AddHandler,
  served: ServedResource<Table, Row, Desc>,
  parentOf: (context: HandlerContext) => readonly Reference[],
): void {
  const { definition, rules, dependencies, place } = served;
  const { schema, label } = definition;
  const { pattern } = place;
  // What changes access, or may take long, does not share a transaction.
  const isShared = isOftenWithoutAccess(definition.type) && rules.scope.kind === "parent";

  add("Create", "one", (method) => {
    if (rules.creation.kind === "with another")
      throw new Error(`${method.name}: the rules have no creation of a ${label.one} on its own`);
    const field = resourceField(method.input, schema);
    return async (request, context) => {
      const message = field.read(request);
      const write = shareIf(isShared, readWriteRequest(method, request, context));
      const parent = parentOf(context);
      const checked = await checkNew(served, [message], write.slices);
      return runWrite(
        dependencies,
        write,
        async (call) => {
          const [row] = await createAll(served, call, { parents: [parent], messages: [message], checked });
          return definition.toMessage(required(row));
        },
        definition.withoutSecrets,
      );
    };
  });

  add("Update", "one", (method) => {
    const { name, read } = resourceField(method.input, schema);
    return async (request, context) => {
      const update = { patch: read(request), mask: request.updateMask, field: name };
      const path = targetOf(context, pattern);
      const write = shareIf(isShared, readWriteRequest(method, request, context));
      return runWrite(
        dependencies,
        write,
        async (call) => definition.toMessage(await updateOne(served, call, path, update)),
        definition.withoutSecrets,
      );
    };
  });

  add("Delete", "one", (method) => async (request, context) => {
    const path = targetOf(context, pattern);
    const write = readWriteRequest(method, request, context);
    return runWrite(dependencies, write, async (call) => {
      const row = await deleteOne(served, call, path, request.etag);
      return row === null ? create(method.output) : definition.toMessage(row);
    });
  });

  for (const [verb, transition] of Object.entries(stateVerbs)) {
    add(verb, "one", (method) => async (request, context) => {
      const path = targetOf(context, pattern);
      const write = readWriteRequest(method, request, context);
      return runWrite(dependencies, write, async (call) =>
        definition.toMessage(await changeState(served, call, path, request.etag, transition)),
      );
    });
  }
}

/** Returns a write that may share a transaction with others of its org, if `isShared`. */
function shareIf(isShared: boolean, write: WriteRequest): WriteRequest {
  return isShared && write.org !== undefined ? { ...write, shared: { org: write.org } } : write;
}
