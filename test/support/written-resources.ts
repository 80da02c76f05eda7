// All resources that can be written, in one table, so that one test covers a rule of all writes. An entry has what cannot be
// derived; the rest follows from the definition of the resource and its proto.
import type { DescField, DescService } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "../../gen/resource-types.ts";
import { registry } from "../../src/resource-registry.ts";
import { type ResourceType, methodNouns } from "../../src/paths/patterns.ts";
import {
  type ResourceDefinition,
  type ResourcePlace,
  isNamed,
} from "../../src/standard-methods/definition/definition.ts";
import { required } from "../../src/errors/required.ts";
import { isImmutable } from "../../src/validation/field-behavior.ts";

interface AnyEntry {
  /** For a resource without a Create: the type whose Create also creates one, with the same name. */
  readonly createdWith?: ResourceType;
  /** The field with its parent, if its path does not contain it. */
  readonly parentField?: string;
  /** What one requires in the org: a type, and the name of the resource. */
  readonly before?: Readonly<Partial<Record<ResourceType, string>>>;
  /** The limits that the quota of the org must have, by QuantityKind. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Fields that are required, besides its name. */
  readonly fieldsIn?: (org: string, name: string) => object;
  /**
   * SQL for columns of its own in the row with the number `n`, which `test/standard-methods/many-rows.ts` inserts: those that
   * are not null and take neither an empty value nor the id of another row.
   */
  readonly columns?: Readonly<Record<string, string>>;
}

/** Objects with one invalid field each. A resource with several places uses another one in each. */
type Broken = readonly [object, ...object[]];

/** A resource with its own name. */
interface NamedEntry extends AnyEntry {
  readonly standsFor?: undefined;
  /** Fields that an Update accepts and that change the item; by default, the display name and labels. */
  readonly change?: object;
  /** By default, a display name that is too long. */
  readonly broken?: Broken;
}

/** A link, which has the name of another resource of the org. That resource must exist before. */
interface StandingEntry extends AnyEntry {
  readonly standsFor: { readonly type: ResourceType; readonly field: string };
  readonly change: object;
  readonly broken: Broken;
}

const past = timestampFromDate(new Date(0));

const amounts = {
  quantities: "'{}'",
  given_quantities: "'{}'",
  qualities: "'{}'",
  given_qualities: "'{}'",
  outputs: "'{}'",
  reference_ids: "'{}'",
};

/**
 * Resources that other writes create or that only decisions change, with `columns` as in an entry. They have neither a name nor an Update
 * or a batch, so none of the rules here is about them: tokens start Sessions (test/api/sessions.test.ts), writes of Resources start
 * Operations (test/resources), and members create AccessRequests (test/iam/access-requests).
 */
const createdByOthers = {
  AccessRequest: {
    member_id: "gen_random_uuid()",
    predefined_role: "'viewer'",
    role_id: "null",
    reason: "'to look'",
    expire_time: "now() + interval '1 day'",
    lapse_time: "now() + interval '1 day'",
    state: "'PENDING'",
    decision_message: "''",
  },
  Session: {
    token_gen: "null",
    refresh_count: "0",
    oauth_client_id: "null",
    client_org_id: "null",
    expire_time: "now() + interval '1 day'",
  },
  Operation: {
    resource_id: "gen_random_uuid()",
    service_id: "gen_random_uuid()",
    type_id: "gen_random_uuid()",
    verb: "'create'",
    attempts: "1",
    next_attempt_time: "now()",
    state: "'SUCCEEDED'",
    ...amounts,
    progress_percent: "100",
    progress_message: "''",
    cancel_requested: "false",
    error_reason: "''",
    error_message: "''",
    end_time: "now()",
  },
} as const satisfies Partial<Record<ResourceType, AnyEntry["columns"]>>;

type WrittenType = Exclude<ResourceType, keyof typeof createdByOthers>;

const isWritten = (type: ResourceType): type is WrittenType => !(type in createdByOthers);

/** The entries. A new resource needs one for the tests of all resources. */
const entries: Readonly<Record<WrittenType, NamedEntry | StandingEntry>> = {
  Customer: { createdWith: "Org" },
  Org: { parentField: "customerPath" },
  Project: {},
  Member: {},
  ApiKey: { broken: [{ expireTime: past }], columns: { prefix: "n" } },
  Client: {
    fieldsIn: () => ({ confidential: true }),
    broken: [{ scopes: ["no scope"] }],
    columns: { confidential: "false", redirect_uris: "'{}'" },
  },
  IdentityProvider: {
    fieldsIn: () => ({ issuer: "https://login.example.com", clientId: "tenantry" }),
    columns: { issuer: "'https://login.example.com'", client_id: "'tenantry'" },
  },
  Identity: {
    before: { IdentityProvider: "issuer" },
    fieldsIn: (org, name) => ({ identityProviderPath: `${org}/identityProviders/issuer`, subject: `s${name}` }),
    columns: { provider_id: "gen_random_uuid()", subject: "'s' || n" },
  },
  ScimSource: {
    change: { displayName: "Changed", labels: { tier: "gold" }, subject: 2 },
    columns: { subject: "'EXTERNAL_ID'", member_id: "null", provider_id: "null" },
  },
  Contact: {
    fieldsIn: (_org, name) => ({ email: `${name}@example.com`, kinds: [1] }),
    columns: { email: "n || '@example.com'", kinds: "'{BILLING}'" },
  },
  EventStream: {
    fieldsIn: () => ({ audience: "https://gateway.example.com" }),
    columns: {
      audience: "'https://gateway.example.com'",
      push_url: "''",
      event_types: "'{}'",
      subject_format: "'ISS_SUB'",
      state: "'PAUSED'",
      member_org_id: "gen_random_uuid()",
      member_id: "gen_random_uuid()",
      cursor_time: "now()",
      noted_time: "now()",
      cursor_revision: "gen_random_uuid()",
      cursor_position: "0",
      attempts: "0",
      status_code: "0",
      next_attempt_time: "'epoch'",
      lease_end: "'epoch'",
    },
  },
  Webhook: {
    fieldsIn: () => ({ url: "https://hooks.invalid" }),
    columns: {
      url: "'https://hooks.invalid'",
      filter: "''",
      format: "'STANDARD'",
      state: "'PAUSED'",
      member_org_id: "gen_random_uuid()",
      member_id: "gen_random_uuid()",
      sealed_secret: "''",
      noted_time: "now()",
      cursor_time: "now()",
      cursor_revision: "gen_random_uuid()",
      cursor_position: "0",
      attempts: "0",
      next_attempt_time: "now()",
      lease_end: "now()",
    },
  },
  Group: {},
  GroupMember: {
    standsFor: { type: "Member", field: "memberPath" },
    change: { expireTime: timestampFromDate(new Date("2100-01-01")) },
    broken: [{ expireTime: past }],
  },
  Subgroup: {
    standsFor: { type: "Group", field: "groupPath" },
    change: { description: "Changed" },
    broken: [{ description: "Ä".repeat(2049) }],
  },
  QuotaRequest: {
    limits: { requested: 1 },
    fieldsIn: (org) => ({ quotaPath: `${org}/quota`, limits: { requested: 2 } }),
    change: { displayName: "Changed", labels: { tier: "gold" }, limits: { requested: 3 } },
    columns: { state: "'PENDING'", limits: "'{}'", granted_limits: "'{}'", decision_message: "''" },
  },
  Role: { change: { displayName: "Changed", permissions: ["compute.instances.start"] } },
  Service: {},
  QuantityKind: { fieldsIn: () => ({ unit: "piece" }), columns: { step: "1" } },
  QualityKind: { columns: { highest_grade: "1" } },
  ResourceType: {
    fieldsIn: (_org, name) => ({
      collection: `c${name.replaceAll(/[^a-z0-9]/g, "")}`,
      operations: ["create", "start", "delete"].map((verb) => ({ verb })),
    }),
    columns: { operations: "'[]'" },
  },
  Resource: { columns: { state: "'ACTIVE'", state_reason: "''", parameters: "'{}'", ...amounts } },
  RoleBinding: {
    before: { Group: "holder" },
    fieldsIn: (org) => ({ rolePath: "/roles/viewer", subjectPath: `${org}/groups/holder` }),
    broken: [{ expireTime: past }, { condition: "request.time <" }],
  },
};

/** A resource in one of its places. */
export interface WrittenResource extends Omit<AnyEntry, "columns"> {
  /** The display name in the plural: `role bindings of projects`. */
  readonly name: string;
  readonly type: ResourceType;
  readonly service: DescService;
  readonly definition: ResourceDefinition;
  readonly place: ResourcePlace;
  /** The collection in its paths. */
  readonly collection: string;
  /** The nouns of its methods: `GetApiKey`, `BatchGetApiKeys`. */
  readonly nouns: { readonly one: string; readonly many: string };
  /** The field of requests that contains the resource. */
  readonly field: DescField;
  /** The field that names it in a Create: its name, or the path of the resource to which it links. */
  readonly namedBy: string;
  readonly standsFor: StandingEntry["standsFor"] | undefined;
  /** Fields that an Update accepts and that change the item. */
  readonly change: object;
  /** Fields of which one is invalid, and the name of this one in errors, as in the proto. */
  readonly broken: object;
  readonly brokenField: string;
}

/** All resources: in the first place in their proto, and in all others in an org. */
export const writtenResources: readonly WrittenResource[] = registry.definitions.flatMap((definition) =>
  !isWritten(definition.type)
    ? []
    : definition.places
        .filter(({ parents }, index) => index === 0 || parents[0]?.type === "Org")
        .map((place, index) => writtenIn(definition, place, index)),
);

/** Returns a resource in the first place in its proto. */
export function writtenResource(type: ResourceType): WrittenResource {
  return required(writtenResources.find((resource) => resource.type === type));
}

/**
 * Returns a resource in one of its places.
 *
 * @param index the number of the place. Each has something else that is broken.
 */
export function writtenIn(definition: ResourceDefinition, place: ResourcePlace, index: number): WrittenResource {
  const { type, service, label } = definition;
  const { columns: _columns, ...entry } = entries[type as WrittenType];
  const parent = place.parents.at(-1);
  const of = index === 0 || parent === undefined ? "" : ` of ${registry.definitionOf(parent.type).label.many}`;
  const nouns = methodNouns(type);
  const { change, broken } = { ...(isNamed(definition) && namedFieldsOf(definition)), ...definedIn(entry) };
  if (change === undefined || broken === undefined)
    throw new Error(`the entry of ${type} lacks a change or what is broken`);
  const brokenFields = required(broken[index % broken.length]);
  return {
    ...entry,
    name: `${label.many}${of}`,
    type,
    service,
    definition,
    place,
    collection: required(place.pattern.at(-1)),
    nouns,
    field: required(
      service.methods
        .find(({ name }) => name === `Update${nouns.one}`)
        ?.input.fields.find(({ message }) => message?.typeName === definition.schema.typeName),
    ),
    namedBy: entry.standsFor?.field ?? "name",
    standsFor: entry.standsFor,
    change,
    broken: brokenFields,
    brokenField: required(maskOf(brokenFields).paths[0]),
  };
}

/** Returns valid and invalid changes of any resource with a name. */
function namedFieldsOf({ storage }: ResourceDefinition): { change: object; broken: Broken } {
  const labels = storage.labels !== "none" && { labels: { tier: "gold" } };
  return { change: { displayName: "Changed", ...labels }, broken: [{ displayName: "Ä".repeat(513) }] };
}

function definedIn({ change, broken }: NamedEntry | StandingEntry): { change?: object; broken?: Broken } {
  return { ...(change && { change }), ...(broken && { broken }) };
}

/** Returns SQL for the columns of a resource that no rule fills. */
export function ownColumnsOf(type: ResourceType): Readonly<Record<string, string>> {
  return isWritten(type)
    ? (entries[type].columns ?? {})
    : (createdByOthers as Record<string, Record<string, string>>)[type]!;
}

export type Verb = "Create" | "Update" | "Delete";

/** Methods that change the state of an item. */
export type StateVerb = "Undelete" | "Suspend" | "Activate" | "Purge";

/** Returns the write methods of a resource. */
export function verbsOf(resource: WrittenResource): Verb[] {
  return (["Create", "Update", "Delete"] as const).filter((verb) => hasVerb(resource, verb));
}

/** Returns the methods that change the state of a resource. */
export function stateVerbsOf(resource: WrittenResource): StateVerb[] {
  return (["Undelete", "Suspend", "Activate", "Purge"] as const).filter((verb) => hasVerb(resource, verb));
}

function hasVerb(resource: WrittenResource, verb: Verb | StateVerb): boolean {
  return hasMethod(resource, `${verb}${resource.nouns.one}`);
}

/** Reports whether a resource has a method, named as in the proto. */
export function hasMethod({ service }: Pick<WrittenResource, "service">, method: string): boolean {
  return service.methods.some(({ name }) => name === method);
}

/** Reports whether an Update or a Delete has `allow_missing`. */
export function acceptsMissing({ service, nouns }: WrittenResource, verb: Verb): boolean {
  const method = service.methods.find(({ name }) => name === `${verb}${nouns.one}`);
  return method !== undefined && method.input.fields.some(({ name }) => name === "allow_missing");
}

/** Reports whether a Create and a Delete return an Operation, which the provider of the resource carries out. */
export function isRunByProvider({ service, nouns }: Pick<WrittenResource, "service" | "nouns">): boolean {
  return service.methods.some(({ name, output }) => name === `Create${nouns.one}` && output.name === "Operation");
}

/** Reports whether a resource has a parent in its path. */
export function isInParent({ place }: Pick<WrittenResource, "place">): boolean {
  return place.parents.length > 0;
}

/** Reports whether the resource can be renamed: it has its own name, which is not immutable. */
export function canBeRenamed({ standsFor, definition }: WrittenResource): boolean {
  const name = definition.schema.fields.find((field) => field.name === "name");
  return standsFor === undefined && name !== undefined && !isImmutable(name);
}

/** Reports whether a Create returns a secret, which no later call returns. */
export function hasSecret({ definition }: WrittenResource): boolean {
  return definition.schema.fields.some(({ name }) => name === "secret");
}

/** Returns the permission to do something with a resource. */
export function permissionFor({ type }: WrittenResource, verb: string): string {
  const { area, plural } = resourceTypes[type];
  return `${area}.${plural}.${verb}`;
}

/** Returns the fields that name an item. */
export function nameFields({ standsFor }: WrittenResource, org: string, name: string): Record<string, string> {
  if (standsFor === undefined) return { name };
  return { [standsFor.field]: `${org}/${writtenResource(standsFor.type).collection}/${name}` };
}

/** Returns a mask with the given fields. Over REST, a missing mask is derived from the body. */
export function maskOf(fields: object): { paths: string[] } {
  return { paths: Object.keys(fields).map(protoNameOf) };
}

/** Returns the name of a field as in the proto. */
export function protoNameOf(localName: string): string {
  return localName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
