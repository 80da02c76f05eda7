// What a file of an org is made of: the resources, in an order in which each depends on earlier ones only, and which of their fields a file
// has. Fields are read from the protos, so that a new one is in files without a line here.
import {
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageShape,
  create,
  isMessage,
} from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { ClientSchema, ClientsService } from "../../gen/iam/v1alpha/client_pb.ts";
import { GroupMemberSchema, GroupMembersService, SubgroupSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupSchema, GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { IdentityProviderSchema, IdentityProvidersService } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { MemberSchema, Member_Type, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectSchema, ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { QuotaSchema } from "../../gen/iam/v1alpha/quota_pb.ts";
import { RoleBindingSchema, RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RoleSchema, RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { WebhookSchema, Webhook_Format, Webhook_Signature, WebhooksService } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../errors/required.ts";
import { isInputOnly, isOutputOnly } from "../validation/field-behavior.ts";

export const fileTypes = [
  "member",
  "role",
  "group",
  "project",
  "subgroup",
  "membership",
  "role binding",
  "identity provider",
  "client",
  "webhook",
] as const;

export type FileType = (typeof fileTypes)[number];

/** What a file has: resources, and each limit of a quota by itself, since each is set, pruned and managed by itself. */
const entryTypes = [...fileTypes, "limit"] as const;

export type EntryType = (typeof entryTypes)[number];

/** A resource of a file, or a limit of a quota (`limits.ts`). */
export interface FileResource {
  readonly type: EntryType;
  /** Its path below the org: `groups/platform/members/alice`. */
  readonly path: string;
  /** With the fields that a file has; the others are empty. */
  readonly message: Message;
}

/** What every resource of a file has in responses. */
export interface Identified {
  /** Its full path. */
  readonly path: string;
  /** That of a membership or subgroup is of what is in the group. */
  readonly id: string;
  readonly createTime?: Timestamp | undefined;
}

export interface FileForm {
  /** The plural in prose. */
  readonly many: string;
  readonly schema: DescMessage;
  readonly list: DescMethodUnary;
  /** The field with the resources in the responses that list or create several. */
  readonly items: string;
  /** Below the org, what lists have as the parent: the org itself, or all groups or projects of it. */
  readonly parents: readonly ("" | "/groups/-" | "/projects/-")[];
}

export const fileForms: Readonly<Record<FileType, FileForm>> = {
  member: {
    many: "members",
    schema: MemberSchema,
    list: MembersService.method.listMembers,
    items: "members",
    parents: [""],
  },
  role: { many: "roles", schema: RoleSchema, list: RolesService.method.listRoles, items: "roles", parents: [""] },
  group: { many: "groups", schema: GroupSchema, list: GroupsService.method.listGroups, items: "groups", parents: [""] },
  project: {
    many: "projects",
    schema: ProjectSchema,
    list: ProjectsService.method.listProjects,
    items: "projects",
    parents: [""],
  },
  subgroup: {
    many: "subgroups",
    schema: SubgroupSchema,
    list: GroupMembersService.method.listSubgroups,
    items: "subgroups",
    parents: ["/groups/-"],
  },
  membership: {
    many: "memberships",
    schema: GroupMemberSchema,
    list: GroupMembersService.method.listGroupMembers,
    items: "members",
    parents: ["/groups/-"],
  },
  "role binding": {
    many: "role bindings",
    schema: RoleBindingSchema,
    list: RoleBindingsService.method.listRoleBindings,
    items: "roleBindings",
    parents: ["", "/projects/-"],
  },
  "identity provider": {
    many: "identity providers",
    schema: IdentityProviderSchema,
    list: IdentityProvidersService.method.listIdentityProviders,
    items: "identityProviders",
    parents: [""],
  },
  client: {
    many: "clients",
    schema: ClientSchema,
    list: ClientsService.method.listClients,
    items: "clients",
    parents: [""],
  },
  webhook: {
    many: "webhooks",
    schema: WebhookSchema,
    list: WebhooksService.method.listWebhooks,
    items: "webhooks",
    parents: [""],
  },
};

export function schemaOf(type: EntryType): DescMessage {
  return type === "limit" ? QuotaSchema : fileForms[type].schema;
}

/** Returns the plural in prose. */
export function manyOf(type: EntryType): string {
  return type === "limit" ? "limits of quotas" : fileForms[type].many;
}

/** Returns the resources of a response that lists or creates several. */
export function itemsOf(
  response: Readonly<Record<string, unknown>>,
  type: FileType,
): readonly (Message & Identified)[] {
  const items = response[fileForms[type].items];
  if (!Array.isArray(items)) throw new Error(`a response has no list of ${type}s`);
  return items.filter(isIdentified);
}

const isIdentified = (item: unknown): item is Message & Identified => isMessage(item) && "path" in item && "id" in item;

/** What names a resource in a file. The others have a `name`. */
const nameFields: Partial<Record<EntryType, string>> = { membership: "member_path", subgroup: "group_path" };

/** Returns the key of a resource's name, or path, in a file. */
export const nameFieldOf = (type: EntryType): string => nameFields[type] ?? "name";

/**
 * Fields that callers set and a file does not have: versions, the Customer, in whose account the org is, what invoices name, which a file
 * from before it would empty, whether members of the platform need an approval, which nobody unsets unsaid, the end of an invitation,
 * which is over when the member has accepted it, and what is done at first sign-ins, which counts by the access of who has set it: who applies a
 * file, or leads an org back, would not know to be that. How many approve requests for access is decided by owners alone.
 */
const notInFiles: ReadonlySet<string> = new Set([
  "etag",
  "customer_path",
  "support_access_required",
  "legal_name",
  "billing_reference",
  "access_request_approvals",
  "invitation_expire_time",
  "on_first_sign_in",
  "first_sign_in_condition",
  "first_sign_in_group_paths",
]);

/** To read the options of fields for each resource would take most of the time of an export. */
const fileFields: ReadonlyMap<DescMessage, readonly DescField[]> = new Map(
  [OrgSchema, ...Object.values(fileForms).map(({ schema }) => schema)].map((schema) => [
    schema,
    schema.fields.filter((field) => !isOutputOnly(field) && !notInFiles.has(field.name)),
  ]),
);

/** Returns the fields of a resource that a file has. */
export const fileFieldsOf = (schema: DescMessage): readonly DescField[] => required(fileFields.get(schema));

/** Those that are written and never read, by their names in files. */
export const secretFields: ReadonlySet<string> = new Set(
  [...fileFields.values()].flatMap((fields) => fields.filter(isInputOnly).map(({ name }) => name)),
);

/**
 * Returns a resource as an export has it: with the fields of files only, permissions and labels in order, and without secrets and what is left
 * out because it is implied.
 */
export function toFileMessage<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  return withFields(schema, message, (field, from) => !isImplied(field, from));
}

/** Does so with what is implied. */
export function toWholeFileMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): MessageShape<Desc> {
  return withFields(schema, message, () => true);
}

function withFields<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  isKept: (field: DescField, from: ReflectMessage) => boolean,
): MessageShape<Desc> {
  const kept = create(schema);
  const [from, to] = [reflect(schema, message), reflect(schema, kept)];
  for (const field of fileFieldsOf(schema))
    if (from.isSet(field) && !secretFields.has(field.name) && isKept(field, from)) copyField(field, from, to);
  return kept;
}

function isImplied({ name, parent }: DescField, message: ReflectMessage): boolean {
  if (name === "display_name") return message.get(required(parent.field["displayName"])) === nameOf(message);
  if (name === "type") return isMessage(message.message, MemberSchema) && message.message.type === Member_Type.USER;
  if (!isMessage(message.message, WebhookSchema)) return false;
  const { format, signature } = message.message;
  return name === "format"
    ? format === Webhook_Format.STANDARD
    : name === "signature" && signature === Webhook_Signature.HMAC_SHA256;
}

const nameOf = (message: ReflectMessage): unknown => message.get(required(message.desc.field["name"]));

/** Orders what has no order of its own: the texts of a list and the keys of a map. */
function copyField(field: DescField, from: ReflectMessage, to: ReflectMessage): void {
  if (field.fieldKind === "list") {
    const items = [...from.get(field)].toSorted(byCodeUnits);
    // The service keeps each redirect URI once.
    for (const item of field.name === "redirect_uris" ? new Set(items) : items) to.get(field).add(item);
  } else if (field.fieldKind === "map") {
    const entries = [...from.get(field)].toSorted(([one], [other]) => byCodeUnits(one, other));
    for (const [key, value] of entries) to.get(field).set(key, value);
  } else to.set(field, from.get(field));
}

const byCodeUnits = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

/** `/orgs/acme/groups/platform` becomes `groups/platform`. */
export const pathBelowOrg = (path: string): string => path.split("/").slice(3).join("/");

/** `groups/platform` of `groups/platform/members/alice`; empty for what is in the org itself. */
export const parentPathOf = (path: string): string => path.split("/").slice(0, -2).join("/");

/** Orders resources by their types and paths, and leaves out what was read twice. */
export function inOrder<Resource extends FileResource>(resources: readonly Resource[]): Resource[] {
  const byPath = new Map(resources.map((resource) => [resource.path, resource]));
  return [...byPath.values()].toSorted((one, other) => {
    const byType = entryTypes.indexOf(one.type) - entryTypes.indexOf(other.type);
    return byType === 0 ? (one.path < other.path ? -1 : 1) : byType;
  });
}
