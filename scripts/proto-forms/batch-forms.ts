// The forms of BatchGet, BatchCreate and BatchDelete.
import {
  type MethodForm,
  accessPreviewField,
  batchSizeOf,
  collectionUrlOf,
  httpRule,
  isAtTop,
  nothingLeft,
  operationsField,
  parentField,
  parentExamples,
  pathsField,
  quote,
  regularPlaces,
  required,
  resourcesField,
  when,
  writeFields,
} from "./form-parts.ts";
import type { Resource } from "./resources.ts";

export function batchGet(resource: Resource): MethodForm {
  const [, things] = resource.nouns;
  const places = regularPlaces(resource);
  const urls = places.map((place) => `${collectionUrlOf(place)}:batchGet`);
  return {
    comment: `Returns several ${things} in the order of \`paths\`. Fails with NOT_FOUND if any of them does not exist.`,
    http: httpRule(urls.flatMap((url) => [{ get: url }, { post: url, body: "*" }])),
    permission: "get",
    request: {
      comment: `Names the ${things} to return.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `The parent of the ${things}, for example ${examples}; \`-\` stands for any parent${orEmpty}.`;
        }),
        pathsField(resource, 1000, " POST accepts lists that do not fit into a URL."),
      ],
    },
    response: {
      comment: `Contains the requested ${things}.`,
      fields: [resourcesField(resource, `The ${things}, in the order of the request.`)],
    },
  };
}

export function batchCreate(resource: Resource): MethodForm {
  const { message, nouns, methodNouns, affectsAccess } = resource;
  const [thing, things] = nouns;
  const places = regularPlaces(resource);
  const most = batchSizeOf(resource);
  const all = parentsInOrg(resource);
  const same = isAtTop(resource) ? "" : " Their `parent_path` must be the `parent_path` of the batch or empty.";
  const own = all && ` With \`-\` in the \`parent_path\` of the batch, each must have its own \`parent_path\`.`;
  const parents = `${same}${own ?? ""}`;
  const each = all === undefined ? "" : `; ${quote(all)} stands for those that the requests name`;
  return {
    comment: `Creates several ${things} in one transaction. If any of them cannot be created, none is.…`,
    http: httpRule(places.map((place) => ({ post: `${collectionUrlOf(place)}:batchCreate`, body: "*" }))),
    permission: "create",
    request: {
      comment: `Contains the ${things} to create.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `The parent of the new ${things}, for example ${examples}${each}${orEmpty}.`;
        }),
        {
          name: "requests",
          type: `repeated ${message.file.proto.package}.Create${methodNouns[0]}Request`,
          options: { ...required, "[buf.validate.field]": { repeated: { max_items: String(most) } } },
          comment: `One request for each ${thing}, at most ${most}.${parents} Their \`validate_only\` and \`request_id\` must be unset.`,
        },
        ...writeFields(resource),
      ],
    },
    response: resource.isRunByProvider
      ? { comment: `Contains the Operations that create the ${things}.`, fields: [operationsField] }
      : {
          comment: `Contains the created ${things}.`,
          fields: [
            resourcesField(resource, `The ${things}, in the order of the request.`),
            // Create and Update have it in the resource that they return.
            ...when(affectsAccess, accessPreviewField),
          ],
        },
  };
}

export function batchDelete(resource: Resource): MethodForm {
  const [, things] = resource.nouns;
  const places = regularPlaces(resource);
  return {
    comment: `Deletes several ${things} in one transaction. If any of them cannot be deleted, none is.…`,
    http: httpRule(places.map((place) => ({ post: `${collectionUrlOf(place)}:batchDelete`, body: "*" }))),
    permission: "delete",
    request: {
      comment: `Names the ${things} to delete.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `The parent of the ${things}, for example ${examples}${orEmpty}.`;
        }),
        pathsField(resource, batchSizeOf(resource)),
        // Each path has an Operation in the response.
        ...when(!resource.isRunByProvider, {
          name: "allow_missing",
          type: "bool",
          comment: `Whether to skip ${things} that do not exist or are already deleted.`,
        }),
        ...writeFields(resource),
        {
          name: "etags",
          type: "repeated string",
          options: { "[buf.validate.field]": { repeated: { max_items: String(batchSizeOf(resource)) } } },
          comment:
            "The etags of what is deleted, in the order of `paths`, or empty. If set, the request fails with ABORTED unless each is current; one that is empty is not compared.",
        },
      ],
    },
    response: deletedBy(resource),
  };
}

/** Returns the parents in one Org in which a batch can create; undefined if there is one parent in each Org. */
function parentsInOrg(resource: Resource): string | undefined {
  // A type decides about the permission to create a resource.
  if (resource.isRunByProvider) return undefined;
  const parent = parentExamples(resource).find((example) => /^orgs\/[^/]+\/./.test(example));
  return parent?.replace(/[^/]+$/, "-");
}

function deletedBy(resource: Resource): MethodForm["response"] {
  const [, things] = resource.nouns;
  if (resource.isRunByProvider) {
    return { comment: `Contains the Operations that delete the ${things}.`, fields: [operationsField] };
  }
  // A resource that stays readable is returned.
  return resource.keepsDeleted
    ? {
        comment: `Contains the deleted ${things}.`,
        fields: [resourcesField(resource, `The deleted ${things}, in the order of the request.`)],
      }
    : nothingLeft(resource);
}
