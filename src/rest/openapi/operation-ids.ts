import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type HttpRule, nameOf, readHttpRules } from "../routing/http-rules.ts";

/**
 * Creates a function that returns operation ids such as `getMember`.
 *
 * - If several services have a method of the same name, the name of the service is in front, unless the method ends with it:
 *   `accessListResources` and, of ResourcesService, `listResources`.
 * - If a method has rules for several parents, their names are behind the verb: `getOrgRole`, `listProjectRoleBindings`.
 * - If a path has several HTTP methods, all but the first are named: `batchGetMembersByPost`.
 */
export function createOperationIds(
  services: readonly DescService[],
): (method: DescMethod, rule: HttpRule, path: string) => string {
  const all = services.flatMap((service) => service.methods);
  const seen = new Map<string, string>();
  return (method, rule, path) => {
    const isShared = all.filter(({ name }) => name === method.name).length > 1;
    const area = method.parent.name.replace(/Service$/, "");
    const service = isShared && !method.name.endsWith(area) ? area : "";
    const hasParents = new Set(readHttpRules(method).map((each) => shapeOf(each.path))).size > 1;
    const [verb = ""] = /^(Batch)?[A-Z][a-z0-9]*/.exec(method.name) ?? [];
    const named = hasParents ? verb + parentIn(path) + method.name.slice(verb.length) : method.name;
    const id = lowerFirst(service + named);
    for (const candidate of [id, `${id}By${upperFirst(rule.httpMethod.toLowerCase())}`]) {
      if (seen.has(candidate)) continue;
      seen.set(candidate, rule.name);
      return candidate;
    }
    throw new Error(`${nameOf(method)}: ${rule.name} and ${seen.get(id)} would both be the operation ${id}`);
  };
}

/** Reduces a path to what distinguishes parents: `/v1/{path=orgs/*\/roles/*}` and `/v1/{path=roles/*}` differ. */
function shapeOf(path: string): string {
  return path.replace(/:[A-Za-z]+$/, "").replaceAll(/\{\w+=?|\}/g, "");
}

/** Returns the name of the last variable that is not the resource itself: `Org` for `/v1/orgs/{org}/roles/{role}`. */
function parentIn(path: string): string {
  const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
  const isOne = /\}(:[A-Za-z]+)?$/.test(path);
  const name = (isOne ? names.at(-2) : names.at(-1)) ?? "";
  return name.split("_").map(upperFirst).join("");
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
