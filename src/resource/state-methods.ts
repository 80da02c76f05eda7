// The methods by which a resource changes its state (AIP-164, 165, 216).
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Reference } from "../paths/resource-path.ts";
import type { Transition } from "./lifecycle.ts";
import type { ResourceWriter } from "./resource-writer.ts";
import type { Resource, ResourceRow } from "./resource.ts";
import type { WriteRequest } from "./write-request.ts";

/** Makes a transition; answers the resource. */
export type StateMethod = (path: readonly Reference[], etag: string, request: WriteRequest) => Promise<Message>;

export function createStateMethod<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
  writer: ResourceWriter<Desc, Row>,
  transition: Transition,
): StateMethod {
  return (path, etag, request) =>
    writer.run(request, async (db) => {
      await resource.lockBefore?.(db, [path]);
      const row = await writer.inScope(db, path, request, async (transaction) => {
        const found = await resource.find(transaction.db, path);
        return writer.change(transaction, writer.requireFound(found, path, etag), transition);
      });
      return writer.answer(request, row);
    });
}
