import type { JsonObject } from "@bufbuild/protobuf";
import { invalidField } from "../errors/service-error.ts";
import type { ResourceTypeRow } from "./resource-types/store.ts";

/** 1 to 63 characters that are printed. */
const routingKey = /^[\x21-\x7e]{1,63}$/;

/**
 * Returns the value of the routing parameter of a resource: empty if its type has none or the resource does not have it, undefined
 * if the value cannot be a routing key.
 */
export function routingKeyOf(
  { routing_parameter: name }: Pick<ResourceTypeRow, "routing_parameter">,
  parameters: JsonObject,
): string | undefined {
  if (name === "" || !Object.hasOwn(parameters, name)) return "";
  const value = parameters[name];
  return typeof value === "string" && routingKey.test(value) ? value : undefined;
}

/**
 * Checks the routing parameter of a new resource.
 *
 * @param field that holds the parameters, for errors.
 * @throws ServiceError FIELD_INVALID
 */
export function checkRoutingKey(type: ResourceTypeRow, parameters: JsonObject, field: string): void {
  if (routingKeyOf(type, parameters) !== undefined) return;
  const description =
    "must be 1 to 63 printable ASCII characters without spaces, because the type routes operations by it";
  throw invalidField(`${field}.${type.routing_parameter}`, description, "routing_key");
}
