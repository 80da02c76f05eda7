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
        if (hasField(method, "query")) {
          const query = (ids["orgs/members"] ?? "").split("/").at(-1) ?? "";
          return [{ about, pattern, request: { ...request, query }, missing: { ...request, query: deadId } }];
        }
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
  const choices = Array.from({ length: 2 ** pattern.length - 1 }, (_, choice) => choice + 1);
  return choices
    .map((choice) =>
      path
        .split("/")
        .map((segment, index) => (index > 0 && index % 2 === 0 && choice & (1 << (index / 2 - 1)) ? "-" : segment))
        .join("/"),
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
  const [collection, lastId] = byId.split("/").slice(-2);
  const below = (path: string, last: string): string => `${path}/${collection}/${last}`;
  const parentOf = (path: string): string => path.split("/").slice(0, -2).join("/");
  const listed: [string, string][] = [
    [byName, below(parentOf(byName), byName.includes("/@") ? deadId : "nosuchone")],
    [byId, below(parentOf(byId), deadId)],
    [below(about, lastId ?? ""), below(about, deadId)],
  ];
  return listed.filter(([path]) => isAccepted(path, pattern.split("/"), "above-id"));
}

const hasField = ({ input }: DescMethodUnary, name: string): boolean => input.fields.some((each) => each.name === name);

function largePage(method: DescMethodUnary): Request {
  return hasField(method, "page_size") ? { pageSize: 1000 } : {};
}
