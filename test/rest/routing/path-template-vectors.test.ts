import { parsePathTemplate, type PathTemplate } from "../../../src/rest/routing/path-template.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors } from "../vectors/test-vectors.ts";

interface Row {
  readonly template: string;
  readonly valid: boolean;
  readonly segments?: string[];
  readonly verb?: string;
  readonly variables?: { field: string; start: number; end: number }[];
  readonly strict_valid?: boolean;
  readonly spec_reading?: string;
}

const cases = loadVectors<Row>("templates.json").map((row) => ({
  name: row.template,
  row: row.template,
  run() {
    const parsed = parse(row.template);
    return { actual: parsed && pickFields(parsed, row), expected: expectedTemplate(row) };
  },
}));

testVectors("path templates of other implementations", "templates.json", cases);

/** Returns the template that the vector expects, or undefined if it is invalid. */
function expectedTemplate(row: Row): object | undefined {
  if (!isExpectedValid(row)) return undefined;
  if (row.segments === undefined) return {};
  const { segments, verb = "", variables } = row;
  const ends = variables?.map(({ field, start, end }) => ({
    field,
    start,
    end: end < 0 ? segments.length + 1 + end : end,
  }));
  return { segments: segments.map(decode), verb: decode(verb), ...(ends && { variables: ends }) };
}

/** Returns the fields of a template that the vector specifies. */
function pickFields({ segments, verb, variables }: PathTemplate, row: Row): object {
  if (row.segments === undefined) return {};
  const ends = variables.map(({ fieldPath, start, end }) => ({ field: fieldPath.join("."), start, end }));
  const texts = segments.map((segment) => (segment.kind === "literal" ? segment.value : segment.kind));
  return { segments: texts, verb, ...(row.variables && { variables: ends }) };
}

/** Literals after `**` are a supported extension; a second wildcard after it is not. */
function isExpectedValid(row: Row): boolean {
  if (row.spec_reading?.includes("ESP extension")) return !/\*\*\}?\/.*\*/.test(row.template);
  return row.strict_valid ?? row.valid;
}

function parse(template: string): PathTemplate | undefined {
  try {
    return parsePathTemplate(template);
  } catch {
    return undefined;
  }
}

/** Decodes the text. Some verbs in the vectors contain incomplete escapes. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
