// What the log has of a resource before and after a change, as the API shows it. It is made of the row that the log keeps alone, so it does
// not depend on what has become of other resources.
import { type JsonObject, type Message, create, toJson } from "@bufbuild/protobuf";
import type { Change } from "../../changes/change.ts";
import { isSingletonType } from "../../paths/patterns.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";

type Columns = Readonly<Record<string, unknown>>;

/** Returns a resource as a Get returned it at that time, in JSON. @param path that it had then. */
export type LoggedMessage = (type: string, columns: object, path: string) => JsonObject;

/** What is logged and is no resource with a definition. */
const others: Readonly<Record<Exclude<Change["type"], ResourceType>, (columns: Columns, path: string) => JsonObject>> =
  {
    // Nothing changes it.
    AccessLog: (_columns, path) => ({ path }),
    ChangeLog: (_columns, path) => ({ path }),
    Quota: ({ limits }, path) => ({ path, limits: limits as JsonObject }),
    Token: ({ expire_time: time }, path) => ({ path, expire_time: String(time) }),
  };

export function createLoggedMessage({ findDefinition }: Pick<ResourceRegistry, "findDefinition">): LoggedMessage {
  return (type, columns, path) => {
    if (type === "Token" || isSingletonType(type)) return others[type](columns as Columns, path);
    const definition = findDefinition(type);
    // A type of a newer or an older version.
    return definition === undefined ? { path } : toObject(definition, columns as Columns, path);
  };
}

function toObject(definition: ResourceDefinition, columns: Columns, path: string): JsonObject {
  const { schema, logged, storage, toMessage } = definition;
  const row = Object.fromEntries(storage.columns.map((column) => [column, toValue(column, columns[column])]));
  const message = whole(() => toMessage({ ...row, ...logged.joinedById(row as never) } as never));
  // With the name of its type, it would be taken as it is.
  const unknown = new Set<string>(["$typeName", ...(logged.unknownFields ?? [])]);
  const fields = Object.entries(message ?? {}).filter(
    ([name, value]) => !unknown.has(name) && value !== null && value !== undefined,
  );
  const known = create(schema, { ...Object.fromEntries(fields), path });
  return toJson(schema, known, { useProtoFieldName: true }) as JsonObject;
}

/** Returns undefined for a row without columns that its message needs: it is older than they are. */
function whole(make: () => Message): Message | undefined {
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

/** The fields that differ whenever a resource is changed. */
const stamps = new Set(["etag", "update_time"]);

/** Returns the names of the fields that differ, in their order. */
export function changedFields(before: JsonObject, after: JsonObject): string[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.filter((name) => !stamps.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
