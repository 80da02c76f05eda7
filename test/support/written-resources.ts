// Every resource that can be written, as one table, so that a test that holds for all writes is written once. An entry says
// what cannot be derived; the rest follows from the definition of the resource and its proto.
import type { DescField, DescService } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "../../gen/resource-types.ts";
import { registry } from "../../src/catalog.ts";
import { type ResourceType, methodNouns } from "../../src/paths/patterns.ts";
import {
  type ResourceDefinition,
  type ResourcePlace,
  isNamed,
  keepsDeleted,
} from "../../src/standard-methods/definition/definition.ts";
import { required } from "../../src/errors/required.ts";
import { isImmutable } from "../../src/standard-methods/write/field-behavior.ts";
import type { Protocol } from "./transports.ts";

interface AnyEntry {
  /** Creates one where there is no Create: it comes with one of this type that is created under the same name. */
  readonly createdWith?: ResourceType;
  /** The field that names its parent, where its path does not. */
  readonly parentField?: string;
  /** What must be in the org before one can be created: the name of one of each type. */
  readonly before?: Readonly<Partial<Record<ResourceType, string>>>;
  /** Fields that must be set, beside what names it. */
  readonly fieldsIn?: (org: string, name: string) => object;
  /**
   * SQL for columns of its own, in the row of the number `n`, which `test/standard-methods/many-rows.ts` fills: those that are not
   * null and take neither an empty value nor the id of another row.
   */
  readonly columns?: Readonly<Record<string, string>>;
}

/** Fields that break a rule, one by one. A resource of several places takes another one in each. */
type Broken = readonly [object, ...object[]];

/** A resource with a name of its own. */
interface NamedEntry extends AnyEntry {
  readonly standsFor?: undefined;
  /** Fields that an Update takes, and that change what was made; display name and labels unless they are given. */
  readonly change?: object;
  /** A display name that is too long unless it is given. */
  readonly broken?: Broken;
}

/** A resource that is called as another one of the org is, which must be there first. */
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
};

/** Resources that have no Create and Update of their own: providers create and delete some, with `columns` as in an entry. Their tests are in test/resources. */
const runByProviders = {
  Resource: {
    state: "'ACTIVE'",
    state_reason: "''",
    parameters: "'{}'",
    ...amounts,
  },
  Session: {
    token_gen: "null",
    refresh_count: "0",
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

type WrittenType = Exclude<ResourceType, keyof typeof runByProviders>;

const isWritten = (type: ResourceType): type is WrittenType => !(type in runByProviders);

/** What a new resource needs for all tests of what every resource does: an entry here. */
const entries: Readonly<Record<WrittenType, NamedEntry | StandingEntry>> = {
  Customer: { createdWith: "Org" },
  Org: { parentField: "customerPath" },
  Project: {},
  Member: {},
  ApiKey: { broken: [{ expireTime: past }], columns: { prefix: "n" } },
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
  RoleBinding: {
    before: { Group: "holder" },
    fieldsIn: (org) => ({ rolePath: "/roles/viewer", subjectPath: `${org}/groups/holder` }),
    broken: [{ expireTime: past }, { condition: "request.time <" }],
  },
};

/** A resource in one of its places. */
export interface WrittenResource extends Omit<AnyEntry, "columns"> {
  /** As people call several: `role bindings of projects`. */
  readonly name: string;
  readonly type: ResourceType;
  readonly service: DescService;
  readonly definition: ResourceDefinition;
  readonly place: ResourcePlace;
  /** The collection in its paths. */
  readonly collection: string;
  /** What its methods are called after: `GetApiKey`, `BatchGetApiKeys`. */
  readonly nouns: { readonly one: string; readonly many: string };
  /** The field of requests that holds one. */
  readonly field: DescField;
  /** The field that names it in a Create: a name, or the path of what it stands for. */
  readonly namedBy: string;
  readonly standsFor: StandingEntry["standsFor"] | undefined;
  /** Fields that an Update takes, and that change what was made. */
  readonly change: object;
  /** Fields that break a rule, and the one that errors name, as protos spell it. */
  readonly broken: object;
  readonly brokenField: string;
}

/** All resources: in the place that their protos name first, and in all others that are in an org. */
export const writtenResources: readonly WrittenResource[] = registry.definitions.flatMap((definition) =>
  !isWritten(definition.type)
    ? []
    : definition.places
        .filter(({ parents }, index) => index === 0 || parents[0]?.type === "Org")
        .map((place, index) => writtenIn(definition, place, index)),
);

/**
 * Returns what a test of all resources goes through over a protocol: all cases over REST, where each resource has routes of its
 * own; over another protocol the first of each kind of resource. There, calls differ in their encoding alone, and
 * `test/access/every-method.test.ts` holds that for every method.
 */
export function casesOver<Case extends { readonly resource: WrittenResource }>(
  protocol: Protocol,
  cases: readonly Case[],
): readonly Case[] {
  if (protocol === "REST") return cases;
  return [...Map.groupBy(cases, ({ resource }) => kindOf(resource)).values()].map(([first]) => required(first));
}

/** What makes calls for resources different: where they are, what names them, and what their rows keep. */
function kindOf(resource: WrittenResource): string {
  const { createdWith, standsFor, definition } = resource;
  const traits = [
    createdWith,
    isInParent(resource),
    standsFor !== undefined,
    hasSecret(resource),
    keepsDeleted(definition),
  ];
  return traits.join();
}

/** A resource in the place that its proto names first. */
export function writtenResource(type: ResourceType): WrittenResource {
  return required(writtenResources.find((resource) => resource.type === type));
}

function writtenIn(definition: ResourceDefinition, place: ResourcePlace, index: number): WrittenResource {
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

/** Changes and mistakes that every resource with a name takes. */
function namedFieldsOf({ storage }: ResourceDefinition): { change: object; broken: Broken } {
  const labels = storage.labels !== "none" && { labels: { tier: "gold" } };
  return { change: { displayName: "Changed", ...labels }, broken: [{ displayName: "Ä".repeat(513) }] };
}

function definedIn({ change, broken }: NamedEntry | StandingEntry): { change?: object; broken?: Broken } {
  return { ...(change && { change }), ...(broken && { broken }) };
}

/** SQL for columns of a resource that no rule fills in. */
export function ownColumnsOf(type: ResourceType): Readonly<Record<string, string>> {
  return isWritten(type)
    ? (entries[type].columns ?? {})
    : (runByProviders as Record<string, Record<string, string>>)[type]!;
}

export type Verb = "Create" | "Update" | "Delete";

/** Methods that make something of the state of an item. */
export type StateVerb = "Undelete" | "Suspend" | "Activate" | "Purge";

/** The writes that a resource has. */
export function verbsOf(resource: WrittenResource): Verb[] {
  return (["Create", "Update", "Delete"] as const).filter((verb) => hasMethod(resource, verb));
}

/** The methods that change the state of a resource. */
export function stateVerbsOf(resource: WrittenResource): StateVerb[] {
  return (["Undelete", "Suspend", "Activate", "Purge"] as const).filter((verb) => hasMethod(resource, verb));
}

function hasMethod({ service, nouns }: WrittenResource, verb: Verb | StateVerb): boolean {
  return service.methods.some(({ name }) => name === `${verb}${nouns.one}`);
}

/** Whether a resource is in another one, as its paths say. */
export function isInParent({ place }: Pick<WrittenResource, "place">): boolean {
  return place.parents.length > 0;
}

/** Whether its name can be changed: it has one of its own, which is not immutable. */
export function canBeRenamed({ standsFor, definition }: WrittenResource): boolean {
  const name = definition.schema.fields.find((field) => field.name === "name");
  return standsFor === undefined && name !== undefined && !isImmutable(name);
}

/** Whether a new one is answered with a secret that is never told again. */
export function hasSecret({ definition }: WrittenResource): boolean {
  return definition.schema.fields.some(({ name }) => name === "secret");
}

/** The permission to do something with a resource. */
export function permissionFor({ type }: WrittenResource, verb: string): string {
  const { area, plural } = resourceTypes[type];
  return `${area}.${plural}.${verb}`;
}

/** What gives an item of a resource its name. */
export function nameFields({ standsFor }: WrittenResource, org: string, name: string): Record<string, string> {
  if (standsFor === undefined) return { name };
  return { [standsFor.field]: `${org}/${writtenResource(standsFor.type).collection}/${name}` };
}

/** The mask of fields that are there. Over REST a mask is read from the body when there is none. */
export function maskOf(fields: object): { paths: string[] } {
  return { paths: Object.keys(fields).map(protoNameOf) };
}

/** A field as protos spell it. */
export function protoNameOf(localName: string): string {
  return localName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
