import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { problemTexts } from "../texts/problem-texts.ts";
import { texts } from "../texts/texts.ts";
import { type Lack, lackIn } from "./lack.ts";
import { orgOf } from "./paths.ts";

/** What went wrong, in the service's own sentences, except where these speak of what only programs see. */
export interface Problem {
  readonly message: string;
  /** By the names of the fields in the API, such as `display_name`. */
  readonly fields: Readonly<Record<string, string>>;
  /** The org in which somebody of the platform has to ask for access; undefined for other problems. */
  readonly askIn?: string | undefined;
  /** What the person lacks, if that is why; `message` then says it in the words of a program. */
  readonly lack?: Lack | undefined;
  /** Whether the service would say the same again: what is asked for is not there, or not for this person. */
  readonly isSettled: boolean;
}

/**
 * Reads an error of a call. The names of nested fields begin after the resource of the request: `name`, not `member.name`. What is wrong
 * with one of several resources is at the field `requests`, with its line.
 */
export function readProblem(error: unknown): Problem {
  const failure = ConnectError.from(error);
  const violations = failure.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const fields: Record<string, string> = {};
  for (const { field, description } of violations) {
    const [, index, inner] = /^requests\[(\d+)\]\.(?:\w+\.)?(.*)$/.exec(field) ?? [];
    if (index !== undefined) fields["requests"] ??= `${texts.line(Number(index) + 1)}: ${inner}: ${description}`;
    const own = field.slice(field.indexOf(".") + 1);
    // A form has one field for a list, and the sentences of the service about its items name them.
    for (const name of [field, own, own.replace(/\[\d+\]$/, "")]) fields[name] ??= description;
  }
  const { reason = "", metadata = {} } = failure.findDetails(ErrorInfoSchema)[0] ?? {};
  // What is taken already is named by its field.
  if (reason === "RESOURCE_EXISTS") for (const name of Object.keys(metadata)) fields[name] ??= failure.rawMessage;
  const askIn = metadata["support_access"] === "required" ? metadata["access_requests"] : undefined;
  const { index: batchItem, resource = "" } = metadata;
  const changed = batchItem === undefined ? problemTexts.changed : problemTexts.changedOne(resource);
  const message = isStale(error) ? changed : failure.rawMessage;
  const isSettled = [Code.NotFound, Code.PermissionDenied].includes(failure.code);
  return { message, fields, isSettled, lack: lackIn(failure), ...(askIn !== undefined && { askIn: orgOf(askIn) }) };
}

/** Whether something has changed since the screen has read it: the screen has to read it again. */
export const isStale = (error: unknown): boolean =>
  ConnectError.from(error)
    .findDetails(ErrorInfoSchema)
    .some(({ reason }) => reason === "ETAG_STALE");

/** Returns a problem with all its sentences in other words. */
export const reworded = ({ message, fields, ...rest }: Problem, inWords: (text: string) => string): Problem => ({
  ...rest,
  message: inWords(message),
  fields: Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, inWords(text)])),
});

/**
 * Moves what is said of a part of a field, such as `parameters.disks[0].size`, to the nearest field that a form has, such as
 * `parameters.disks`, with the rest of the name.
 *
 * @param shown the names of the fields of the form.
 */
export function atFields(problem: Problem, shown: readonly string[]): Problem {
  const fields: Record<string, string> = { ...problem.fields };
  for (const [name, description] of Object.entries(problem.fields)) {
    if (shown.includes(name)) continue;
    const around = shown.filter((each) => name.startsWith(`${each}.`) || name.startsWith(`${each}[`));
    const nearest = around.toSorted((one, other) => other.length - one.length)[0];
    if (nearest !== undefined) fields[nearest] ??= `${name.slice(nearest.length).replace(/^\./, "")}: ${description}`;
  }
  return { ...problem, fields };
}

/** Returns a problem that a form has no field for, if there is one. */
export function restOf(problem: Problem | undefined, shown: readonly string[]): Problem | undefined {
  if (problem === undefined) return undefined;
  return shown.some((name) => name in problem.fields) ? undefined : problem;
}
