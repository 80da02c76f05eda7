// The forms of BatchGet, BatchCreate and BatchDelete.
import {
  type MethodForm,
  accessPreviewField,
  collectionUrlOf,
  httpRule,
  isAtTop,
  nothingLeft,
  parentField,
  pathsField,
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
    comment: `Answers several ${things}, in the order of \`paths\`; none when one of them is not there.`,
    http: httpRule(urls.flatMap((url) => [{ get: url }, { post: url, body: "*" }])),
    permission: "get",
    request: {
      comment: `Names the ${things} to answer.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `Where they are, for example ${examples}; \`-\` stands for any${orEmpty}.`;
        }),
        pathsField(resource, " POST takes more than fit into a URL."),
      ],
    },
    response: {
      comment: `Holds the ${things} that were asked for.`,
      fields: [resourcesField(resource, `The ${things}, in the order of the request.`)],
    },
  };
}

export function batchCreate(resource: Resource): MethodForm {
  const { message, nouns, methodNouns, affectsAccess } = resource;
  const [, things] = nouns;
  const places = regularPlaces(resource);
  const parents = isAtTop(resource) ? "" : " Their `parent_path` is this one, or empty.";
  return {
    comment: `Creates several ${things} at once: all of them or, when one is refused, none.`,
    http: httpRule(places.map((place) => ({ post: `${collectionUrlOf(place)}:batchCreate`, body: "*" }))),
    permission: "create",
    request: {
      comment: `Holds the ${things} to create.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => {
          return `Where to create them, for example ${examples}${orEmpty}.`;
        }),
        {
          name: "requests",
          type: `repeated ${message.file.proto.package}.Create${methodNouns[0]}Request`,
          options: { ...required, "[buf.validate.field]": { repeated: { max_items: "1000" } } },
          comment: `A request each, at most 1000.${parents} \`validate_only\` and \`request_id\` are those of the whole.`,
        },
        ...writeFields(resource),
      ],
    },
    response: {
      comment: `Holds the ${things} that were created.`,
      fields: [
        resourcesField(resource, `The ${things}, in the order of the request.`),
        // Create and Update have it in the resource that they answer.
        ...when(affectsAccess, accessPreviewField),
      ],
    },
  };
}

export function batchDelete(resource: Resource): MethodForm {
  const [, things] = resource.nouns;
  const places = regularPlaces(resource);
  return {
    comment: `Deletes several ${things} at once: all of them or, when one is refused, none.`,
    http: httpRule(places.map((place) => ({ post: `${collectionUrlOf(place)}:batchDelete`, body: "*" }))),
    permission: "delete",
    request: {
      comment: `Names the ${things} to delete.`,
      fields: [
        ...parentField(resource, places, (examples, orEmpty) => `Where they are, for example ${examples}${orEmpty}.`),
        pathsField(resource),
        { name: "allow_missing", type: "bool", comment: "Pass over those that are not there." },
        ...writeFields(resource),
      ],
    },
    // What stays readable is answered.
    response: resource.keepsDeleted
      ? {
          comment: `Holds the ${things} that were deleted.`,
          fields: [resourcesField(resource, `The ${things} as they stay readable, in the order of the request.`)],
        }
      : nothingLeft(resource),
  };
}
