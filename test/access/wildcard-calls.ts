// Builds the calls of a method whose path has `-`, in every combination of levels that its path accepts.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { parentPatternsOf, patternsOf } from "../../src/paths/patterns.ts";
import { parseResourcePath } from "../../src/paths/parse-path.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { type Request, requestAt } from "./every-call.ts";
import type { FurnishedOrg } from "./furnish-org.ts";

export interface WildcardCall {
  /** The path on which it is decided, and for a batch the path in it. */
  readonly about: string;
  readonly pattern: readonly string[];
  readonly request: Request;
  /** The same about something that does not exist; undefined for a list of everything. */
  readonly missing: Request | undefined;
}

const deadId = "@01990000-0000-7000-8000-00000000dead";

/** Reports whether a read can lead to several orgs, or to several projects of one. */
export function readsThroughWildcards({ reads, target }: MethodRules): boolean {
  if (!reads || target === undefined || target.wildcards === "nowhere") return false;
  return target.patterns.some(([top]) => top === "orgs");
}

/** Returns the reads below orgs whose path has `-`. */
export function wildcardCallsOf(
  method: DescMethodUnary,
  rules: MethodRules,
  { names, ids }: FurnishedOrg,
): WildcardCall[] {
  return (rules.target?.patterns ?? [])
    .filter(([top]) => top === "orgs")
    .flatMap((pattern) => {
      const path = ids[pattern.join("/")] ?? "";
      return pathsWithWildcards(path, pattern, rules).flatMap((about) => {
        const request = { ...requestAt(method, rules, about, names), ...largePage(method) };
        const inBatch = batchPathsIn(method, pattern, about, { names, ids });
        if (inBatch === undefined) {
          const none = withoutIds(about);
          const missing = none === about ? undefined : { ...request, [rules.target?.localName ?? ""]: none };
          return [{ about, pattern, request, missing }];
        }
        return inBatch.map(([one, none]) => ({
          about: `${about}: ${one}`,
          pattern,
          request: { ...request, paths: [one] },
          missing: { ...request, paths: [none] },
        }));
      });
    });
}

/** Replaces the ids below the org. */
const withoutIds = (path: string): string => path.replaceAll(/(?<!^\/orgs\/)@[^/]+/g, deadId);

/** Returns the forms of a path with `-` in place of some ids that the method accepts. */
function pathsWithWildcards(path: string, pattern: readonly string[], { target }: MethodRules): string[] {
  const levels = pattern.map((_, level) => level);
  const choices = levels.reduce<number[][]>((sets, level) => [...sets, ...sets.map((set) => [...set, level])], [[]]);
  return choices
    .filter((set) => set.length > 0)
    .map((set) =>
      set.reduce(
        (text, level) =>
          text
            .split("/")
            .with(2 * level + 2, "-")
            .join("/"),
        path,
      ),
    )
    .filter((text) => isAccepted(text, pattern, target?.wildcards));
}

function isAccepted(
  text: string,
  pattern: readonly string[],
  wildcards: "nowhere" | "above-id" | "last-in-org" | "anywhere" | undefined,
): boolean {
  try {
    parseResourcePath(pattern, text, "path", wildcards);
    return true;
  } catch {
    return false;
  }
}

/** A batch names items by name, and by id. Returns them with items that do not exist; undefined for other methods. */
function batchPathsIn(
  method: DescMethodUnary,
  parent: readonly string[],
  about: string,
  { names, ids }: FurnishedOrg,
): [string, string][] | undefined {
  const field = method.input.fields.find(({ name }) => name === "paths");
  if (field === undefined) return undefined;
  const type = getOption(field, resource_reference).type.split("/").at(-1) ?? "";
  const index = parentPatternsOf(type)?.findIndex((each) => each.join("/") === parent.join("/")) ?? -1;
  const pattern = (patternsOf(type)?.[index] ?? []).join("/");
  const [byName = "", byId = ""] = [names[pattern], ids[pattern]];
  const lastId = byId.split("/").at(-1) ?? "";
  const listed: [string, string][] = [
    [byName, byName.split("/").with(-1, lastOf(byName, "nosuchone")).join("/")],
    [byId, byId.split("/").with(-1, deadId).join("/")],
    [`${about}/${byId.split("/").at(-2) ?? ""}/${lastId}`, `${about}/${byId.split("/").at(-2) ?? ""}/${deadId}`],
  ];
  return listed.filter(([path]) => isAccepted(path, pattern.split("/"), "above-id"));
}

/** Operations and Sessions have no names. */
const lastOf = (path: string, name: string): string => (path.split("/").at(-1)?.startsWith("@") ? deadId : name);

function largePage(method: DescMethodUnary): Request {
  return method.input.fields.some(({ name }) => name === "page_size") ? { pageSize: 1000 } : {};
}
