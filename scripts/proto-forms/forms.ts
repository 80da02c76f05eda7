// What the standard methods look like: one form for each verb, which every resource keeps to.
//
// A form is a function of what a resource's message and its google.api.resource say (resources.ts). A condition in a form is a
// variation and has its reason next to it; there are no other variations. Fields are numbered from 1 in the order of the form.
// In a comment `…` stands for the resource's own words: in backticks for some code, elsewhere for any text or none.
import { batchCreate, batchDelete, batchGet } from "./batch-forms.ts";
import {
  type MessageForm,
  type MethodForm,
  anyPath,
  byId,
  collectionUrlOf,
  either,
  hasPredefined,
  httpRule,
  isAtTop,
  nothingLeft,
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

/** The verbs that a resource has methods for; it has none for the others. */
export function verbsOf({ message, keepsDeleted, canBeSuspended }: Resource): readonly Verb[] {
  return verbs.filter((verb) => {
    switch (verb) {
      case "Create":
      case "BatchCreate":
        // A Customer is created together with its first Org.
        return message.name !== "Customer";
      case "Undelete":
      case "Purge":
        return keepsDeleted;
      case "Suspend":
      case "Activate":
        return canBeSuspended;
      default:
        return true;
    }
  });
}

/** `GetMember`, `ListMembers`; requests and responses are called after it. */
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
  const [thing] = nouns;
  const examples = [quote(example), quote(byId(example))];
  // An id alone picks a resource, unless it is a link, whose id another one can have too. At the top nothing is left out.
  if (!resource.isLink && !isAtTop(resource)) examples.push(quote(byId(anyPath(example))));
  if (hasPredefined(resource)) examples.push("`roles/viewer`");
  return {
    comment: `Answers one ${thing}.…`,
    http: httpRule(places.map((place) => ({ get: urlOf(place) }))),
    permission: "get",
    request: {
      comment: `Names the ${thing} to answer.`,
      fields: [pathField(resource, `The ${thing}, for example ${either(examples)}.`)],
    },
    response: message.typeName,
  };
}

function list(resource: Resource): MethodForm {
  const { message, nouns, isLink } = resource;
  return {
    // A link has an order of its own: that of what it joins.
    comment: `Lists ${nouns[1]}${isLink ? "" : " in the order in which they were created"}…`,
    http: httpRule(resource.places.map((place) => ({ get: collectionUrlOf(place) }))),
    permission: "list",
    // Its calls without a parent are about all orgs, or about what is the same in all.
    ...((message.name === "Org" || hasPredefined(resource)) && { authorization: { lists_all_orgs: true } }),
    request: listRequest(resource),
    response: listResponse(resource),
  };
}

function listRequest(resource: Resource): MessageForm {
  const { nouns, places, keepsDeleted } = resource;
  const [, things] = nouns;
  const ofPredefined = hasPredefined(resource);
  return {
    comment: `Says which ${things} to list.`,
    fields: [
      ...parentField(resource, places, (examples, orEmpty) => {
        return `Whose ${things}, for example ${examples}; ${meaningOfAny(resource)}${orEmpty}.`;
      }),
      {
        name: "page_size",
        type: "int32",
        options: { "[buf.validate.field]": { int32: { gte: 0 } } },
        comment: `How many ${things} to answer at most. 0 stands for 50; more than 1000 is read as 1000.`,
      },
      {
        name: "page_token",
        type: "string",
        options: { "[buf.validate.field]": { string: { max_bytes: "1024" } } },
        comment:
          "The `next_page_token` of the page before; empty for the first page. The other fields must be the same as then.",
      },
      // Of other resources nothing is left to show.
      ...when(keepsDeleted, { name: "show_deleted", type: "bool", comment: `Also list deleted ${things}.` }),
      {
        name: "filter",
        type: "string",
        comment:
          `Which ${things} to list: an AIP-160 filter over their fields, for example \`…\`. ` +
          "A word alone is looked for in names and descriptions." +
          (keepsDeleted ? " Deleted ones are only found with `show_deleted`." : "") +
          (ofPredefined ? " The predefined ones, which are few, take none." : ""),
      },
      {
        name: "order_by",
        type: "string",
        comment:
          "What to order by: up to three fields with commas between them, each followed by `desc` where the order is to " +
          "descend, for example `create_time desc`. By default the order is that of creation." +
          (ofPredefined ? " The predefined ones take none." : ""),
      },
    ],
  };
}

function listResponse(resource: Resource): MessageForm {
  const { message, nouns, keepsDeleted } = resource;
  const [, things] = nouns;
  return {
    comment: `A page of ${things}.`,
    fields: [
      resourcesField(resource, `The ${things}.`),
      { name: "next_page_token", type: "string", comment: "Asks for the next page; empty on the last one." },
      // Counts are kept for each parent, and are exact only where nothing ends by itself.
      ...when(!isAtTop(resource) && !["GroupMember", "RoleBinding"].includes(message.name), {
        name: "total_size",
        type: "optional int32",
        comment: keepsDeleted
          ? `How many ${things} there are in \`parent_path\`, deleted ones aside; given when the list has no filter, does not show deleted ones and is that of one parent, without \`-\`.`
          : `How many ${things} there are in \`parent_path\`; given when the list has no filter and is that of one parent, without \`-\`.`,
      }),
    ],
  };
}

/** What `-` in the `parent_path` of a List means. */
function meaningOfAny(resource: Resource): string {
  const [parent = ""] = parentExamples(resource);
  // Parents of several kinds have no common noun.
  if (resource.parentNoun === undefined) return "`-` stands for any";
  const all = `those of all ${resource.parentNoun}`;
  const [anyHere, anywhere] = [quote(parent.replace(/[^/]+$/, "-")), quote(anyPath(parent))];
  // Parents that are themselves in an Org can also be all of one Org.
  return anyHere === anywhere ? `${anywhere} means ${all}` : `${anyHere} means ${all} of the Org, ${anywhere} ${all}`;
}

function create(resource: Resource): MethodForm {
  const { message, nouns, fieldNames, requiredFields } = resource;
  const [thing] = nouns;
  const fields = either(requiredFields.map(quote), "and");
  const needed = fields === "" ? "" : `; ${fields} ${requiredFields.length > 1 ? "are" : "is"} required`;
  const places = regularPlaces(resource);
  return {
    // The method of a link says what it joins.
    comment: resource.isLink ? "…" : `Creates ${withArticle(thing)}…`,
    http: httpRule(places.map((place) => ({ post: collectionUrlOf(place), body: fieldNames[0] }))),
    permission: "create",
    request: {
      comment: `Holds the ${thing} to create.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `Where to create it, for example ${examples}${orEmpty}.`;
        }),
        resourceField(resource, `The ${thing}${needed}.`),
        ...writeFields(resource),
      ],
    },
    response: message.typeName,
  };
}

function update(resource: Resource): MethodForm {
  const { message, nouns, example, fieldNames, isLink } = resource;
  const [thing] = nouns;
  // The secret of an API key is answered only when it is created.
  const secret = message.name === "ApiKey" ? "; the answer holds its secret, for the only time" : "";
  return {
    // A link has few fields, and its method and the example of its mask name them.
    comment: isLink ? "…" : `Changes the fields of ${withArticle(thing)} that \`update_mask\` names.…`,
    http: httpRule(regularPlaces(resource).map((place) => ({ patch: urlOf(place), body: fieldNames[0] }))),
    permission: "update",
    ...(!isAtTop(resource) && { authorization: { create_permission: `iam.${resource.plural}.create` } }),
    request: {
      comment: `Says what to change in which ${thing}.`,
      fields: [
        pathField(resource, `The ${thing}, for example ${quote(example)} or ${quote(byId(example))}.`),
        resourceField(resource, "The new values."),
        {
          name: "update_mask",
          type: "google.protobuf.FieldMask",
          comment:
            `The fields to change, for example ${isLink ? "`…`" : "`display_name,labels`"}; \`*\` means all. When it is left out, ` +
            "the fields that hold a value are changed; over REST, those that the body mentions.",
        },
        // An Org can be created with a new Customer, and a Customer only with its first Org: an Update does neither.
        ...when(!isAtTop(resource), {
          name: "allow_missing",
          type: "bool",
          comment: `Create the ${thing} when it is not there. Its name is the one in \`path\`${secret}. That needs the permission to create one, too.`,
        }),
        ...writeFields(resource),
      ],
    },
    response: message.typeName,
  };
}

function remove(resource: Resource): MethodForm {
  const { nouns, example } = resource;
  const [thing] = nouns;
  return {
    // The method of a link says what it parts.
    comment: resource.isLink ? "…" : `Deletes ${withArticle(thing)}…`,
    http: httpRule(regularPlaces(resource).map((place) => ({ delete: urlOf(place) }))),
    permission: "delete",
    request: {
      comment: `Names the ${thing} to delete.`,
      fields: [
        pathField(resource, `The ${thing}, for example ${quote(example)} or ${quote(byId(example))}.`),
        {
          name: "etag",
          type: "string",
          comment: `When given, the ${thing} is deleted only if this is its current etag.`,
        },
        {
          name: "allow_missing",
          type: "bool",
          comment: "Succeed when there is nothing to delete; the answer is then empty.",
        },
        ...writeFields(resource),
      ],
    },
    // What stays readable is answered.
    response: resource.keepsDeleted ? resource.message.typeName : nothingLeft(resource),
  };
}
