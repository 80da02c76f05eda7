import { MemberSchema, MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { hasAddress } from "./email.ts";
import { memberPath, toMember } from "./message.ts";
import { memberColumns, selectMembers } from "./store.ts";
import { orgById } from "../../paths/format-path.ts";

export const memberDefinition = defineResource({
  type: "Member",
  service: MembersService,
  schema: MemberSchema,
  label: { one: "member", many: "members" },
  places: [placeBelow("Member", orgDefinition, "org_id")],
  storage: {
    table: "members",
    key: ["org_id", "id"],
    id: "id",
    columns: memberColumns,
    unread: [],
    select: selectMembers,
    pagesArePlannedOnce: true,
    called: levelOf("members", true),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["members_name_key"],
  },
  toMessage: toMember,
  pathOf: memberPath,
  logged: { joinedById: orgById },
  fields: {
    type: enumerated("members.type", ["USER", "APPLICATION"]),
    invitation_expire_time: scalar("timestamp", "members.invitation_expire_time"),
    email: text("members.email", { nullable: true, equals: hasAddress }),
  },
  lifecycle: { states: ["INVITED", "ACTIVE", "SUSPENDED"], contents: "open", deletedNames: "reusable" },
  limit: {
    variable: "TENANTRY_MAX_MEMBERS_PER_ORG",
    default: 1_000_000,
    max: 100_000_000,
    help: "How many members an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: {
    namedIn: "members",
    otherVerbs: ["introspectTokens"],
    heldBy: {
      // All but `erase`.
      "members-admin": [
        "get",
        "list",
        "create",
        "update",
        "delete",
        "undelete",
        "suspend",
        "activate",
        "invite",
        "sendInvitation",
        "purge",
        "impersonate",
        "introspectTokens",
        "revokeTokens",
      ],
      "token-introspector": ["introspectTokens"],
      "groups-admin": ["get", "list"],
      "api-keys-admin": ["get", "list"],
    },
    notByAdmin: ["erase"],
  },
});
