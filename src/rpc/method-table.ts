// The rules of each method for the interceptors, read from the protos when the server starts.
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type MethodRules, readMethodRules } from "./method-rules.ts";

export type MethodTable = ReadonlyMap<DescMethod, MethodRules>;

/** @throws Error that names a method whose rules are missing or invalid. */
export function createMethodTable(services: readonly DescService[]): MethodTable {
  const methods = services.flatMap((service) => service.methods);
  return new Map(methods.map((method) => [method, readMethodRules(method)]));
}

export function permissionsOfMethods(table: MethodTable): string[] {
  const permissions = [...table.values()].map(({ permission }) => permission);
  return [...new Set(permissions.filter((permission) => permission !== undefined))];
}

/** Returns the distinct collections in the paths of methods, without the first level. */
export function collectionsOf(table: MethodTable): string[] {
  const patterns = [...table.values()].flatMap(({ target }) => target?.patterns ?? []);
  return [...new Set(patterns.flatMap((pattern) => pattern.slice(1)))];
}
