import type { Message } from "@bufbuild/protobuf";
import { childOf, compileSetter, readField } from "../binding/message-access.ts";
import { invalidFields, RestError } from "../errors/rest-error.ts";
import type { MethodConventions } from "../routing/method-conventions.ts";
import { type EntityTag, isOfSameBody, isOfSameWrite, parseEntityTags } from "./entity-tag.ts";
import type { RestRequest } from "./call-context.ts";

/** The values of `If-Match` and `If-None-Match` (RFC 9110, 13.1). */
export interface Preconditions {
  readonly ifMatch: EntityTags | undefined;
  readonly ifNoneMatch: EntityTags | undefined;
}

type EntityTags = "*" | readonly EntityTag[];

/**
 * Reads the conditional headers of a request. Returns undefined if it has none, which is the usual case.
 *
 * For GET, the headers are compared with the ETag of the response. For other methods, the first part of `If-Match` becomes the etag of
 * the request and the method checks it, since only the method sees the resource under its lock. A condition that the method
 * cannot check is rejected, because the method must not run without the check.
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
  // A Create fails with ALREADY_EXISTS anyway, which is the meaning of "*".
  if (ifNoneMatch !== undefined && !(ifNoneMatch === "*" && creates)) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-None-Match is supported only for GET and HEAD");
  }
  if (ifMatch === undefined || ifMatch === "*") return;
  if (etagCheck === undefined) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-Match is not supported: this method takes no etag");
  }
  if (ifMatch.length !== 1) {
    throw new RestError("PRECONDITION_UNSUPPORTED", "If-Match must be one entity tag or *");
  }
  // No resource has these etags, and methods do not check them: an empty one is none, and without quotes `*` is any.
  if (ifMatch[0]?.etag === "" || ifMatch[0]?.etag === "*")
    throw new RestError("PRECONDITION_FAILED", "the etag of the resource does not match If-Match");
}

/**
 * Compiles a function that writes `If-Match` into the etag field of the request message: the etag of one resource, or `*` where the
 * method would otherwise create what is missing.
 *
 */
export function compileEtagCheck({
  etagCheck: fields,
  allowMissing,
}: Pick<MethodConventions, "etagCheck" | "allowMissing">): (message: Message, preconditions: Preconditions) => void {
  const leaf = fields?.at(-1);
  if (fields === undefined || leaf === undefined) return () => undefined;
  const parents = fields.slice(0, -1);
  const set = compileSetter(leaf);
  const name = fields.map((field) => field.name).join(".");
  return (message, { ifMatch }) => {
    if (ifMatch === undefined) return;
    const holder = parents.reduce(childOf, message);
    const given = readField(holder, leaf);
    if (ifMatch === "*") {
      const creates = allowMissing !== undefined && readField(message, allowMissing) === true;
      if (creates && (given === "" || given === undefined)) set(holder, "*");
      return;
    }
    const [tag] = ifMatch;
    if (tag === undefined) return;
    if (given !== "" && given !== undefined && given !== tag.etag) {
      throw invalidFields([{ field: name, description: "must be the same as in If-Match" }]);
    }
    set(holder, tag.etag);
  };
}

/**
 * Returns the status of a GET with preconditions, in the order of RFC 9110, 13.2.2.
 *
 * @param tag of the response; undefined if it has none.
 */
export function judgeRead({ ifMatch, ifNoneMatch }: Preconditions, tag: EntityTag | undefined): 200 | 304 | 412 {
  if (ifMatch !== undefined && !includes(ifMatch, tag, isOfSameWrite)) return 412;
  return ifNoneMatch !== undefined && includes(ifNoneMatch, tag, isOfSameBody) ? 304 : 200;
}

function includes(tags: EntityTags, tag: EntityTag | undefined, isSame: typeof isOfSameBody): boolean {
  return tags === "*" || (tag !== undefined && tags.some((each) => isSame(each, tag)));
}
