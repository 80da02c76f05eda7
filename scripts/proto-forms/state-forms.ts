// The forms of the methods that change the state of a resource.
import { type MethodForm, byId, httpRule, pathField, regularPlaces, quote, urlOf, writeFields } from "./form-parts.ts";
import type { Resource } from "./resources.ts";

export function undelete(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    comment: `Brings a deleted ${thing} back, until \`purge_time\`, … Fails with ALREADY_EXISTS when another one has taken its name.`,
    // A deleted resource has freed its name, and is found by its id.
    ...transition(resource, "undelete", "bring back", byId(resource.example)),
  };
}

export function suspend(resource: Resource): MethodForm {
  const [thing] = resource.nouns;
  return {
    comment: `Suspends an ACTIVE ${thing}: … until it is activated.`,
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
    comment: `Gives a deleted ${thing}… up for good, before … \`purge_time\`: … cannot be brought back, and … removed soon…`,
    ...transition(resource, "purge", "give up", byId(resource.example)),
  };
}

/** What the methods that change a resource's state have in common. */
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
          comment: `When given, it is only done if this is the ${thing}'s current etag.`,
        },
        ...writeFields(resource),
      ],
    },
    response: resource.message.typeName,
  };
}
