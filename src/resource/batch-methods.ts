// The standard methods for many at once (AIP-231, 233, 235): all of them or, when one is refused, none. An error says at
// which item.
import { type DescField, type DescMessage, type Message, type MessageShape, create } from "@bufbuild/protobuf";
import type { Transaction } from "kysely";
import type { Schema } from "../database/schema.ts";
import { type FieldViolation, invalidFields, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { type Reference, parseResourcePath } from "../paths/resource-path.ts";
import { createBatchDelete } from "./batch-delete.ts";
import { atItemOf, checkItems, errorAt } from "./batch-item.ts";
import { readBatchPaths } from "./batch-paths.ts";
import { required } from "./required.ts";
import type { ResourceWriter } from "./resource-writer.ts";
import { type Resource, type ResourceRow, patternOf } from "./resource.ts";
import { createWithinParent } from "./within-parent.ts";
import type { WriteRequest } from "./write-request.ts";

/** One of a BatchCreate's requests. */
export interface BatchItem<Desc extends DescMessage> {
  /** Empty where there is none. */
  readonly parentPath: string;
  readonly requestId: string;
  readonly validateOnly: boolean;
  readonly message: MessageShape<Desc>;
}

/** They answer the resources in the order of the request; a BatchDelete, those that stay readable. */
export interface BatchMethods<Desc extends DescMessage> {
  /** @param parent may hold `-` for any. */
  get(parent: readonly Reference[], paths: readonly string[], answer: DescMessage): Promise<Message>;
  create(parent: readonly Reference[], items: readonly BatchItem<Desc>[], request: WriteRequest): Promise<Message>;
  delete(parent: readonly Reference[], paths: readonly string[], request: WriteRequest): Promise<Message>;
}

export function createBatchMethods<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
  writer: ResourceWriter<Desc, Row>,
): BatchMethods<Desc> {
  const { label, schema } = resource;
  const pattern = patternOf(resource);
  const parentPattern = pattern.slice(0, -1);
  const deleteAll = createBatchDelete(resource, writer);

  /** The field that holds the resources of an answer, if it has one. */
  const itemsOf = (answer: DescMessage): DescField | undefined =>
    answer.fields.find(({ fieldKind, message }) => fieldKind === "list" && message === schema);

  const answerWith = (answer: DescMessage, messages: readonly MessageShape<Desc>[]): Message => {
    const items = itemsOf(answer);
    return create(answer, items && { [items.localName]: messages });
  };

  /** Makes of a BatchCreate's answer what may be kept of it. */
  const keepableOf = ({ answer: desc }: WriteRequest): ((answer: Message) => Message) | undefined => {
    const { withoutSecrets } = resource;
    if (withoutSecrets === undefined) return undefined;
    const { localName } = required(itemsOf(desc));
    return (answer) => {
      const messages = required((answer as unknown as Record<string, MessageShape<Desc>[]>)[localName]);
      return answerWith(desc, messages.map(withoutSecrets));
    };
  };

  /** What the batch says for all, its items must not say otherwise. */
  const checkRequests = async (parent: readonly Reference[], requests: readonly BatchItem<Desc>[]): Promise<void> => {
    const within = createWithinParent(resource.resolveParent, parent);
    await checkItems(requests, async ({ parentPath, requestId, validateOnly }, index) => {
      const at = `requests[${index}]`;
      const violations: FieldViolation[] = [];
      if (
        parentPath !== "" &&
        (await within(parseResourcePath(parentPattern, parentPath, `${at}.parent_path`))) === undefined
      ) {
        const description = `must be ${formatReferences(parentPattern, parent)}, as that of the batch, or empty`;
        violations.push({ field: `${at}.parent_path`, description, rule: "parent" });
      }
      if (validateOnly) violations.push({ field: `${at}.validate_only`, ...ofBatch });
      if (requestId !== "") violations.push({ field: `${at}.request_id`, ...ofBatch });
      if (violations.length > 0) throw invalidFields(violations);
    });
  };

  return {
    async get(parent, texts, answer) {
      const paths = await readBatchPaths(resource, parent, texts, "above-id");
      const found = await Promise.all(paths.map(({ path }) => resource.lookup(path)));
      const messages = paths.map(({ index, written }) => {
        const row = found[index];
        if (row === undefined) throw errorAt(notFound(label, formatReferences(pattern, written)), "paths", index);
        return resource.toMessage(row);
      });
      return answerWith(answer, messages);
    },

    create(parent, requests, request) {
      const messages = requests.map(({ message }) => message);
      const createAll = async (db: Transaction<Schema>): Promise<Message> => {
        await checkRequests(parent, requests);
        const rows = await writer.createAll(db, parent, messages, request, atItemOf("requests"));
        return answerWith(request.answer, rows.map(resource.toMessage));
      };
      return writer.run(request, createAll, keepableOf(request));
    },

    delete(parent, texts, request) {
      return writer.run(request, async (db) => {
        const paths = await readBatchPaths(resource, parent, texts, "nowhere");
        const left = await deleteAll(db, parent, paths, request);
        const rows = left.filter((row) => row !== null && row !== undefined);
        return answerWith(request.answer, rows.map(resource.toMessage));
      });
    },
  };
}

const ofBatch = { description: "must be unset: the batch has one for all", rule: "batch" };
