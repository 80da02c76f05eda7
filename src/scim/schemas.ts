// What the service says of itself (RFC 7643, 5 to 7). Only attributes that are kept are among the schemas.
import { notFound } from "../errors/service-error.ts";

export const urns = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  enterprise: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  list: "urn:ietf:params:scim:api:messages:2.0:ListResponse",
} as const;

export const maxPage = 100;

interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "complex" | "reference";
  readonly description: string;
  readonly required?: boolean;
  readonly multiValued?: boolean;
  readonly caseExact?: boolean;
  readonly mutability?: "readOnly" | "immutable";
  readonly uniqueness?: "server";
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

const usual = {
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
};

const describe = ({ subAttributes, ...own }: Attribute): object => ({
  ...usual,
  ...own,
  ...(subAttributes !== undefined && { subAttributes: subAttributes.map(describe) }),
});

const externalId: Attribute = {
  name: "externalId",
  type: "string",
  description: "The id in the directory.",
  caseExact: true,
};

const userAttributes: readonly Attribute[] = [
  {
    name: "userName",
    type: "string",
    description: "The name in the directory, unique among the users of the source.",
    required: true,
    uniqueness: "server",
  },
  externalId,
  { name: "displayName", type: "string", description: "The name that people read." },
  { name: "active", type: "boolean", description: "Whether the person may sign in and use keys." },
  {
    name: "name",
    type: "complex",
    description: "The parts of the name.",
    subAttributes: [
      { name: "formatted", type: "string", description: "The whole name." },
      { name: "givenName", type: "string", description: "The given name." },
      { name: "familyName", type: "string", description: "The family name." },
    ],
  },
  {
    name: "emails",
    type: "complex",
    description: "The addresses. The primary one, or else the first, is that of the member.",
    multiValued: true,
    subAttributes: [
      { name: "value", type: "string", description: "The address." },
      { name: "type", type: "string", description: "What it is for, such as work." },
      { name: "primary", type: "boolean", description: "Whether it is the primary one." },
    ],
  },
];

const groupAttributes: readonly Attribute[] = [
  {
    name: "displayName",
    type: "string",
    description: "The name, unique among the groups of the source.",
    required: true,
    uniqueness: "server",
  },
  externalId,
  {
    name: "members",
    type: "complex",
    description: "The users of the same source that are in the group.",
    multiValued: true,
    subAttributes: [
      { name: "value", type: "string", description: "The id of the user.", caseExact: true, mutability: "immutable" },
      {
        name: "$ref",
        type: "reference",
        description: "Where the user is.",
        caseExact: true,
        mutability: "immutable",
        referenceTypes: ["User"],
      },
    ],
  },
];

interface Kind {
  readonly name: "User" | "Group";
  readonly schema: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

const kinds: readonly Kind[] = [
  { name: "User", schema: urns.user, description: "A person", attributes: userAttributes },
  { name: "Group", schema: urns.group, description: "A group of people", attributes: groupAttributes },
];

/** @param base the URL below which all of it is. */
export function describeService(base: string) {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxPage },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "An API key of the application of the SCIM source.",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

const describeType = (base: string, { name, schema, description }: Kind) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: name,
  name,
  description,
  endpoint: `/${name}s`,
  schema,
  meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` },
});

const describeSchema = (base: string, { name, schema, description, attributes }: Kind) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
  id: schema,
  name,
  description,
  attributes: attributes.map(describe),
  meta: { resourceType: "Schema", location: `${base}/Schemas/${schema}` },
});

export const listTypes = (base: string) => listOf(kinds.map((kind) => describeType(base, kind)));

export const listSchemas = (base: string) => listOf(kinds.map((kind) => describeSchema(base, kind)));

export const findType = (base: string, id: string) =>
  describeType(
    base,
    found("type of resources", id, ({ name }) => name),
  );

export const findSchema = (base: string, id: string) =>
  describeSchema(
    base,
    found("schema", id, ({ schema }) => schema),
  );

function found(what: string, id: string, key: (kind: Kind) => string): Kind {
  const kind = kinds.find((each) => key(each) === id);
  if (kind === undefined) throw notFound(what, id);
  return kind;
}

/** @param total how many there are on all pages; those given by default. */
export function listOf(resources: readonly object[], total = resources.length, startIndex = 1) {
  return {
    schemas: [urns.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
