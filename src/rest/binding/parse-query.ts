import { decodePercent, findBrokenEscape } from "../routing/percent-encoding.ts";
import { quote, RestError } from "../errors/rest-error.ts";

interface QueryParameter {
  readonly name: string;
  readonly value: string;
}

/**
 * Parses a query string, without its "?", in the encoding of HTML forms: "+" is a space, and a parameter without "=" is
 * empty.
 *
 * @throws RestError URL_MALFORMED that names the parameter.
 */
export function parseQuery(query: string): QueryParameter[] {
  const parameters: QueryParameter[] = [];
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals), part);
    parameters.push({ name, value: equals === -1 ? "" : decode(part.slice(equals + 1), part) });
  }
  return parameters;
}

function decode(text: string, part: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  const decoded = decodePercent(spaced);
  if (decoded === undefined) {
    const { problem } = findBrokenEscape(spaced);
    throw new RestError("URL_MALFORMED", `query parameter ${quote(part)}: ${problem}`);
  }
  return decoded;
}
