import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { deprecation } from "../../gen/iam/v1alpha/deprecation_pb.ts";

/** Since when a method is deprecated, with the defaults of `iam.v1alpha.Deprecation`. */
export interface MethodDeprecation {
  readonly since: Date;
  readonly sunset: Date | undefined;
  readonly replacement: string | undefined;
  readonly link: string;
}

/**
 * Reads the deprecation of a method from its options; undefined if it is not deprecated.
 *
 * @throws Error that names the method when its options contradict each other.
 */
export function readDeprecation(method: DescMethod): MethodDeprecation | undefined {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!hasOption(method, deprecation)) {
    if (!method.deprecated) return undefined;
    throw new Error(`${name} is deprecated, but has no (iam.v1alpha.deprecation) option`);
  }
  if (!method.deprecated) throw new Error(`${name} has (iam.v1alpha.deprecation), but not deprecated = true`);
  const { since, sunset, replacement, link } = getOption(method, deprecation);
  const [start, end] = [readDay(name, "since", since), sunset === "" ? undefined : readDay(name, "sunset", sunset)];
  if (end !== undefined && end < start) throw new Error(`${name}: its sunset, ${sunset}, is before since, ${since}`);
  return {
    since: start,
    sunset: end,
    replacement: replacement === "" ? undefined : replacement,
    link: readLink(name, link === "" ? "/docs/versions" : link),
  };
}

function readDay(name: string, field: string, text: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isDay) throw new Error(`${name}: ${field} must be a day such as 2027-03-01, got ${JSON.stringify(text)}`);
  return day;
}

/** The link becomes a part of a header. */
function readLink(name: string, link: string): string {
  if (/^(https:\/\/|\/)[\w./?=&#~%:@+-]*$/.test(link)) return link;
  throw new Error(
    `${name}: link must be a URL such as https://example.com/changes or a path, got ${JSON.stringify(link)}`,
  );
}
