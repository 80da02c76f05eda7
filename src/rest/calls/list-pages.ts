import type { DescField, DescMethod, JsonObject, Message } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { readField } from "../binding/message-access.ts";
import { select } from "../json/select-fields.ts";
import type { JsonWriters } from "../json/write-json.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import type { Presentation } from "./system-parameters.ts";

/** The fields of a list in pages (AIP-158). */
interface PageFields {
  /** The token in the request, and that of the next page in the response. */
  readonly token: DescField;
  readonly nextToken: DescField;
  readonly items: DescField;
}

/** How a list is read page by page, and its items are written. */
export interface ListPages {
  readonly itemsOf: (response: Message) => readonly Message[];
  /** Empty on the last page. */
  readonly nextTokenOf: (response: Message) => string;
  readonly withToken: (request: Message, token: string) => Message;
  /** Writes an item as JSON in one line. */
  readonly write: (item: Message, presentation: Presentation) => string;
}

/**
 * Returns the fields of a list that a GET reads; undefined for another method. The request has `page_token`, and the response
 * `next_page_token` and one list of messages.
 */
export function findPageFields({ input, output, methodKind }: DescMethod, rule: HttpRule): PageFields | undefined {
  if (methodKind !== "unary" || rule.httpMethod !== "GET" || rule.responseBody !== "") return undefined;
  const token = input.fields.find((field) => isText(field, "page_token"));
  const nextToken = output.fields.find((field) => isText(field, "next_page_token"));
  const [items, ...others] = output.fields.filter(({ fieldKind }) => fieldKind === "list");
  if (token === undefined || nextToken === undefined || items?.message === undefined) return undefined;
  return others.length > 0 ? undefined : { token, nextToken, items };
}

const isText = ({ name, fieldKind, scalar }: DescField, wanted: string): boolean =>
  name === wanted && fieldKind === "scalar" && scalar === ScalarType.STRING;

/** Returns undefined for a method that is no list in pages. */
export function compileListPages(method: DescMethod, rule: HttpRule, writers: JsonWriters): ListPages | undefined {
  const fields = findPageFields(method, rule);
  const item = fields?.items.message;
  if (fields === undefined || item === undefined) return undefined;
  const { token, nextToken, items } = fields;
  // Compiled for the first line.
  let writeItem: ReturnType<typeof writers.message> | undefined;
  return {
    itemsOf: (response) => readField(response, items) as readonly Message[],
    nextTokenOf: (response) => readField(response, nextToken) as string,
    withToken: (request, text) => ({ ...request, [token.localName]: text }),
    write(message, { fields: selected }) {
      const json = (writeItem ??= writers.message(item))(message);
      if (selected === undefined) return JSON.stringify(json);
      // The selection is of the whole response.
      const shown = select({ [items.name]: [json] }, selected) as JsonObject;
      const [line = {}] = (shown[items.name] ?? []) as JsonObject[];
      return JSON.stringify(line);
    },
  };
}
