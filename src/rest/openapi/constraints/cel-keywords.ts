import type { Schema } from "../openapi-document.ts";

export type Sized = "Length" | "Items" | "Properties";

/**
 * What a CEL expression on `this` says that JSON Schema can say too. Read are expressions of these shapes, alone or joined
 * by `&&`; what is joined to them and is not read makes the schema weaker, never wrong:
 *
 *     this.matches('REGEX')              pattern
 *     size(this) <= 10                   maxLength, maxItems or maxProperties; also >=
 *     this.all(k, k.matches('REGEX'))    propertyNames, of a map
 *
 * Before them may stand `!rule ||`, with which a predefined rule of buf.validate passes when it is off, and
 * `this == '' ||`.
 *
 * @param sized what `size` counts.
 * @param isRequired an empty value is refused for another reason, so that the schema need not allow it.
 */
export function celKeywords(expression: string, sized: Sized, isRequired: boolean): Schema {
  const alternatives = splitTopLevel(expression, "||");
  const last = alternatives.pop() ?? "";
  const isEmptyAllowed = alternatives.includes("this == ''");
  if (alternatives.some((alternative) => alternative !== "!rule" && alternative !== "this == ''")) return {};
  let conditions = splitTopLevel(last, "&&");
  if (conditions.length === 1 && last.startsWith("(") && last.endsWith(")")) {
    conditions = splitTopLevel(last.slice(1, -1), "&&");
  }
  const schema: Schema = Object.assign({}, ...conditions.map((condition) => readCondition(condition, sized)));
  if (!isEmptyAllowed || isRequired) return schema;
  return typeof schema["pattern"] === "string" ? { pattern: `^$|${schema["pattern"]}` } : {};
}

function readCondition(condition: string, sized: Sized): Schema {
  const [, limit, count] = /^size\(this\) (<=|>=) (\d+)$/.exec(condition) ?? [];
  if (count !== undefined) return { [`${limit === "<=" ? "max" : "min"}${sized}`]: Number(count) };
  const [, regex] = /^this\.matches\('((?:[^'\\]|\\.)*)'\)$/s.exec(condition) ?? [];
  if (regex !== undefined && sized === "Length") return patternOf(regex);
  const [, key, keyUsed, keyRegex] =
    /^this\.all\((\w+), (\w+)\.matches\('((?:[^'\\]|\\.)*)'\)\)$/s.exec(condition) ?? [];
  if (keyRegex === undefined || key !== keyUsed || sized !== "Properties") return {};
  const pattern = patternOf(keyRegex);
  return "pattern" in pattern ? { propertyNames: pattern } : {};
}

/** @param literal the inside of a CEL string; one with escapes other than of backslashes and quotes is not read. */
function patternOf(literal: string): Schema {
  const hasOtherEscapes = /\\[^\\'"]/.test(literal.replaceAll("\\\\", ""));
  return hasOtherEscapes ? {} : regexKeywords(literal.replace(/\\(.)/g, "$1"));
}

/** A regular expression of RE2, which CEL and buf.validate use, where JSON Schema's ECMA-262 reads it the same way. */
export function regexKeywords(regex: string): Schema {
  if (/\[\[:|\(\?P?</.test(regex)) return {};
  try {
    RegExp(regex, "u");
    return { pattern: regex };
  } catch {
    return {};
  }
}

/** Splits where the operator stands outside of quotes and parentheses. */
function splitTopLevel(expression: string, operator: string): string[] {
  const parts = [];
  let depth = 0;
  let start = 0;
  let quote = "";
  for (let at = 0; at < expression.length; at++) {
    const character = expression.charAt(at);
    if (quote !== "") {
      if (character === "\\") at++;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    else if (depth === 0 && expression.startsWith(operator, at)) {
      parts.push(expression.slice(start, at).trim());
      start = at + operator.length;
    }
  }
  return [...parts, expression.slice(start).trim()];
}
