import type { DescField, Message } from "@bufbuild/protobuf";
import { childOf, compileSetter, readField } from "../binding/message-access.ts";
import { invalidFields, RestError } from "../errors/rest-error.ts";
import type { MethodConventions } from "../routing/method-conventions.ts";
import { type EntityTag, parseEntityTags } from "./entity-tag.ts";
import type { RestRequest } from "./call-context.ts";

/** What `If-Match` and `If-None-Match` ask for (RFC 9110, 13.1). */
export interface Preconditions {
  readonly ifMatch: EntityTags | undefined;
  readonly ifNoneMatch: EntityTags | undefined;
}

type EntityTags = "*" | readonly EntityTag[];

/**
 * Reads the conditional headers of a request; undefined when it has none, which is the usual case.
 *
 * Reading methods are judged by the ETag of their answer. For writing ones the method's own check of the etag is the
 * judge, since only it sees the resource under its lock: `If-Match` becomes the etag of the request. A condition that the
 * method cannot check is refused, because the method must not be run without it.
 *
 * @throws RestError PRECONDITION_UNSUPPORTED or HEADER_INVALID
 */
export function readPreconditions({ headers }: RestRequest, conventions: MethodConventions): Preconditions | undefined {
  const ifMatch = headers["if-match"];
  const ifNoneMatch = headers["if-none-match"];
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  const preconditions = {
    ifMatch: ifMatch === undefined ? undefined : parseEntityTags("If-Match", ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : parseEntityTags("If-None-Match", ifNoneMatch),
  };
  if (!conventions.reads) checkCanBeKept(preconditions, conventions);
  return preconditions;
}

function checkCanBeKept({ ifMatch, ifNoneMatch }: Preconditions, { creates, etagCheck }: MethodConventions): void {
  // A Create answers ALREADY_EXISTS by itself, which is what "*" means.
  if (ifNoneMatch !== undefined && !(ifNoneMatch === "*" && creates)) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-None-Match is checked for GET and HEAD only");
  }
  if (ifMatch === undefined || ifMatch === "*") return;
  if (etagCheck === undefined) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-Match is not checked here: this method takes no etag");
  }
  if (ifMatch.length !== 1) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-Match must hold one entity tag here, or *");
  }
  // No resource has it, and to a method an empty etag is none to check.
  if (ifMatch[0]?.value === "")
    throw new RestError("PRECONDITION_FAILED", "the resource is not the one that If-Match names");
}

/** Compiles what hands `If-Match` to the method. */
export function compileEtagCheck(
  fields: readonly DescField[] | undefined,
): (message: Message, preconditions: Preconditions) => void {
  const leaf = fields?.at(-1);
  if (fields === undefined || leaf === undefined) return () => undefined;
  const parents = fields.slice(0, -1);
  const set = compileSetter(leaf);
  const name = fields.map((field) => field.name).join(".");
  return (message, { ifMatch }) => {
    if (ifMatch === undefined || ifMatch === "*") return;
    const [tag] = ifMatch;
    const holder = parents.reduce(childOf, message);
    const given = readField(holder, leaf);
    if (tag === undefined) return;
    if (given !== "" && given !== undefined && given !== tag.value) {
      throw invalidFields([{ field: name, description: "is not the same as in If-Match" }]);
    }
    set(holder, tag.value);
  };
}

/** How a GET with preconditions is answered: as ever, with 304 or with 412. */
export function judgeRead({ ifMatch, ifNoneMatch }: Preconditions, etag: string | undefined): 200 | 304 | 412 {
  if (ifMatch !== undefined && !includes(ifMatch, etag)) return 412;
  return ifNoneMatch !== undefined && includes(ifNoneMatch, etag) ? 304 : 200;
}

function includes(tags: EntityTags, etag: string | undefined): boolean {
  return tags === "*" || tags.some((tag) => tag.value === etag);
}
