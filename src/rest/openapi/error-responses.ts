import { ScalarType } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { describeScalar } from "../binding/describe-type.ts";
import { encodeError } from "../errors/encode-error.ts";
import { invalidFields, RestError } from "../errors/rest-error.ts";
import { toFailure } from "../errors/to-failure.ts";
import type { MethodConventions } from "../routing/method-conventions.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import type { MediaType, Response } from "./openapi-document.ts";

interface OperationFacts {
  readonly rule: HttpRule;
  readonly conventions: MethodConventions;
  readonly hasPathVariables: boolean;
  readonly takesBody: boolean;
}

export interface ErrorResponse {
  /** The name of the component, which should differ from those of schemas: many generators have one namespace. */
  readonly name: string;
  readonly status: number;
  readonly description: string;
  /** Complete bodies, by the reason of the error. */
  readonly examples: Readonly<Record<string, unknown>>;
  readonly appliesTo: (operation: OperationFacts) => boolean;
  readonly headers?: Response["headers"];
}

/**
 * Returns the errors of the transcoder itself, with examples of their actual bodies.
 *
 * @param maxBodyBytes the `maxBodyBytes` of the handler.
 * @param decorate the `mapError` of the handler.
 */
export function transcoderErrors(
  domain: string,
  maxBodyBytes: number,
  decorate: ((error: ConnectError) => ConnectError) | undefined,
): ErrorResponse[] {
  const exampleOf = (error: RestError): Record<string, unknown> => {
    const { error: written, httpStatus } = toFailure(error, domain, decorate);
    return { [error.reason]: JSON.parse(encodeError(written, httpStatus)) as unknown };
  };
  const violation = {
    field: "page_size",
    description: `must be ${describeScalar(ScalarType.INT32)}, got "many"`,
  };
  return [
    {
      name: "BadRequestError",
      status: 400,
      description: "Something in the request does not fit: a field, the query, a header or the body.",
      examples: {
        ...exampleOf(invalidFields([violation])),
        ...exampleOf(new RestError("BODY_MALFORMED", "the body is not UTF-8 near byte 17")),
      },
      appliesTo: () => true,
    },
    {
      name: "PreconditionFailedError",
      status: 412,
      description: "The resource has changed: its etag is not the one in `If-Match`.",
      examples: {},
      appliesTo: ({ conventions }) => conventions.etagCheck !== undefined,
    },
    {
      name: "ContentTooLargeError",
      status: 413,
      description: "The body is longer than the service reads.",
      examples: exampleOf(new RestError("BODY_TOO_LARGE", `the body must be at most ${maxBodyBytes} bytes long`)),
      appliesTo: ({ takesBody }) => takesBody,
    },
    {
      name: "UnsupportedMediaTypeError",
      status: 415,
      description: "The body is of a content type or a content encoding that the method does not take.",
      examples: exampleOf(
        new RestError(
          "CONTENT_TYPE_UNSUPPORTED",
          'the body must be application/json in UTF-8, got content type "text/plain"',
        ),
      ),
      appliesTo: ({ takesBody }) => takesBody,
    },
  ];
}

/** Merges errors with the same HTTP status into one response. Combines their examples and keeps the first description. */
export function mergeErrors(errors: readonly ErrorResponse[]): ErrorResponse[] {
  const merged = new Map<number, ErrorResponse>();
  for (const error of errors) {
    const before = merged.get(error.status);
    const appliesTo = (operation: OperationFacts): boolean =>
      before?.appliesTo(operation) === true || error.appliesTo(operation);
    const examples = { ...before?.examples, ...error.examples };
    merged.set(error.status, before === undefined ? error : { ...before, examples, appliesTo });
  }
  return [...merged.values()].toSorted((a, b) => a.status - b.status);
}

/** @param examples complete bodies by reason; empty for the default response. */
export function errorResponse(
  description: string,
  examples: Readonly<Record<string, unknown>>,
  headers: Response["headers"] = {},
): Response {
  const named = Object.entries(examples).map(([reason, value]) => [reason, { value }] as const);
  const media: MediaType = {
    schema: { $ref: "#/components/schemas/Error" },
    ...(named.length > 0 && { examples: Object.fromEntries(named) }),
  };
  const content = { "application/json": media };
  return { description, ...(Object.keys(headers).length > 0 && { headers }), content };
}
