// The standard methods are one implementation, which a resource only gives its table, its parents and its rules. So a long table of
// tests about it has one resource of each shape in `npm test`, and all resources in `npm run soak`.
import { required } from "../../src/errors/required.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import { keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { rounds } from "./rounds.ts";
import { type WrittenResource, hasSecret, isInParent, isRunByProvider } from "./written-resources.ts";

/** What the standard methods distinguish, computed from the definition and the proto of a resource. */
interface Traits {
  /** Another resource's Create creates it. */
  readonly isCreatedWithOther: boolean;
  readonly isInParent: boolean;
  /** It has the name of the resource to which it links. */
  readonly isLink: boolean;
  readonly hasSecret: boolean;
  /** A Delete leaves it readable until it is purged. */
  readonly isKept: boolean;
  readonly isRunByProvider: boolean;
}

function traitsOf(resource: WrittenResource): Traits {
  return {
    isCreatedWithOther: resource.createdWith !== undefined,
    isInParent: isInParent(resource),
    isLink: resource.standsFor !== undefined,
    hasSecret: hasSecret(resource),
    isKept: keepsDeleted(resource.definition),
    isRunByProvider: isRunByProvider(resource),
  };
}

const plain: Traits = {
  isCreatedWithOther: false,
  isInParent: true,
  isLink: false,
  hasSecret: false,
  isKept: false,
  isRunByProvider: false,
};

/** The shapes that resources have, with the resource that stands for each. */
const shapes = {
  "created with another": {
    traits: { ...plain, isCreatedWithOther: true, isInParent: false, isKept: true },
    sample: "Customer",
  },
  "kept, at the top": { traits: { ...plain, isInParent: false, isKept: true }, sample: "Org" },
  "kept, in a parent": { traits: { ...plain, isKept: true }, sample: "Project" },
  "removed, at the top": { traits: { ...plain, isInParent: false }, sample: "Service" },
  "removed, in a parent": { traits: plain, sample: "RoleBinding" },
  "with a secret": { traits: { ...plain, hasSecret: true }, sample: "ApiKey" },
  link: { traits: { ...plain, isLink: true }, sample: "GroupMember" },
  "run by a provider": { traits: { ...plain, isKept: true, isRunByProvider: true }, sample: "Resource" },
} as const satisfies Record<string, { readonly traits: Traits; readonly sample: ResourceType }>;

export type Shape = keyof typeof shapes;

/** @throws Error for a resource that is like no other: it needs a shape of its own, so that the tables run for it. */
export function shapeOf(resource: WrittenResource): Shape {
  const traits = JSON.stringify(traitsOf(resource));
  const found = Object.entries(shapes).find(([, shape]) => JSON.stringify(shape.traits) === traits);
  if (found === undefined) throw new Error(`${resource.name} have no shape in resource-shapes.ts: ${traits}`);
  return found[0] as Shape;
}

/**
 * Returns the cases of a long table: in `npm test` those of the resource that stands for its shape, or of the first one with this
 * shape in the table, and in `npm run soak` all.
 */
export function ofEachShape<Case extends { readonly resource: WrittenResource }>(
  cases: readonly Case[],
): readonly Case[] {
  return rounds(
    [...Map.groupBy(cases, ({ resource }) => shapeOf(resource))].flatMap(([shape, all]) => sampleOf(shape, all)),
    cases,
  );
}

/** Returns the cases of one resource, which may have several. */
function sampleOf<Case extends { readonly resource: WrittenResource }>(shape: Shape, cases: readonly Case[]): Case[] {
  const standing = cases.find(({ resource }) => resource.type === shapes[shape].sample);
  const { resource: sample } = standing ?? required(cases[0]);
  return cases.filter(({ resource }) => resource === sample);
}
