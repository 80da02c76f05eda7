// Filters and the paths of PATCH (RFC 7644, 3.4.2.2 and 3.5.2), as far as they are supported:
//
//     Filter    = Term { SP "and" SP Term } ;
//     Term      = Path SP "eq" SP Value ;
//     Path      = Attribute [ "[" Filter "]" ] [ "." Name ] ;
//     Attribute = [ URN ":" ] Name ;
//     Name      = ALPHA { ALPHA | DIGIT | "_" | "-" | "$" } ;
//     Value     = a JSON string, number, true, false or null ;
//
// Names and operators are compared without case. A value filter has no value filter inside. Everything else is an error, and never a filter
// that is true of everybody.
import { type ScimFault, scimFault } from "./errors.ts";

/** The path of an attribute, with its names in lower case. */
export interface AttributePath {
  /** The schema in front of it, in lower case; empty for none. */
  readonly schema: string;
  readonly name: string;
  /** Which values of a multi-valued attribute are meant; undefined for all. */
  readonly where: readonly Comparison[] | undefined;
  /** A part of the attribute; undefined for all of it. */
  readonly part: string | undefined;
}

export type FilterValue = string | number | boolean | null;

/** That a value equals an attribute. */
export interface Comparison {
  readonly path: AttributePath;
  readonly value: FilterValue;
}

const maxLength = 4_096;

/** Of `and`, in a filter and in those of values together. */
const maxTerms = 20;

/** @throws ServiceError FIELD_INVALID with `invalidFilter` */
export function parseFilter(text: string): readonly Comparison[] {
  const parser = createParser(text, "filter", "invalidFilter");
  const terms = parser.filter(true);
  parser.end();
  return terms;
}

/** @throws ServiceError FIELD_INVALID with `invalidPath` */
export function parsePath(text: string): AttributePath {
  const parser = createParser(text, "path", "invalidPath");
  const path = parser.path(true);
  parser.end();
  return path;
}

function createParser(text: string, called: string, fault: ScimFault) {
  let at = 0;
  let terms = 0;

  function fail(expected: string): never {
    const got = at < text.length ? JSON.stringify(text.slice(at, at + 20)) : "the end";
    const rule = `comparisons by eq, joined by and, such as userName eq "alice@example.com"`;
    const known = called === "filter" ? `; supported are ${rule}` : "";
    throw scimFault(fault, `the ${called}, column ${at + 1}: expected ${expected}, got ${got}${known}`);
  }

  if (text.length > maxLength) throw scimFault(fault, `the ${called} must be at most ${maxLength} characters long`);

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  function filter(mayHaveValueFilter: boolean): Comparison[] {
    const found: Comparison[] = [];
    do {
      if (++terms > maxTerms) fail(`at most ${maxTerms} comparisons`);
      found.push(term(mayHaveValueFilter));
    } while (take(/ +and +/iy) !== undefined);
    return found;
  }

  function term(mayHaveValueFilter: boolean): Comparison {
    const where = path(mayHaveValueFilter);
    if (take(/ +eq +/iy) === undefined) fail("eq");
    return { path: where, value: value() };
  }

  function path(mayHaveValueFilter: boolean): AttributePath {
    const schema =
      take(/urn:[\w.:-]+:(?=[a-z])/iy)
        ?.slice(0, -1)
        .toLowerCase() ?? "";
    const name = take(/[a-z][\w$-]*/iy) ?? fail("the name of an attribute");
    let where: readonly Comparison[] | undefined;
    if (mayHaveValueFilter && take(/\[ */y) !== undefined) {
      where = filter(false);
      if (take(/ *\]/y) === undefined) fail("]");
    }
    const part = take(/\.(?=[a-z])/iy) === undefined ? undefined : take(/[a-z][\w$-]*/iy);
    return { schema, name: name.toLowerCase(), where, part: part?.toLowerCase() };
  }

  function value(): FilterValue {
    const start = at;
    const found =
      take(/"(?:[^"\\]|\\.)*"|true|false|null|-?\d+(?:\.\d+)?/iy) ?? fail("a value, such as a text in quotes");
    try {
      return JSON.parse(found.startsWith('"') ? found : found.toLowerCase()) as FilterValue;
    } catch {
      at = start;
      return fail("a value, such as a text in quotes");
    }
  }

  function end(): void {
    if (at < text.length) fail(called === "filter" ? "and, or the end" : "the end");
  }

  return { filter, path, end };
}
