import type { DescMessage, Message } from "@bufbuild/protobuf";
import { describeElement, describeMapKey } from "./describe-type.ts";
import { addListItem, childOf, hasMapEntry, otherOneofMember, setMapEntry } from "./message-access.ts";
import { parseQuery } from "./parse-query.ts";
import { parseMapKey } from "../json/number-text.ts";
import { isSameScalar, type PathBinding } from "./path-binding.ts";
import { createParameterResolver, type ParameterTarget } from "./resolve-parameter.ts";
import { type FieldViolation, mostViolations, quote, shorten } from "../errors/rest-error.ts";

/**
 * Writes query parameters into the request message. The name of a parameter is the path of its field: `page_size=10`,
 * `sub.field=x`, `labels[key]=value`. A parameter for a repeated field may be given several times.
 */
interface QueryBinding {
  /**
   * Writes the parameters into `message` and adds the invalid ones to `violations`.
   *
   * @param pathValues the values from the path, in the order of its bindings. The query must not contradict them.
   * @returns the fields that were set, as dotted paths of proto names.
   * @throws RestError URL_MALFORMED
   */
  bind(message: Message, query: string, pathValues: readonly unknown[], violations: FieldViolation[]): Set<string>;
}

/** @param body the `body` of the rule. Fields in the body are not query parameters. */
export function compileQueryBinding(
  input: DescMessage,
  body: string,
  pathBindings: readonly PathBinding[],
  options: { readonly ignoreUnknownFields: boolean; readonly maxDepth: number },
): QueryBinding {
  const resolve = createParameterResolver(input, body, options.maxDepth);

  /** Sets the value. Returns a description of the error if it is invalid; undefined otherwise. */
  function bindValue(
    message: Message,
    target: ParameterTarget,
    text: string,
    pathValues: readonly unknown[],
    seen: Set<string>,
  ): string | undefined {
    const value = target.parse(text);
    if (value === undefined) return `must be ${describeElement(target.field)}, got ${quote(text)}`;
    const inPath = pathBindings.findIndex((binding) => binding.field === target.path);
    if (inPath === -1) return setValue(message, target, value, seen);
    const agrees = isSameScalar(value, pathValues[inPath]);
    return agrees ? undefined : `is ${quote(text)} in the query, but has another value in the path`;
  }

  return {
    bind(message, query, pathValues, violations) {
      const seen = new Set<string>();
      for (const { name, value } of parseQuery(query)) {
        const target = resolve(name);
        const isTarget = target.kind === "target";
        if (!isTarget && target.passable && options.ignoreUnknownFields) continue;
        const description = isTarget ? bindValue(message, target, value, pathValues, seen) : target.description;
        if (description === undefined || violations.length >= mostViolations) continue;
        violations.push({ field: shorten(isTarget ? target.path : name), description });
      }
      return seen;
    },
  };
}

/** Sets the value. Returns a description of the error if it cannot be set; undefined otherwise. */
function setValue(
  message: Message,
  { field, parents, path, key = "", set }: ParameterTarget,
  value: unknown,
  seen: Set<string>,
): string | undefined {
  let holder = message;
  for (const parent of parents) {
    const other = otherOneofMember(holder, parent);
    if (other !== undefined) return `cannot be set together with ${other}`;
    holder = childOf(holder, parent);
  }
  if (field.fieldKind === "list") {
    addListItem(holder, field, value);
  } else if (field.fieldKind === "map") {
    const mapKey = parseMapKey(field.mapKey, key);
    if (mapKey === undefined) return `must have a key that is ${describeMapKey(field.mapKey)}, got ${quote(key)}`;
    if (hasMapEntry(holder, field, mapKey)) return `has the key ${quote(mapKey)} twice`;
    setMapEntry(holder, field, mapKey, value);
  } else {
    if (seen.has(path)) return "is given twice";
    const other = otherOneofMember(holder, field);
    if (other !== undefined) return `cannot be set together with ${other}`;
    set(holder, value);
  }
  seen.add(path);
  return undefined;
}
