// The batch methods (AIP-231, 233, 235). A batch is atomic: if one item fails, none is written. The error names the item.
import { type DescField, type DescMessage, type Message, type MessageShape, create } from "@bufbuild/protobuf";
import { type Visibility, unlimited } from "../../access/evaluation/visibility.ts";
import { type FieldViolation, invalidFields, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import type { ResourcePlace, ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ItemParent } from "../../access/evaluation/authorise.ts";
import { required } from "../../errors/required.ts";
import type { RowReader } from "../read/row-reader.ts";
import type { ServedResource } from "../rules.ts";
import { type WriteRequest, runWrite } from "../write/write-call.ts";
import { checkNew } from "../write/check-new.ts";
import { createAll } from "../write/create.ts";
import { deleteAll } from "./batch-delete.ts";
import { atItemOf, checkItems, errorAtItem } from "./batch-item.ts";
import { type Deletions, readBatchPaths, readDeletedPaths } from "./batch-paths.ts";
import { createWithinParent } from "./within-parent.ts";

/** A request in a BatchCreate. */
export interface BatchItem<Desc extends DescMessage> {
  /** Empty if unset. */
  readonly parentPath: string;
  /** The parent, if that of the batch has `-`. */
  readonly parent?: ItemParent | undefined;
  readonly requestId: string;
  readonly validateOnly: boolean;
  readonly message: MessageShape<Desc>;
}

/** The batch methods of a resource. Responses list resources in request order; BatchDelete returns those that stay readable. */
export interface BatchMethods<Desc extends DescMessage> {
  /** @param parent may contain `-` for any. */
  get(
    parent: readonly Reference[],
    visible: Visibility,
    paths: readonly string[],
    answer: DescMessage,
  ): Promise<Message>;
  /** @param parent may end with `-`; each item then has its own. */
  create(parent: readonly Reference[], items: readonly BatchItem<Desc>[], request: WriteRequest): Promise<Message>;
  delete(parent: readonly Reference[], deletions: Deletions, request: WriteRequest): Promise<Message>;
}

export function createBatchMethods<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
): BatchMethods<Desc> {
  const { definition, place, reader, dependencies } = served;
  const { label, schema, withoutSecrets } = definition;
  const { pattern } = place;

  /** Returns the field of a response that holds the resources, if there is one. */
  const itemsOf = (answer: DescMessage): DescField | undefined =>
    answer.fields.find(({ fieldKind, message }) => fieldKind === "list" && message === schema);

  const answerWith = (answer: DescMessage, messages: readonly MessageShape<Desc>[]): Message => {
    const items = itemsOf(answer);
    return create(answer, items && { [items.localName]: messages });
  };

  /** Returns a function that removes the secrets from a BatchCreate response before it is stored. */
  const keepableOf = ({ answer: desc }: WriteRequest): ((answer: Message) => Message) | undefined => {
    if (withoutSecrets === undefined) return undefined;
    const { localName } = required(itemsOf(desc));
    return (answer) => {
      const messages = required((answer as unknown as Record<string, MessageShape<Desc>[]>)[localName]);
      return answerWith(desc, messages.map(withoutSecrets));
    };
  };

  return {
    async get(parent, visible, texts, answer) {
      const paths = await readBatchPaths(served, parent, visible, texts, "above-id");
      const found = await reader.lookup.each(
        paths.map(({ path }) => path),
        visible,
      );
      const messages = paths.map(({ index, written }) => {
        const row = found[index];
        if (row === undefined)
          throw errorAtItem(notFound(label.one, formatReferences(pattern, written)), "paths", index);
        return definition.toMessage(row);
      });
      return answerWith(answer, messages);
    },

    async create(parent, requests, request) {
      const messages = requests.map(({ message }) => message);
      const checked = await checkNew(served, messages, request.slices);
      return runWrite(
        dependencies,
        request,
        async (call) => {
          await checkRequests(served, parent, requests);
          const parents = requests.map((item) => item.parent?.references ?? parent);
          const rows = await createAll(served, call, { parents, messages, checked }, atItemOf("requests"));
          return answerWith(
            request.answer,
            rows.map((row) => definition.toMessage(row)),
          );
        },
        keepableOf(request),
      );
    },

    delete(parent, deletions, request) {
      return runWrite(dependencies, request, async (call) => {
        const paths = await readDeletedPaths(served, parent, deletions);
        const left = await deleteAll(served, call, parent, paths);
        const rows = left.filter((row) => row !== null && row !== undefined);
        return answerWith(
          request.answer,
          rows.map((row) => definition.toMessage(row)),
        );
      });
    },
  };
}

/**
 * Checks that the requests of a BatchCreate do not contradict the fields that the batch sets for all of them.
 *
 * @throws ServiceError PATH_INVALID or FIELD_INVALID with all invalid fields.
 */
export async function checkRequests(
  { place, reader }: { readonly place: ResourcePlace; readonly reader: Pick<RowReader<unknown>, "resolveParent"> },
  parent: readonly Reference[],
  requests: readonly Omit<BatchItem<DescMessage>, "message">[],
): Promise<void> {
  const parentPattern = place.pattern.slice(0, -1);
  const isOverParents = parent.at(-1)?.by === "any";
  const resolve = (path: readonly Reference[]) => reader.resolveParent(path, unlimited);
  const within = createWithinParent(resolve, isOverParents ? parent.slice(0, -1) : parent);
  const written = formatReferences(parentPattern, parent);
  const findProblem = async (item: Omit<BatchItem<DescMessage>, "message">, field: string) => {
    if (isOverParents) {
      const isIn = item.parent !== undefined && (await within(item.parent.written.slice(0, -1))) !== undefined;
      return isIn ? undefined : `must lie in ${written}, the parent of the batch`;
    }
    if (item.parentPath === "") return undefined;
    const isSame = (await within(parseResourcePath(parentPattern, item.parentPath, field))) !== undefined;
    return isSame ? undefined : `must be ${written}, the parent of the batch, or empty`;
  };
  await checkItems(requests, async (item, index) => {
    const { requestId, validateOnly } = item;
    const at = `requests[${index}]`;
    const violations: FieldViolation[] = [];
    const description = await findProblem(item, `${at}.parent_path`);
    if (description !== undefined) violations.push({ field: `${at}.parent_path`, description, rule: "parent" });
    if (validateOnly) violations.push({ field: `${at}.validate_only`, ...ofBatch });
    if (requestId !== "") violations.push({ field: `${at}.request_id`, ...ofBatch });
    if (violations.length > 0) throw invalidFields(violations);
  });
}

const ofBatch = { description: "must be unset: the field of the batch applies to all its requests", rule: "batch" };
