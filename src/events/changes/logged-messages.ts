// What the log has of a resource before and after a change, as the API shows it. It is made of the row that the log keeps alone, so it does
// not depend on what has become of other resources.
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Change } from "../../changes/change.ts";
import { isSingletonType } from "../../paths/patterns.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { toLoggedMessage } from "../../standard-methods/logged-message.ts";

type Columns = Readonly<Record<string, unknown>>;

/** Returns a resource as a Get returned it at that time, in JSON. @param path that it had then. */
export type LoggedMessage = (type: string, columns: object, path: string) => JsonObject;

/** What is logged and is no resource with a definition. */
const others: Readonly<Record<Exclude<Change["type"], ResourceType>, (columns: Columns, path: string) => JsonObject>> =
  {
    // Nothing changes it.
    AccessLog: (_columns, path) => ({ path }),
    ChangeLog: (_columns, path) => ({ path }),
    SupportAccess: (_columns, path) => ({ path }),
    Quota: ({ limits }, path) => ({ path, limits: limits as JsonObject }),
    Token: ({ expire_time: time }, path) => ({ path, expire_time: String(time) }),
  };

export function createLoggedMessage({ findDefinition }: Pick<ResourceRegistry, "findDefinition">): LoggedMessage {
  return (type, columns, path) => {
    if (type === "Token" || type === "SupportAccess" || isSingletonType(type))
      return others[type](columns as Columns, path);
    const definition = findDefinition(type);
    // A type of a newer or an older version.
    if (definition === undefined) return { path };
    const message = toLoggedMessage(definition, columns as Columns, path);
    return toJson(definition.schema, message, { useProtoFieldName: true }) as JsonObject;
  };
}

/** The fields that differ whenever a resource is changed. */
const stamps = new Set(["etag", "update_time"]);

/** Returns the names of the fields that differ, in their order. */
export function changedFields(before: JsonObject, after: JsonObject): string[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.filter((name) => !stamps.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
