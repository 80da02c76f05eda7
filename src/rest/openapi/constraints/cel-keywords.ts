import type { Schema } from "../openapi-document.ts";

export type Sized = "Length" | "Items" | "Properties";

/**
 * Converts a CEL expression on `this` to keywords of JSON Schema. The following expressions are supported, alone or joined by
 * `&&`. Other operands of `&&` are ignored, which makes the schema weaker but never wrong:
 *
 *     this.matches('REGEX')              pattern
 *     size(this) <= 10                   maxLength, maxItems or maxProperties; also >=
 *     !this.matches('[CHARACTERS]')      pattern
 *     !this.matches('REGEX')             not, with a pattern; also this != 'TEXT'
 *     this.all(k, k.matches('REGEX'))    propertyNames, of a map
 *     this.all(k, size(this[k]) <= 10 && !this[k].matches('[CHARACTERS]'))
 *                                        additionalProperties, of a map of strings
 *
 * They may be preceded by `!rule ||`, which makes a predefined rule of buf.validate pass when it is off, and by
 * `this == '' ||`.
 *
 * @param sized what `size` counts.
 * @param isRequired whether the field is required, so that the schema need not allow an empty value.
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
  const excluded = sized === "Length" ? conditions.flatMap(excludedBy) : [];
  const schema: Schema = {
    ...(Object.assign({}, ...conditions.map((condition) => readCondition(condition, sized))) as Schema),
    ...(excluded.length > 0 && { not: { pattern: excluded.join("|") } }),
  };
  if (!isEmptyAllowed || isRequired) return schema;
  const { pattern, not } = schema;
  const isEmptyExcluded = excluded.some((each) => new RegExp(each, "u").test(""));
  return {
    ...(typeof pattern === "string" && { pattern: `^$|${pattern}` }),
    ...(not !== undefined && !isEmptyExcluded && { not }),
  };
}

/** Returns the patterns of the texts that a condition excludes, unless `readCondition` reads it. */
function excludedBy(condition: string): string[] {
  const [, text] = /^this != '([\w-]+)'$/.exec(condition) ?? [];
  if (text !== undefined) return [`^${text}$`];
  const [, regex] = /^!this\.matches\('(?!\[[^\]]*\]')((?:[^'\\]|\\.)*)'\)$/s.exec(condition) ?? [];
  const pattern = regex === undefined ? undefined : patternOf(regex)["pattern"];
  return typeof pattern === "string" ? [pattern] : [];
}

function readCondition(condition: string, sized: Sized): Schema {
  const [, limit, count] = /^size\(this\) (<=|>=) (\d+)$/.exec(condition) ?? [];
  if (count !== undefined) return { [`${limit === "<=" ? "max" : "min"}${sized}`]: Number(count) };
  const [, regex] = /^this\.matches\('((?:[^'\\]|\\.)*)'\)$/s.exec(condition) ?? [];
  if (regex !== undefined && sized === "Length") return patternOf(regex);
  const [, excluded] = /^!this\.matches\('\[([^\]]*)\]'\)$/.exec(condition) ?? [];
  if (excluded !== undefined && sized === "Length") return withoutCharacters(excluded);
  if (condition === String.raw`!this.contains('\x00')`) return withoutCharacters(String.raw`\x00`);
  const values = /^this\.all\((\w+), size\(this\[\1\]\) <= (\d+) && !this\[\1\]\.matches\('\[([^\]]*)\]'\)\)$/.exec(
    condition,
  );
  if (values !== null && sized === "Properties") {
    const [, , most, characters = ""] = values;
    return { additionalProperties: { type: "string", maxLength: Number(most), ...withoutCharacters(characters) } };
  }
  const [, key, keyUsed, keyRegex] =
    /^this\.all\((\w+), (\w+)\.matches\('((?:[^'\\]|\\.)*)'\)\)$/s.exec(condition) ?? [];
  if (keyRegex === undefined || key !== keyUsed || sized !== "Properties") return {};
  const pattern = patternOf(keyRegex);
  return "pattern" in pattern ? { propertyNames: pattern } : {};
}

/** Returns the pattern of a text without some characters, given as in a class of a regular expression: `\x00-\x1f`. */
function withoutCharacters(characters: string): Schema {
  return { pattern: `^[^${characters.replaceAll("\\\\", "\\")}]*$` };
}

/** @param literal the contents of a CEL string. Escapes other than those of backslashes and quotes are not supported. */
function patternOf(literal: string): Schema {
  const hasOtherEscapes = /\\[^\\'"]/.test(literal.replaceAll("\\\\", ""));
  return hasOtherEscapes ? {} : regexKeywords(literal.replace(/\\(.)/g, "$1"));
}

/**
 * Returns the keyword `pattern` for a regular expression of RE2, which CEL and buf.validate use. Returns no keyword if the
 * expression may have another meaning in ECMA-262, which JSON Schema uses.
 */
export function regexKeywords(regex: string): Schema {
  if (/\[\[:|\(\?P?</.test(regex)) return {};
  try {
    RegExp(regex, "u");
    return { pattern: regex };
  } catch {
    return {};
  }
}

/** Splits an expression at the occurrences of an operator outside of quotes and brackets. */
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
