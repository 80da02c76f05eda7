// The forms of the methods that change the state of a resource.
import {
  type MethodForm,
  byId,
  httpRule,
  isAtTop,
  operation,
  pathField,
  regularPlaces,
  quote,
  urlOf,
  writeFields,
} from "./form-parts.ts";
import type { Resource } from "./resources.ts";

export function undelete(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    // The names of deleted resources at the top stay reserved.
    comment: `Restores a deleted ${thing} before its \`purge_time\`, …${isAtTop(resource) ? "" : " Fails with ALREADY_EXISTS if its name has been taken."}`,
    // A name finds only resources that are not deleted.
    ...transition(resource, "undelete", "restore", byId(resource.example)),
  };
}

export function suspend(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    comment: `Suspends an ACTIVE ${thing}. … until it is activated.…`,
    ...transition(resource, "suspend", "suspend", resource.example),
  };
}

export function activate(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    comment: `Activates a SUSPENDED ${thing}…`,
    ...transition(resource, "activate", "activate", resource.example),
  };
}

export function purge(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    comment: `Purges a deleted ${thing}… before … \`purge_time\`. … can no longer be restored and … permanently removed soon afterwards…`,
    ...transition(resource, "purge", "purge", byId(resource.example)),
  };
}

/** Returns the parts that all methods which change a resource's state share. */
function transition(resource: Resource, verb: string, does: string, example: string): Omit<MethodForm, "comment"> {
  const [thing] = resource.nouns;
  return {
    http: httpRule(regularPlaces(resource).map((place) => ({ post: `${urlOf(place)}:${verb}`, body: "*" }))),
    permission: verb,
    request: {
      comment: `Names the ${thing} to ${does}.`,
      fields: [
        pathField(resource, `The ${thing}, for example ${quote(example)}.`),
        {
          name: "etag",
          type: "string",
          comment: `If set, the request fails with ABORTED unless this is the ${thing}'s current etag.`,
        },
        ...writeFields(resource),
      ],
    },
    response: resource.isRunByProvider ? operation : resource.message.typeName,
  };
}
