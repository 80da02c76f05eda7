import { describe, expect, test } from "vitest";
import { parseFilter } from "../../src/filters/parse-filter.ts";
import { thrownBy } from "../paths/service-failure.ts";
import { ratioOf } from "../support/cpu-time.ts";
import { renderTree } from "./render-tree.ts";

const times = (count: number, text: string) => text.repeat(count);
const { raw } = String;

type Table = readonly [filter: string, tree: string][];

/** Returns the error of a filter, with its column apart. */
function refusal(filter: string): { column: number; problem: string } {
  const error = thrownBy(() => parseFilter(filter));
  expect(error.reason).toBe("FIELD_INVALID");
  expect(error.violations).toHaveLength(1);
  const [violation] = error.violations;
  expect(violation).toMatchObject({ field: "filter", rule: "filter" });
  const match = /^column (\d+): (.*)$/s.exec(violation?.description ?? "");
  return { column: Number(match?.[1]), problem: match?.[2] ?? violation?.description ?? "" };
}

describe("parses the examples of AIP-160 and its grammar:", () => {
  const examples: Table = [
    ["42", "42"],
    ["Hugo", "Hugo"],
    ["Victor Hugo", "(and Victor Hugo)"],
    ["Victor AND Hugo", "(and Victor Hugo)"],
    ["a AND b", "(and a b)"],
    ["a OR b OR c", "(or a b c)"],
    ["a AND b OR c", "(and a (or b c))"],
    ["NOT a", "(not a)"],
    ["-a", "(not a)"],
    ["a = true", "[a = true]"],
    ["a != 42", "[a != 42]"],
    ["a < 42", "[a < 42]"],
    [`a > "foo"`, `[a > "foo"]`],
    [`a <= "foo"`, `[a <= "foo"]`],
    ["a >= 42", "[a >= 42]"],
    ["a = 2.997e9", "[a = 2.997e9]"],
    ["a = 1.2s", "[a = 1.2s]"],
    ["a > 2012-04-21T11:30:00-04:00", "[a > 2012-04-21T11:30:00-04:00]"],
    [`a = "*.foo"`, `[a = "*.foo"]`],
    ["a.b = true", "[a.b = true]"],
    ["a.b > 42", "[a.b > 42]"],
    [`a.b.c = "foo"`, `[a.b.c = "foo"]`],
    ["r:42", "[r : 42]"],
    ["r.foo:42", "[r.foo : 42]"],
    ["m:foo", "[m : foo]"],
    ["m.foo:*", "[m.foo : *]"],
    ["m.foo:42", "[m.foo : 42]"],
    ["a b AND c AND d", "(and (and a b) c d)"],
    ["(a b) AND c AND d", "(and (and a b) c d)"],
    ["New York Giants OR Yankees", "(and New York (or Giants Yankees))"],
    ["New York (Giants OR Yankees)", "(and New York (or Giants Yankees))"],
    ["a < 10 OR a >= 100", "(or [a < 10] [a >= 100])"],
    ["NOT (a OR b)", "(not (or a b))"],
    [`-file:".java"`, `(not [file : ".java"])`],
    ["-30", "(not 30)"],
    ["package=com.google", "[package = com.google]"],
    ["msg != 'hello'", `[msg != "hello"]`],
    ["1 > 0", "[1 > 0]"],
    ["2.5 >= 2.4", "[2.5 >= 2.4]"],
    ["yesterday < request.time", "[yesterday < request.time]"],
    ["experiment.rollout <= cohort(request.user)", "[experiment.rollout <= cohort()]"],
    ["map:key", "[map : key]"],
    ["prod", "prod"],
    ["expr.type_map.1.type", "expr.type_map.1.type"],
    ["regex(m.key, '^.*prod.*$')", "regex()"],
    ["math.mem('30mb')", "math.mem()"],
    ["(msg.endsWith('world') AND retries < 10)", "(and msg.endsWith() [retries < 10])"],
  ];

  test.each(examples)("%s", (filter, tree) => {
    expect(renderTree(parseFilter(filter))).toBe(tree);
  });
});

describe("parses a filter:", () => {
  const readings: Table = [
    ["", "nothing"],
    [" \t\r\n", "nothing"],
    [" a ", "a"],
    ["a=b", "[a = b]"],
    ["a \n=\t b", "[a = b]"],
    ["a:b:c", "[a : b:c]"],
    ["a!=b", "[a != b]"],
    ["a<=b c>=d", "(and [a <= b] [c >= d])"],
    ["hello! a!b", "(and hello! a!b)"],
    ["a = -30", "[a = -30]"],
    ["a > -1.5e-3", "[a > -1.5e-3]"],
    ["a -b", "(and a (not b))"],
    ["a-b", "a-b"],
    ["-a = -b", "(not [a = -b])"],
    ["-(a b)", "(not (and a b))"],
    ["NOT a OR NOT b", "(or (not a) (not b))"],
    ["NOT a = b AND c", "(and (not [a = b]) c)"],
    ["a OR b c OR d AND e OR f", "(and (and (or a b) (or c d)) (or e f))"],
    ["a OR -b", "(or a (not b))"],
    ["( a )", "a"],
    ["((a) OR ((b)))", "(or a b)"],
    ["(a)\n(b)", "(and a b)"],
    ["a = (b OR c)", "[a = (or b c)]"],
    ["a = (b c) AND d", "(and [a = (and b c)] d)"],
    ["a = (-5 OR -b OR -(c))", "[a = (or -5 (not b) (not c))]"],
    ["a > (2026-01-31T12:00:00Z OR b:c) d:e", "(and [a > (or 2026-01-31T12:00:00Z b:c)] [d : e])"],
    ["a and b or not c", "(and a and b or not c)"],
    ["ANDROID ORacle NOTHING", "(and ANDROID ORacle NOTHING)"],
    [`"AND" = 'OR'`, `["AND" = "OR"]`],
    ["a.NOT.AND = b.OR", "[a.NOT.AND = b.OR]"],
    [`a."b.c" = d`, `[a."b.c" = d]`],
    [`"" a=''`, `(and "" [a = ""])`],
    [`O'Brien 5"`, `(and O'Brien 5")`],
    [`'say "x"' "it's"`, String.raw`(and "say \"x\"" "it's")`],
    [raw`"\"" '\'' "\\"`, raw`(and "\"" "'" "\\")`],
    [raw`"a\nb\tc\r" "\u00e9\ud83d\ude00"`, raw`(and "a\nb\tc\r" "é😀")`],
    [raw`a\*b* \"x\ud83d\ude00`, raw`(and a\*b* "x😀)`],
    [raw`"*a\**"`, raw`"*a\\**"`],
    ["* a=*", "(and * [a = *])"],
    ["f()", "f()"],
    ["f( )", "f()"],
    ["f(a,'b' , g(h), (i OR j))", "f()"],
    ["f.AND.OR(a)", "f.AND.OR()"],
    ["a/b@c#d%e&f[0]{g}|~^$;?", "a/b@c#d%e&f[0]{g}|~^$;?"],
    ["naïve 東京", "(and naïve 東京)"],
  ];

  test.each(readings)("%s", (filter, tree) => {
    expect(renderTree(parseFilter(filter))).toBe(tree);
  });
});

describe("rejects a filter with the column and what was expected there:", () => {
  const escapes = raw`expected one of the escapes \\ \" \' \* \n \r \t \uXXXX`;
  const refusals: readonly [filter: string, column: number, problem: string][] = [
    ["a =", 4, 'expected a value after "=", got the end'],
    ["a = ", 5, 'expected a value after "=", got the end'],
    ["a = = b", 5, 'expected a value after "=", got "="'],
    ["a == b", 4, 'expected a value after "=", got "="'],
    ["a <> b", 4, 'expected a value after "<", got ">"'],
    ["a = b = c", 7, 'expected a term, got "="'],
    ["a=b=c", 4, 'expected a space, ")" or the end, got "="'],
    ["= b", 1, 'expected a term, got "="'],
    [":b", 1, 'expected a term, got ":"'],
    ["a = AND", 5, 'expected a value after "=", got the keyword AND; quote it to use it as a word'],
    ["a = NOT b", 5, 'expected a value after "=", got the keyword NOT; quote it to use it as a word'],
    ["AND", 1, "expected a term, got the keyword AND; quote it to use it as a word"],
    ["OR a", 1, "expected a term, got the keyword OR; quote it to use it as a word"],
    ["a AND", 6, "expected a term, got the end"],
    ["a AND ", 7, "expected a term, got the end"],
    ["a AND AND b", 7, "expected a term, got the keyword AND; quote it to use it as a word"],
    ["a OR OR b", 6, "expected a term, got the keyword OR; quote it to use it as a word"],
    ["a AND OR b", 7, "expected a term, got the keyword OR; quote it to use it as a word"],
    ["NOT", 4, "expected a term, got the end"],
    ["NOT NOT a", 5, "expected a term, got the keyword NOT; quote it to use it as a word"],
    ["NOT -a", 5, 'expected a term, got "-"'],
    ["--a", 2, 'expected a term, got "-"'],
    ["-NOT a", 2, "expected a term, got the keyword NOT; quote it to use it as a word"],
    ["- a", 2, 'expected a term, got " "'],
    ["-", 2, "expected a term, got the end"],
    ["NOT(a)", 4, 'expected a space after NOT, got "("'],
    ["a AND(b)", 6, 'expected a space after AND, got "("'],
    ["a OR(b)", 5, 'expected a space after OR, got "("'],
    ["(a)AND b", 4, "expected a space before AND"],
    ["(a)OR b", 4, "expected a space before OR"],
    ["(a)(b)", 4, 'expected a space, ")" or the end, got "("'],
    ["(a)b", 4, 'expected a space, ")" or the end, got "b"'],
    [`"a"b`, 4, 'expected a space, ")" or the end, got "b"'],
    [`"a"(b)`, 4, 'expected a space, ")" or the end, got "("'],
    [`a="b"c`, 6, 'expected a space, ")" or the end, got "c"'],
    ["()", 2, 'expected a term, got ")"'],
    ["(", 2, "expected a term, got the end"],
    ["(a", 3, 'expected AND, OR, another term or the ")" for column 1, got the end'],
    ["a (b OR (c)", 12, 'expected AND, OR, another term or the ")" for column 3, got the end'],
    ["(a, b)", 3, 'expected AND, OR, another term or the ")" for column 1, got ","'],
    [")", 1, 'expected a term, got ")"'],
    ["a)", 2, 'expected AND, OR, another term or the end, got ")"'],
    ["a, b", 2, 'expected AND, OR, another term or the end, got ","'],
    ["a=b,c", 4, 'expected AND, OR, another term or the end, got ","'],
    ["a = ()", 6, 'expected a term, got ")"'],
    [".a", 1, 'expected a term, got "."'],
    ["a.", 3, 'expected a field after ".", got the end'],
    ["a..b", 3, 'expected a field after ".", got "."'],
    ["a. b", 3, 'expected a field after ".", got " "'],
    ["a .b", 3, 'expected a term, got "."'],
    ["a = .5", 5, 'expected a value after "=", got "."'],
    ["f(", 3, 'expected a value after "(", got the end'],
    ["f(a", 4, 'expected "," or the ")" for column 2, got the end'],
    ["f(a b)", 5, 'expected "," or the ")" for column 2, got "b"'],
    ["f(a,)", 5, 'expected a value after ",", got ")"'],
    ["f(,a)", 3, 'expected a value after "(", got ","'],
    [`a = "b`, 5, 'the string that starts here has no closing "'],
    [`a = 'b"`, 5, "the string that starts here has no closing '"],
    [raw`a = "b\"`, 5, 'the string that starts here has no closing "'],
    [raw`a = "\x"`, 6, String.raw`${escapes}, got "\\x"`],
    [raw`a = "\u12"`, 6, raw`${escapes}, got "\\u"`],
    [raw`ab\c`, 3, raw`${escapes}, got "\\c"`],
    ["a\\", 2, raw`${escapes}, got "\\"`],
    [raw`a = "\__proto__"`, 6, raw`${escapes}, got "\\_"`],
    [raw`a = "\u0000"`, 6, "a value must be Unicode text without NUL"],
    ["a = b\0", 5, "a value must be Unicode text without NUL"],
    [raw`a = "\ud800"`, 6, "a value must be Unicode text without NUL"],
    ["\udc00", 1, "a value must be Unicode text without NUL"],
    ["😀😀 =", 5, 'expected a value after "=", got the end'],
    [`a ${times(50, "x")}(`, 54, 'expected a value after "(", got the end'],
    [`a)${times(50, "x")}`, 2, 'expected AND, OR, another term or the end, got ")"'],
    [`"a"${times(50, "x")}`, 4, `expected a space, ")" or the end, got "${times(40, "x")}…"`],
  ];

  test.each(refusals)("%s", (filter, column, problem) => {
    expect(refusal(filter)).toEqual({ column, problem });
  });
});

describe("limits:", () => {
  test("accepts 4096 characters, and rejects one more", () => {
    expect(renderTree(parseFilter(times(4096, "x")))).toHaveLength(4096);
    expect(refusal(times(4097, "x")).problem).toBe("must be at most 4096 characters long");
  });

  test("accepts 32 nested parentheses, and rejects one more, also of values and functions", () => {
    expect(renderTree(parseFilter(`${times(32, "(")}a${times(32, ")")}`))).toBe("a");
    const problem = "parentheses may be nested at most 32 deep";
    expect(refusal(`${times(33, "(")}a${times(33, ")")}`)).toEqual({ column: 33, problem });
    expect(refusal(times(33, "a=("))).toEqual({ column: 99, problem });
    expect(refusal(times(33, "f("))).toEqual({ column: 66, problem });
    expect(renderTree(parseFilter(times(200, "(a) ").slice(0, 99)))).toContain("(and a a");
  });

  test("accepts 100 restrictions, and rejects one more, also as values and arguments", () => {
    expect(renderTree(parseFilter(times(100, "a=b ")))).toContain("[a = b]");
    const problem = "at most 100 restrictions are allowed";
    expect(refusal(times(101, "a=b "))).toEqual({ column: 401, problem });
    expect(refusal(`a = (${times(100, "b ")})`)).toEqual({ column: 204, problem });
    expect(refusal(`f(${times(99, "b,")}b)`)).toEqual({ column: 201, problem });
  });
});

describe("parses or rejects hostile filters in linear time:", () => {
  const hostile: readonly [what: string, filter: string][] = [
    ["100,000 opening parentheses", times(100_000, "(")],
    ["100,000 minus signs", times(100_000, "-")],
    ["the maximum of parentheses", times(4096, "(")],
    ["the maximum of minus signs", times(4096, "-")],
    ["the maximum of minus signs and parentheses", times(2048, "-(")],
    ["the maximum of NOTs", times(1024, "NOT ")],
    ["the maximum of terms", times(2048, "a ")],
    ["the maximum of ORs", times(819, "a OR ")],
    ["the maximum of fields", times(2048, "a.").slice(0, -1)],
    ["the maximum of functions", times(1365, "f()")],
    ["the maximum of arguments", `f(${times(2000, "a,")}`],
    ["the maximum of escapes", times(2048, "\\*")],
    ["the maximum of wildcards", times(4096, "*")],
    ["the maximum of quotes", times(4096, "'")],
    ["white space", times(4096, " ")],
    ["long fields at the maximum depth", times(32, `a=${times(90, "x")}(`)],
  ];

  test.each(hostile)("%s", (_what, filter) => {
    const parse = (): unknown => {
      try {
        return parseFilter(filter);
      } catch (error) {
        return error;
      }
    };
    const parsed = parse();
    if (parsed instanceof Error) expect(parsed).toMatchObject({ reason: "FIELD_INVALID" });
    const ratio = ratioOf(parse, () => Array.from(filter));
    expect(ratio).toBeLessThan(100);
  });
});
