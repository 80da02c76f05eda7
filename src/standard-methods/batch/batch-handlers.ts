// Handlers of BatchGet, BatchCreate and BatchDelete (AIP-231, 233, 235).
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { itemParentsOf, visibleOf } from "../../access/evaluation/call.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { BatchItem, BatchMethods } from "./batch-methods.ts";
import { type AddHandler, readWriteRequest, resourceField } from "../method-handler.ts";

export function addBatchHandlers<Desc extends DescMessage>(
  add: AddHandler,
  schema: Desc,
  methods: BatchMethods<Desc>,
  parentOf: (context: HandlerContext) => readonly Reference[],
): void {
  add("BatchGet", "many", ({ output }) => (request, context) => {
    return methods.get(parentOf(context), visibleOf(context), request.paths, output);
  });

  add("BatchCreate", "many", (method) => {
    const field = resourceField(itemType(method), schema);
    return (request, context) => {
      const parents = itemParentsOf(context);
      const items = request.requests.map((item, index): BatchItem<Desc> => {
        const { parentPath = "", requestId, validateOnly } = item;
        return { parentPath, parent: parents?.[index], requestId, validateOnly, message: field.read(item) };
      });
      return methods.create(parentOf(context), items, readWriteRequest(method, request, context));
    };
  });

  add("BatchDelete", "many", (method) => (request, context) => {
    const write = readWriteRequest(method, request, context);
    return methods.delete(parentOf(context), request, write);
  });
}

/** Returns the type of the requests in a BatchCreate: the request of the resource's Create. */
function itemType({ input }: DescMethod): DescMessage {
  const requests = input.fields.find(({ name }) => name === "requests");
  if (requests?.fieldKind !== "list" || requests.listKind !== "message") {
    throw new Error(`${input.typeName} has no list of requests`);
  }
  return requests.message;
}
