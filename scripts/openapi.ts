// Writes gen/openapi.json, the OpenAPI description of the REST API, from the protos and their comments.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { resource, resource_reference } from "../gen/google/api/resource_pb.ts";
import { authorization } from "../gen/iam/v1alpha/authorization_pb.ts";
import { identifier_names } from "../gen/iam/v1alpha/resource_options_pb.ts";
import { readConfig } from "../src/config.ts";
import { ServiceError, type ErrorReason } from "../src/errors/service-error.ts";
import { encodeError } from "../src/rest/errors/encode-error.ts";
import { statusOf } from "../src/rest/errors/status-codes.ts";
import { type PathPattern, allPatterns, patterns } from "../src/paths/patterns.ts";
import { isOutputOnly } from "../src/rest/openapi/field-behavior.ts";
import { mapKeyPattern } from "../src/rest/openapi/fields-pattern.ts";
import type { Segment } from "../src/rest/openapi/path-patterns.ts";
import { describeOpenApi } from "../src/rest/openapi/describe-openapi.ts";
import type { ErrorResponse } from "../src/rest/openapi/error-responses.ts";
import { readDeprecation } from "../src/rpc/read-deprecation.ts";
import { describedServices, standardServices } from "../src/rpc/services.ts";
import { errorDomain, toConnectError, withRequestInfo } from "../src/rpc/to-connect-error.ts";
import { buildRegistry } from "./proto-image.ts";

const root = join(import.meta.dirname, "..");

const requestId = "01980f5e-9c55-7b3e-9c55-3f0f6e1d2a4b";

/** Returns the body of an error, exactly as the service sends it. */
function bodyOf(error: ServiceError, httpStatus?: number): unknown {
  const connectError = toConnectError(error, requestId);
  return JSON.parse(encodeError(connectError, httpStatus ?? statusOf(connectError.code).http));
}

type Example = readonly [reason: ErrorReason, message: string, metadata?: Record<string, string>];

function respond(
  name: string,
  status: number,
  description: string,
  examples: readonly Example[],
  appliesTo: ErrorResponse["appliesTo"] = () => true,
  headers?: ErrorResponse["headers"],
): ErrorResponse {
  const bodies = examples.map(([reason, message, metadata]) => {
    return [reason, bodyOf(new ServiceError(reason, message, { ...(metadata && { metadata }) }), status)] as const;
  });
  return {
    name: `${name}Error`,
    status,
    description,
    examples: Object.fromEntries(bodies),
    appliesTo,
    ...(headers && { headers }),
  };
}

const alice = { resource: "/orgs/acme/members/alice" };

const errors: readonly ErrorResponse[] = [
  respond(
    "Unauthenticated",
    401,
    "The request has no valid API key.",
    [
      ["TOKEN_MISSING", "the request has no credentials: send Authorization: Bearer <API key or access token>"],
      ["TOKEN_INVALID", "the API key has expired"],
    ],
    () => true,
    { "WWW-Authenticate": { description: "How to authenticate: `Bearer`.", schema: { type: "string" } } },
  ),
  respond("PermissionDenied", 403, "The caller lacks the permission that the method needs.", [
    [
      "PERMISSION_DENIED",
      "the caller lacks the permission iam.members.get on this resource (or it might not exist)",
      { permission: "iam.members.get" },
    ],
  ]),
  respond("NotFound", 404, "A path in the request names a resource that does not exist.", [
    ["RESOURCE_NOT_FOUND", "there is no member /orgs/acme/members/alice", alice],
  ]),
  respond(
    "Conflict",
    409,
    "The name is taken, or the resource has changed since it was read.",
    [
      ["RESOURCE_EXISTS", 'there is already a member named "alice" here', { name: "alice" }],
      ["ETAG_STALE", "the member /orgs/acme/members/alice has changed since this etag was read; read it again", alice],
    ],
    ({ rule, conventions }) =>
      rule.httpMethod !== "GET" && (conventions.creates || conventions.etagCheck !== undefined),
  ),
  respond(
    "PreconditionFailed",
    412,
    "",
    [["ETAG_STALE", "the member /orgs/acme/members/alice has changed since this etag was read; read it again", alice]],
    () => false,
  ),
  respond(
    "TooManyRequests",
    429,
    "The caller or the Org sends too many requests, or a limit or a quota does not suffice; the details have it.",
    [
      ["RATE_LIMITED", "the caller has sent its 600 reads of this minute; try again in 12 seconds"],
      ["QUOTA_EXCEEDED", "the limit of /orgs/acme for cpu_cores is 3: 2 are used, 0 reserved, and 2 more are needed"],
    ],
    () => true,
    { "Retry-After": { description: "Seconds until a retry, if waiting helps.", schema: { type: "integer" } } },
  ),
  respond(
    "Unavailable",
    503,
    "The database cannot be reached, is too busy or is read-only; `Retry-After` says when to try again.",
    [["SERVICE_UNAVAILABLE", "the database cannot be reached or is too busy; try again"]],
    () => true,
    { "Retry-After": { description: "Seconds until a retry.", schema: { type: "integer" } } },
  ),
];

const description = `\
Manages the organisations of a cloud: their projects, members, groups, API keys and OAuth clients, who has access to what, and
how much may be used (\`/iam/v1alpha/\`); and the catalog of the cloud: its services, the types of their resources, and the kinds of quantities and
qualities that resources have (\`/resources/v1alpha/\`).

**Names.** A path names a resource: \`orgs/acme/members/alice\`. Each segment is a name or an id with an \`@\` in front:
\`orgs/acme/members/@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b\`. Where a method allows it, \`-\` means any.

**Credentials.** Every call needs an API key, or an access token that was issued for one: \`Authorization: Bearer <API key or access token>\`.

**Pages.** A list that has more pages returns a \`next_page_token\`, the \`page_token\` of the next call. As
\`application/x-ndjson\`, it is sent whole, an item on each line. If a page fails, the last line is \`{"error": {...}, "next_page_token": "..."}\`.

**Changes.** A PATCH changes the fields in its body, or those in \`update_mask\`. With \`If-Match\` it fails if the resource
has changed since it was read.

**Errors** have the format of [AIP-193](https://google.aip.dev/193). Programs should use the \`reason\` of \`ErrorInfo\`, which is one of those in \`ErrorReason\`.`;

function permissionNote(method: DescMethod): string {
  const { permission } = getOption(method, authorization);
  return permission === "" ? "" : `Needs the permission \`${permission}\`.`;
}

function required<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`the image has no ${name}`);
  return found;
}

const registry = buildRegistry();

const uuid = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
const plainName = "[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?";
const identifier = "[a-z][a-z0-9_]{0,62}";
/** A name that looks like an id, which has an `@` in front. */
const uuidAsName = uuid.replaceAll("A-F", "");
const messages = [...registry].filter((desc) => desc.kind === "message");

/** Returns what stands for a resource in a path: its name or `@` and its id, or `-` where the method allows it. */
function segmentPattern(type: string, takesAny: boolean): Segment {
  const message = messages.find((each) => getOption(each, resource).type === type);
  if (message === undefined) return { pattern: plainName, except: uuidAsName };
  const hasName = message.fields.some(({ name }) => name === "name");
  if (!hasName) return { pattern: `@${uuid}` };
  const others = `@${uuid}${takesAny ? "|-" : ""}`;
  if (getOption(message, identifier_names)) return { pattern: `${identifier}|${others}` };
  return { pattern: `${plainName}|${others}`, except: uuidAsName };
}

/** Returns the expression of the paths of some patterns, such as `orgs`, `members`. */
function pathExpression(some: readonly PathPattern[]): string {
  const nameIn = (collection: string): string => (/^qu\w+Kinds$/.test(collection) ? identifier : plainName);
  const one = (pattern: PathPattern): string => pattern.map((each) => `${each}/(${nameIn(each)}|@${uuid})`).join("/");
  return some.map(one).join("|");
}

/** The paths of what other services keep in a customer, a service, an org or a project begin with those. */
const holders: readonly PathPattern[] = [patterns.Customer, patterns.Service, patterns.Org, patterns.Project];
const inHolder = String.raw`(${pathExpression(holders)})(/[\w~@:-][\w.~@:-]{0,127})*`;
const elsewhere = pathExpression(allPatterns.filter(([top]) => holders.every(([holder]) => holder !== top)));

/** Returns the pattern of a path that may be of several types, as `src/access/evaluation` parses them. */
function anyPathPattern({ name, parent }: DescField): string {
  const isSubject = name === "subject_path" || parent.name === "Subject";
  if (isSubject) return `^/?(${pathExpression([patterns.Member, patterns.Group])})$`;
  return `^/?$|^/?(${inHolder}|${elsewhere})$`;
}

/** Returns the pattern of a path of any type, and of the lists of the names of other fields of AIP-132 and AIP-134. */
function fieldPattern(field: DescField): string | undefined {
  const { parent } = field;
  if (getOption(field, resource_reference).type === "*") return anyPathPattern(field);
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.FieldMask") {
    const target = parent.fields.find(({ message }) => message !== undefined && hasOption(message, resource))?.message;
    const names = target?.fields
      .filter((each) => !isOutputOnly(each) && each.name !== "etag")
      .map(({ name, fieldKind }) => (fieldKind === "map" ? `${name}(\\.(${mapKeyPattern}))?` : name));
    return names && `^(\\*|(${names.join("|")})(,(${names.join("|")}))*)?$`;
  }
  if (field.name !== "order_by") return undefined;
  const response = registry.getMessage(parent.typeName.replace(/Request$/, "Response"));
  const listed = response?.fields.find(({ fieldKind }) => fieldKind === "list")?.message;
  const names = ["create_time", "update_time", "name", "display_name"].filter((each) =>
    listed?.fields.some(({ name }) => name === each),
  );
  const term = `(${names.join("|")})( desc)?`;
  return names.length === 0 ? undefined : `^(${term}(, ?${term}){0,2})?$`;
}
const detailNames = ["ErrorInfo", "BadRequest", "RequestInfo", "RetryInfo", "QuotaFailure"].map(
  (name) => `google.rpc.${name}`,
);

const document = describeOpenApi({
  info: {
    title: "Tenantry",
    version: "v1alpha",
    summary: "Organisations, projects, members, groups, API keys, OAuth clients, and who may do what.",
    description: description.replace(/(?<!\n)\n(?!\n)/g, " "),
    license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/", description: "The server that this document comes from." }],
  services: describedServices.map(({ typeName, name }) => ({
    service: required(registry.getService(typeName), typeName),
    ignoreUnknownFields: standardServices.some((each) => each.typeName === typeName),
    // GroupMembersService: Group members
    tag: name
      .replace(/Service$/, "")
      .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .replace("Api keys", "API keys")
      .replace("Authorization api", "AuthZEN"),
  })),
  securitySchemes: {
    apiKey: { type: "http", scheme: "bearer", description: "An API key of a Member, such as `tenantry_...`." },
  },
  security: [{ apiKey: [] }],
  errorDomain,
  maxBodyBytes: readConfig({}).maxBodyBytes,
  mapError: (error) => withRequestInfo(error, requestId),
  errorDetails: detailNames.map((name): DescMessage => required(registry.getMessage(name), name)),
  errorReasons: required(registry.getEnum("iam.v1alpha.ErrorReason"), "ErrorReason"),
  errors,
  noteOf: permissionNote,
  deprecationOf: readDeprecation,
  isPublic: (method) => hasOption(method, authorization) && getOption(method, authorization).unauthenticated,
  segmentPattern,
  areNumbersFinite: true,
  fieldPattern,
  resourceIdNote: "A name, or `@` and an id.",
});

writeFileSync(join(root, "gen/openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
