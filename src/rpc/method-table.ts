// What the interceptors need to know of each method, read from the protos once, when the server starts.
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type MethodRules, readMethodRules } from "./method-rules.ts";

export type MethodTable = ReadonlyMap<DescMethod, MethodRules>;

/** @throws Error for a method whose rules are missing or wrong; it names the method. */
export function createMethodTable(services: readonly DescService[]): MethodTable {
  const methods = services.flatMap((service) => service.methods);
  return new Map(methods.map((method) => [method, readMethodRules(method)]));
}

/** The permissions that methods ask for, each once. */
export function permissionsOf(table: MethodTable): string[] {
  const permissions = [...table.values()].map(({ permission }) => permission);
  return [...new Set(permissions.filter((permission) => permission !== undefined))];
}

/** The collections below an org, or whatever else is on top, that the paths of methods go through, each once. */
export function collectionsOf(table: MethodTable): string[] {
  const patterns = [...table.values()].flatMap(({ target }) => target?.patterns ?? []);
  return [...new Set(patterns.flatMap((pattern) => pattern.slice(1)))];
}
