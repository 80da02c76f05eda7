import { decodePercent, isHex } from "./percent-encoding.ts";

/**
 * A parsed path template. The grammar is that of google/api/http.proto:
 *
 *     Template  = "/" Segments [ Verb ] ;
 *     Segments  = Segment { "/" Segment } ;
 *     Segment   = "*" | "**" | LITERAL | Variable ;
 *     Variable  = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb      = ":" LITERAL ;
 *
 * The following is not specified there:
 *
 * - LITERAL is one or more of RFC 3986's unreserved characters, "!$&'()+,;=@" and percent-encoded UTF-8.
 * - ":" is an ordinary character in a segment that is neither the last one nor in a variable. In the last segment, the verb
 *   starts at the first ":" and may contain further ones.
 * - Literals may follow "**" (`/files/{path=**}/meta`), but no other wildcard may, so that what "**" matches is unambiguous.
 * - A variable cannot contain another variable, and a field cannot be captured twice.
 */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly PathSegment[];
  /** The decoded verb; empty if there is none. */
  readonly verb: string;
  readonly variables: readonly PathVariable[];
}

/** `value` is the decoded text of a literal. */
export type PathSegment =
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "*" }
  | { readonly kind: "**" };

export interface PathVariable {
  readonly fieldPath: readonly string[];
  readonly start: number;
  readonly end: number;
  /** Whether the variable captures exactly one segment, in which case its value is decoded completely. */
  readonly single: boolean;
}

/** @throws Error that quotes the template and names the column, starting at 1. */
export function parsePathTemplate(text: string): PathTemplate {
  const segments: PathSegment[] = [];
  const variables: PathVariable[] = [];
  let at = 0;

  function fail(problem: string, column = at + 1): never {
    throw new Error(`path template ${JSON.stringify(text)}, column ${column}: ${problem}`);
  }

  function accept(character: string): boolean {
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function expect(character: string): void {
    if (!accept(character)) fail(`expected ${JSON.stringify(character)}, got ${describe(text[at])}`);
  }

  function parseSegments(inVariable: boolean): void {
    do parseSegment(inVariable);
    while (accept("/"));
  }

  function parseSegment(inVariable: boolean): void {
    const start = at;
    if (text[at] === "{") {
      if (inVariable) fail("a variable cannot hold another variable");
      parseVariable();
    } else if (accept("*")) {
      const kind = accept("*") ? "**" : "*";
      if (segments.some((segment) => segment.kind === "**")) fail('no wildcard may follow "**"', start + 1);
      segments.push({ kind });
    } else {
      segments.push({ kind: "literal", value: parseLiteral(!inVariable) });
    }
  }

  function parseVariable(): void {
    const column = at + 1;
    const start = segments.length;
    expect("{");
    const fieldPath = parseFieldPath();
    if (accept("=")) parseSegments(true);
    else if (segments.some((segment) => segment.kind === "**")) fail('no wildcard may follow "**"', column);
    else segments.push({ kind: "*" });
    expect("}");
    const name = fieldPath.join(".");
    if (variables.some((variable) => variable.fieldPath.join(".") === name)) fail(`captures ${name} again`, column);
    const end = segments.length;
    variables.push({ fieldPath, start, end, single: end - start === 1 && segments[start]?.kind !== "**" });
  }

  function parseFieldPath(): string[] {
    const names = [];
    do {
      const start = at;
      while (isIdentifier(text.charCodeAt(at), at > start)) at++;
      if (at === start) fail(`expected a field name, got ${describe(text[at])}`);
      names.push(text.slice(start, at));
    } while (accept("."));
    return names;
  }

  function parseLiteral(colonsAllowed: boolean): string {
    const start = at;
    while (at < text.length) {
      if (text[at] === "%") {
        if (!isHex(text.charCodeAt(at + 1)) || !isHex(text.charCodeAt(at + 2))) {
          fail('"%" must be followed by two hexadecimal digits');
        }
        at += 3;
      } else if (isLiteral(text.charCodeAt(at)) || (text[at] === ":" && colonsAllowed && text.includes("/", at))) {
        at++;
      } else {
        break;
      }
    }
    if (at === start) fail(`expected a segment, got ${describe(text[at])}`);
    const value = decodePercent(text.slice(start, at));
    return value ?? fail("the percent-encoded bytes are not UTF-8", start + 1);
  }

  function parseVerb(): string {
    const parts = [];
    while (accept(":")) parts.push(parseLiteral(false));
    return parts.join(":");
  }

  expect("/");
  parseSegments(false);
  const verb = parseVerb();
  if (at < text.length) fail(`expected "/", ":" or the end, got ${describe(text[at])}`);
  return { text, segments, verb, variables };
}

function isIdentifier(code: number, digits: boolean): boolean {
  return isLetter(code) || code === 95 || (digits && isDigit(code));
}

function isLiteral(code: number): boolean {
  return isLetter(code) || isDigit(code) || "-._~!$&'()+,;=@".includes(String.fromCharCode(code));
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function describe(character: string | undefined): string {
  return character === undefined ? "the end" : JSON.stringify(character);
}
