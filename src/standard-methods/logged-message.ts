// The message of a row that the log keeps, of it alone: references are by id.
import { type Message, create } from "@bufbuild/protobuf";
import type { ResourceDefinition } from "./definition/definition.ts";

type Columns = Readonly<Record<string, unknown>>;

/**
 * Returns the message of a row in JSON, as a Get returned it, without the fields that the log does not have.
 *
 * @param path that it has in the message.
 */
export function toLoggedMessage(definition: ResourceDefinition, columns: Columns, path: string): Message {
  const { schema, logged, storage, toMessage } = definition;
  const row = Object.fromEntries(storage.columns.map((column) => [column, toValue(column, columns[column])]));
  const message = whole(() => toMessage({ ...row, ...logged.joinedById(row as never) } as never));
  // With the name of its type, it would be taken as it is.
  const unknown = new Set<string>(["$typeName", ...(logged.unknownFields ?? [])]);
  const fields = Object.entries(message ?? {}).filter(
    ([name, value]) => !unknown.has(name) && value !== null && value !== undefined,
  );
  return create(schema, { ...Object.fromEntries(fields), path });
}

/** Returns undefined for a row without columns that its message needs: it is older than they are. */
export function whole<Of extends Message>(make: () => Of): Of | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns a value as a read returns it. A column of an entry that is older than the column is null. */
function toValue(column: string, value: unknown): unknown {
  if (value === undefined) return null;
  return column.endsWith("_time") && typeof value === "string" ? new Date(value) : value;
}
