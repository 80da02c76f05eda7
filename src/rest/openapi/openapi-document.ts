// The subset of OpenAPI 3.1 that this module produces: https://spec.openapis.org/oas/v3.1.1.

/** A schema in JSON Schema 2020-12, as used by OpenAPI 3.1. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

export interface Reference {
  readonly $ref: string;
}

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: Schema;
  readonly content?: Content;
  readonly example?: unknown;
}

export interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** The day from which the operation may be gone: `2027-09-01`. */
  readonly "x-sunset"?: string;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** Empty for an operation that needs no credentials. */
  readonly security?: readonly [];
}

/** Operations by lower-case HTTP method. Methods that OpenAPI 3.1 does not support are in `x-additionalOperations`. */
export type PathItem = Record<string, Operation | Record<string, Operation>>;

interface Tag {
  readonly name: string;
  readonly description: string;
}

export interface Info {
  readonly title: string;
  readonly version: string;
  readonly summary?: string;
  readonly description?: string;
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly info: Info;
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}
