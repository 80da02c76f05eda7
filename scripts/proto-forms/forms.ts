// The forms of the standard methods: one for each verb, the same for every resource.
//
// A form is a function of a resource's message and its google.api.resource option (resources.ts). Every variation is a condition
// in a form, with its reason next to it. Fields are numbered from 1 in the order of the form. In a comment, `…` matches text that
// is specific to the resource: any code if it is in backticks, otherwise any text or none.
import type { JsonObject } from "@bufbuild/protobuf";
import { batchCreate, batchDelete, batchGet } from "./batch-forms.ts";
import {
  type MessageForm,
  type MethodForm,
  anyPath,
  byId,
  collectionUrlOf,
  either,
  fieldsOfMask,
  hasPredefined,
  httpRule,
  isAtTop,
  momentFields,
  nothingLeft,
  operation,
  parentExamples,
  parentField,
  pathField,
  regularPlaces,
  quote,
  resourceField,
  resourcesField,
  urlOf,
  when,
  withArticle,
  writeFields,
} from "./form-parts.ts";
import type { Resource } from "./resources.ts";
import { activate, purge, suspend, undelete } from "./state-forms.ts";

export const verbs = [
  "Get",
  "List",
  "Create",
  "Update",
  "Delete",
  "Undelete",
  "Suspend",
  "Activate",
  "Purge",
  "BatchGet",
  "BatchCreate",
  "BatchDelete",
] as const;

export type Verb = (typeof verbs)[number];

/** Returns the verbs for which a resource must have methods; it must have none for the others. */
export function verbsOf({ message, keepsDeleted, canBeSuspended, ...resource }: Resource): readonly Verb[] {
  if (resource.isOperation) return ["Get", "List"];
  if (resource.isDecided) return ["Get", "List", "Create"];
  // A Session is started with a token.
  if (message.name === "Session") return ["Get", "List", "Delete"];
  return verbs.filter((verb) => {
    switch (verb) {
      case "Create":
      case "BatchCreate":
        // A Customer is created together with its first Org.
        return message.name !== "Customer";
      case "Undelete":
        return keepsDeleted;
      case "Purge":
        // Its provider purges a resource by an operation, which RunResource starts.
        return keepsDeleted && !resource.isRunByProvider;
      case "Suspend":
      case "Activate":
        return canBeSuspended;
      default:
        return true;
    }
  });
}

/** Returns the name of a method: `GetMember`, `ListMembers`. Its request and response are named after it. */
export function methodName(verb: Verb, { methodNouns: [one, many] }: Resource): string {
  return `${verb}${verb === "List" || verb.startsWith("Batch") ? many : one}`;
}

export const forms: { readonly [Each in Verb]: (resource: Resource) => MethodForm } = {
  Get: get,
  List: list,
  Create: create,
  Update: update,
  Delete: remove,
  Undelete: undelete,
  Suspend: suspend,
  Activate: activate,
  Purge: purge,
  BatchGet: batchGet,
  BatchCreate: batchCreate,
  BatchDelete: batchDelete,
};

function get(resource: Resource): MethodForm {
  const { message, nouns, example, places } = resource;
  const [[thing], examples] = [nouns, [quote(example), quote(byId(example))]];
  // An id identifies a resource without its parent, except for links, which share ids. A top-level resource has no parent.
  if (!resource.isLink && !isAtTop(resource)) examples.push(quote(byId(anyPath(example))));
  if (hasPredefined(resource)) examples.push("`roles/viewer`");
  const path = pathField(resource, `The ${thing}, for example ${either([...new Set(examples)])}.`);
  return {
    comment: `Returns ${withArticle(thing)}.…`,
    http: httpRule(places.map((place) => ({ get: urlOf(place) }))),
    permission: "get",
    request: {
      comment: `Names the ${thing} to return.`,
      fields: [path, ...momentFields(resource)],
    },
    response: message.typeName,
  };
}

function list(resource: Resource): MethodForm {
  const { message, nouns, isLink } = resource;
  return {
    // Links are sorted by the ids of the resources that they join.
    comment: `Lists ${nouns[1]}${isLink ? "" : " in order of creation"}…`,
    http: httpRule(resource.places.map((place) => ({ get: collectionUrlOf(place) }))),
    permission: "list",
    // Without a parent, it lists the orgs, or the roles that are the same in all orgs.
    ...((message.name === "Org" || hasPredefined(resource)) && { authorization: { lists_all_orgs: true } }),
    request: listRequest(resource),
    response: listResponse(resource),
  };
}

function listRequest(resource: Resource): MessageForm {
  const { nouns, places, keepsDeleted, isLink, isRunByProvider } = resource;
  const [, things] = nouns;
  const ofPredefined = hasPredefined(resource);
  // A link has the id of a resource that it joins, so the order of ids is not that in which links were created.
  const order = `the order of ${isLink ? "`id`" : "creation"}${isAtTop(resource) ? "" : ", parent by parent"}`;
  const showDeleted = { name: "show_deleted", type: "bool", comment: `Whether to include deleted ${things}.` };
  return {
    comment: `Specifies which ${things} to list.`,
    fields: [
      ...parentField(resource, places, (examples, orEmpty) => {
        return `The parent of the ${things}, for example ${examples}; ${meaningOfAny(resource)}${orEmpty}.`;
      }),
      {
        name: "page_size",
        type: "int32",
        options: { "[buf.validate.field]": { int32: { gte: 0 } } },
        comment: `The maximum number of ${things} to return. Defaults to 50; values above 1000 are treated as 1000.`,
      },
      {
        name: "page_token",
        type: "string",
        options: { "[buf.validate.field]": { string: { max_bytes: "1024" } } },
        comment:
          "The `next_page_token` of the previous page; empty for the first page. All fields except `page_size` must be the " +
          "same as in the request for the previous page.",
      },
      // Other resources are deleted permanently.
      ...when(keepsDeleted && !isRunByProvider, showDeleted),
      {
        name: "filter",
        type: "string",
        comment:
          `An AIP-160 filter over the fields of the ${things}, for example \`…\`.` +
          (resource.isUnnamed ? "" : " A bare word is searched for in names and descriptions.") +
          (keepsDeleted ? ` Deleted ${things} are found only with \`show_deleted\`.` : "") +
          (ofPredefined ? " Not supported for the predefined Roles." : ""),
      },
      {
        name: "order_by",
        type: "string",
        comment:
          "The fields to sort by: up to three, separated by commas, each optionally followed by `desc` for descending order, " +
          `for example \`create_time desc\`. The default is ${order}.` +
          (ofPredefined ? " Not supported for the predefined Roles." : ""),
      },
      // Came later, so its number is the last.
      ...when(keepsDeleted && isRunByProvider, showDeleted),
      ...momentFields(resource),
    ],
  };
}

function listResponse(resource: Resource): MessageForm {
  const { message, nouns, keepsDeleted } = resource;
  const things = nouns[1];
  return {
    comment: `A page of ${things}.`,
    fields: [
      resourcesField(resource, `The ${things}.`),
      {
        name: "next_page_token",
        type: "string",
        comment: "The `page_token` for the next page; empty on the last page.",
      },
      // Counts are kept for each parent, but not of Operations and Sessions. They are inexact for resources that expire.
      ...when(!isAtTop(resource) && !["GroupMember", "RoleBinding", "Operation", "Session"].includes(message.name), {
        name: "total_size",
        type: "optional int32",
        comment: keepsDeleted
          ? `The number of ${things} in \`parent_path\`, without deleted ones. Set only if the request has no filter, does not include deleted ${things} and names one parent, without \`-\`.`
          : `The number of ${things} in \`parent_path\`. Set only if the request has no filter and names one parent, without \`-\`${resource.isDecided ? ", and if the caller may see all of them" : ""}.`,
      }),
      // Only an Org has revisions.
      ...when(
        resource.patterns.some((pattern) => pattern.startsWith("orgs/{org}/")),
        {
          name: "revision",
          type: "string",
          comment:
            "The revision of the Org that the list shows: a watch of its changes with it as `after_revision` has what was changed since. " +
            "That of the first page, on all pages: later ones show some of these changes already. Empty for a list that is not of one Org, " +
            "and on later pages while servers of the version before may read their tokens.",
        },
      ),
    ],
  };
}

/** Describes what `-` means in the `parent_path` of a List. */
function meaningOfAny(resource: Resource): string {
  const [parent = ""] = parentExamples(resource);
  // Parents of several types have no common noun.
  if (resource.parentNoun === undefined) return "`-` stands for any parent";
  const all = `all ${resource.parentNoun}`;
  const [anyHere, anywhere] = [quote(parent.replace(/[^/]+$/, "-")), quote(anyPath(parent))];
  // Parents that are in an Org can be all parents in one Org or in all Orgs.
  return anyHere === anywhere
    ? `${anywhere} stands for ${all}`
    : `${anyHere} stands for ${all} of the Org, ${anywhere} for ${all} of all Orgs`;
}

function create(resource: Resource): MethodForm {
  const { message, nouns, fieldNames, requiredFields } = resource;
  const [thing] = nouns;
  const fields = either(requiredFields.map(quote), "and");
  const needed = fields === "" ? "" : `; ${fields} ${requiredFields.length > 1 ? "are" : "is"} required`;
  const places = regularPlaces(resource);
  return {
    // The comment for a link describes what it joins.
    comment: resource.isLink ? "…" : `Creates ${withArticle(thing)}…`,
    http: httpRule(places.map((place) => ({ post: collectionUrlOf(place), body: fieldNames[0] }))),
    permission: "create",
    request: {
      comment: `Contains the ${thing} to create.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `The parent of the new ${thing}, for example ${examples}${orEmpty}.`;
        }),
        resourceField(resource, `The ${thing} to create${needed}.`),
        ...writeFields(resource),
      ],
    },
    response: resource.isRunByProvider ? operation : message.typeName,
  };
}

function updateAuthorization(resource: Resource): JsonObject {
  if (resource.isRunByProvider) return {};
  if (!isAtTop(resource)) return { create_permission: `${resource.permissions}.create` };
  // Names at the top are unique on the whole platform. A Customer is created together with its first Org.
  return resource.nameIsImmutable ? {} : { rename_permission: "iam.orgs.create" };
}

function update(resource: Resource): MethodForm {
  const { message, nouns, example, fieldNames, isLink } = resource;
  const [thing] = nouns;
  // The secret of an API key is returned only when it is created.
  const secret = message.name === "ApiKey" ? " Only this response contains its secret." : "";
  return {
    // A link has few fields, which the comments of its method and of its mask name.
    comment: isLink ? "…" : `Updates the fields of ${withArticle(thing)} that \`update_mask\` names.…`,
    http: httpRule(regularPlaces(resource).map((place) => ({ patch: urlOf(place), body: fieldNames[0] }))),
    permission: "update",
    authorization: updateAuthorization(resource),
    request: {
      comment: `Specifies the changes to ${withArticle(thing)}.`,
      fields: [
        pathField(resource, `The ${thing}, for example ${quote(example)} or ${quote(byId(example))}.`),
        resourceField(resource, "The new values of the fields."),
        {
          name: "update_mask",
          type: "google.protobuf.FieldMask",
          comment:
            `The fields to update, for example ${isLink ? "`…`; `*` means all fields" : fieldsOfMask}. If unset, ` +
            "the fields that have a value are updated; over REST, the fields that the body contains.",
        },
        // An Org may need a new Customer, and a Customer is created only with its first Org: an Update creates neither.
        ...when(!isAtTop(resource) && !resource.isRunByProvider, {
          name: "allow_missing",
          type: "bool",
          comment: `Whether to create the ${thing} if it does not exist, with the name in \`path\`.${secret} Creating it also requires the permission \`${resource.permissions}.create\`.`,
        }),
        ...writeFields(resource),
      ],
    },
    response: message.typeName,
  };
}

function removed(resource: Resource): string {
  if (resource.isRunByProvider) return operation;
  // A resource that stays readable is returned.
  return resource.keepsDeleted ? resource.message.typeName : nothingLeft(resource);
}

function remove(resource: Resource): MethodForm {
  const [[thing], example] = [resource.nouns, resource.example];
  return {
    // The comment for a link describes what it separates.
    comment: resource.isLink ? "…" : `Deletes ${withArticle(thing)}…`,
    http: httpRule(regularPlaces(resource).map((place) => ({ delete: urlOf(place) }))),
    permission: "delete",
    request: {
      comment: `Names the ${thing} to delete.`,
      fields: [
        pathField(
          resource,
          `The ${thing}, for example ${either([...new Set([quote(example), quote(byId(example))])])}.`,
        ),
        {
          name: "etag",
          type: "string",
          comment: `If set, the request fails with ABORTED unless this is the ${thing}'s current etag.`,
        },
        ...when(!resource.isRunByProvider, {
          name: "allow_missing",
          type: "bool",
          comment: `Whether to succeed if the ${thing} does not exist or is already deleted. If it does not exist, the response is empty.`,
        }),
        ...writeFields(resource),
        ...when(resource.holdsInfrastructure, {
          name: "force",
          type: "bool",
          comment: `Whether to delete the ${thing} even if there are infrastructure resources in it. Their providers are asked to delete them, and the ${thing} is purged when they have.`,
        }),
      ],
    },
    response: removed(resource),
  };
}
