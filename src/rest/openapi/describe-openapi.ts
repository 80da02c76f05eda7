import type { DescEnum, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { type HttpRule, readHttpRules } from "../routing/http-rules.ts";
import type { DeprecationOf } from "../deprecation.ts";
import { parsePathTemplate } from "../routing/path-template.ts";
import { readDeclarations } from "./read-declarations.ts";
import { describeOperation, type OperationContext } from "./describe-operation.ts";
import { type ErrorResponse, errorResponse, mergeErrors, transcoderErrors } from "./error-responses.ts";
import { errorComponents } from "./error-schema.ts";
import type { Info, OpenApiDocument, Operation, PathItem } from "./openapi-document.ts";
import { createOperationIds } from "./operation-ids.ts";
import { type TextPatterns, createPathPatterns } from "./path-patterns.ts";
import { createCommentReader } from "./read-comments.ts";
import { createSchemas, input } from "./schemas/create-schemas.ts";
import { createSharedParameters } from "./system-parameters.ts";
import { describePath } from "./describe-path.ts";

export interface OpenApiOptions extends Partial<TextPatterns> {
  readonly info: Info;
  readonly servers: OpenApiDocument["servers"];
  /** The services. Their files should have source info, because comments become descriptions. */
  readonly services: readonly {
    readonly service: DescService;
    readonly tag: string;
    /** The `ignoreUnknownFields` of `createRestHandler`. */
    readonly ignoreUnknownFields?: boolean;
  }[];
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  readonly security: OpenApiDocument["security"];
  /** The `errorDomain` of `createRestHandler`. */
  readonly errorDomain: string;
  /** The `maxBodyBytes` and `mapError` of `createRestHandler`, which determine the examples of errors. */
  readonly maxBodyBytes?: number;
  readonly mapError?: (error: ConnectError) => ConnectError;
  /** The message types that may appear as details of errors. */
  readonly errorDetails: readonly DescMessage[];
  /** The reasons of errors, if they are an enum: the values of `google.rpc.ErrorInfo.reason`. */
  readonly errorReasons?: DescEnum;
  /** The errors of methods and interceptors. The errors of the transcoder are added. */
  readonly errors: readonly ErrorResponse[];
  /** Returns text to add below the comment of a method. */
  readonly noteOf?: (method: DescMethod) => string;
  /** The `deprecationOf` of `createRestHandler`. */
  readonly deprecationOf?: DeprecationOf;
  /** Returns whether a method needs no credentials; none by default. */
  readonly isPublic?: (method: DescMethod) => boolean;
  /** A note on the accepted values, added to the path parameters that are ids of resources. */
  readonly resourceIdNote?: string;
  /** Whether no field is ever NaN or infinite, which the JSON of Protobuf writes as strings; by default, fields may be. */
  readonly areNumbersFinite?: boolean;
}

/** The HTTP methods that OpenAPI 3.1 supports. */
const fixedMethods = new Set(["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"]);

/**
 * Describes the REST API of services in OpenAPI 3.1. There is one operation for each rule that `createRestHandler` serves,
 * derived from the same descriptors.
 *
 * @throws Error that names the method if two operations have the same HTTP method and path, or the same operation id.
 */
export function describeOpenApi(options: OpenApiOptions): OpenApiDocument {
  const services = options.services.map(({ service }) => service);
  const commentOf = createCommentReader();
  const declarations = readDeclarations(services);
  const pathPatterns = createPathPatterns(declarations.patterns, options);
  const openFiles = new Set(
    options.services
      .filter(({ ignoreUnknownFields }) => ignoreUnknownFields === true)
      .map(({ service }) => service.file),
  );
  const schemas = createSchemas(commentOf, declarations, {
    textKeywordsOf: pathPatterns.ofField,
    isOpen: ({ file }) => openFiles.has(file),
    areNumbersFinite: options.areNumbersFinite ?? false,
  });
  const errors = mergeErrors([
    ...transcoderErrors(options.errorDomain, options.maxBodyBytes ?? 4 * 1024 * 1024, options.mapError),
    ...options.errors,
  ]);
  const sharedParameters = createSharedParameters();
  const context: OperationContext = {
    schemas,
    commentOf,
    errors,
    noteOf: options.noteOf ?? (() => ""),
    deprecationOf: options.deprecationOf ?? (() => undefined),
    isPublic: options.isPublic ?? (() => false),
    referToParameter: sharedParameters.refer,
  };
  const operationIdOf = createOperationIds(services);
  const knownNames = new Map<string, readonly string[]>();
  const knownPaths = new Map<string, string>();
  const paths: Record<string, PathItem> = {};

  function add(method: DescMethod, rule: HttpRule, tag: string): void {
    const template = parsePathTemplate(rule.path);
    const { resourceIdNote } = options;
    const pathOptions = {
      commentOf,
      patterns: declarations.patterns,
      pathPatterns,
      reads: rule.httpMethod === "GET",
      resourceIdNote,
    };
    const schemaOf = (field: Parameters<typeof schemas.ofField>[0]) => schemas.ofField(field, input);
    const { path, shape, names, parameters } = describePath(
      template,
      method.input,
      { ...pathOptions, schemaOf },
      knownNames,
    );
    knownNames.set(shape, names);
    const key = `${rule.httpMethod} ${shape}`;
    const other = knownPaths.get(key);
    if (other !== undefined) {
      throw new Error(`${rule.name}: OpenAPI cannot tell its path, ${path}, from the one of ${other}`);
    }
    knownPaths.set(key, rule.name);
    const named = { operationId: operationIdOf(method, rule, path), tag };
    const operation = describeOperation(method, rule, template, parameters, named, context);
    addToItem((paths[path] ??= {}), rule.httpMethod, operation);
  }

  for (const { service, tag } of options.services) {
    for (const method of service.methods) {
      for (const rule of readHttpRules(method)) add(method, rule, tag);
    }
  }

  const errorSchemas = errorComponents(options.errorDetails, options.errorReasons, schemas);
  const responses = errors.map(
    ({ name, description, examples, headers }) => [name, errorResponse(description, examples, headers)] as const,
  );
  return {
    openapi: "3.1.1",
    info: options.info,
    servers: options.servers,
    security: options.security,
    tags: options.services.map(({ service, tag }) => ({ name: tag, description: commentOf(service) })),
    paths,
    components: {
      schemas: { ...schemas.components(), ...errorSchemas },
      responses: { ...Object.fromEntries(responses), Failure: errorResponse("Any other failure.", {}) },
      parameters: sharedParameters.components(),
      securitySchemes: options.securitySchemes,
    },
  };
}

function addToItem(item: PathItem, httpMethod: string, operation: Operation): void {
  if (fixedMethods.has(httpMethod)) {
    item[httpMethod.toLowerCase()] = operation;
    return;
  }
  // Modeled on `additionalOperations` of OpenAPI 3.2.
  const more = (item["x-additionalOperations"] ?? {}) as Record<string, Operation>;
  item["x-additionalOperations"] = { ...more, [httpMethod]: operation };
}
