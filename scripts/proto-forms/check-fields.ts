// Checks that fields say how requests use them (AIP-203) and what they refer to (AIP-122): every field of a request, and of the
// messages in it, has a google.api.field_behavior, and every field with the path of a resource a google.api.resource_reference.
import { type DescField, type DescMessage, createFileRegistry, getOption, hasOption } from "@bufbuild/protobuf";
import type { FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource, resource_reference } from "../../gen/google/api/resource_pb.ts";
import type { Difference } from "./check-forms.ts";
import { createSourceReader } from "./image.ts";

const wanted: ReadonlySet<FieldBehavior> = new Set([
  FieldBehavior.REQUIRED,
  FieldBehavior.OPTIONAL,
  FieldBehavior.OUTPUT_ONLY,
]);

export function checkFields(set: FileDescriptorSet): Difference[] {
  const registry = createFileRegistry(set);
  const sourceOf = createSourceReader();
  const messages = [...registry].filter((desc) => desc.kind === "message").filter(isOwn);
  const ofRequests = new Set<DescMessage>();
  for (const desc of registry) {
    if (desc.kind === "service") for (const { input } of desc.methods) collect(input, ofRequests);
  }
  return messages.flatMap((message) =>
    message.fields.flatMap((field) => {
      const { file, line } = sourceOf(field);
      const at = { file, line, where: `${message.name}.${field.name}`, found: "nothing" };
      const problems: Difference[] = [];
      if (ofRequests.has(field.parent) && !hasBehavior(field)) {
        problems.push({ ...at, what: "[google.api.field_behavior]", expected: "REQUIRED, OPTIONAL or OUTPUT_ONLY" });
      }
      if (isReference(field) && !hasOption(field, resource_reference)) {
        const expected =
          'type or child_type, such as "iam.tenantry.dev/Member", or type "*" if it can be of several types';
        problems.push({ ...at, what: "[google.api.resource_reference]", expected });
      }
      return problems;
    }),
  );
}

function isOwn({ typeName }: DescMessage): boolean {
  return /^(authzen|iam|resources|scim)\./.test(typeName);
}

/** Adds a message and the messages in its fields. */
function collect(message: DescMessage, into: Set<DescMessage>): void {
  if (into.has(message) || !isOwn(message)) return;
  into.add(message);
  for (const field of message.fields) if (field.message !== undefined) collect(field.message, into);
}

function hasBehavior(field: DescField): boolean {
  return getOption(field, field_behavior).some((behavior) => wanted.has(behavior));
}

/** The `path` of a resource is its own; in a request it names one. */
function isReference({ name, parent }: DescField): boolean {
  return /_paths?$/.test(name) || (/^paths?$/.test(name) && !hasOption(parent, resource));
}
