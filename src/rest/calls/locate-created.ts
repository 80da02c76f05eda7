import { type DescMessage, type DescMethod, getOption, hasOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { resource } from "../../../gen/google/api/resource_pb.ts";
import { readField } from "../binding/message-access.ts";
import { compilePathBuilder } from "../routing/build-path.ts";
import type { PathTemplate } from "../routing/path-template.ts";

/** A rule by which a method can be called with GET. */
export interface ReadRule {
  readonly method: DescMethod;
  readonly template: PathTemplate;
}

/**
 * Compiles what tells where a created resource can be read, for `Location` (RFC 9110, 15.3.2): the path of the Get of
 * the same service that answers the same type and takes the resource's name as its only variable.
 *
 * @returns undefined when there is no such Get. The function answers undefined when the name does not fit its path.
 */
export function compileLocator(
  create: DescMethod,
  reads: readonly ReadRule[],
): ((created: Message) => string | undefined) | undefined {
  const read = reads.find(
    ({ method, template }) =>
      method.parent === create.parent &&
      method.output === create.output &&
      method.name.startsWith("Get") &&
      template.variables.length === 1 &&
      template.verb === "",
  );
  const name = nameFieldOf(create.output);
  if (read === undefined || name === undefined) return undefined;
  const build = compilePathBuilder(read.template);
  return (created) => {
    const value = readField(created, name);
    // Resource names are relative; some services write them with a leading slash all the same.
    return typeof value === "string" ? build([value.replace(/^\//, "")]) : undefined;
  };
}

/** The field that holds a resource's name (AIP-123); undefined when the message has none. */
function nameFieldOf(desc: DescMessage): DescMessage["fields"][number] | undefined {
  const declared = hasOption(desc, resource) ? getOption(desc, resource).nameField : "";
  const field = desc.fields.find((candidate) => candidate.name === (declared === "" ? "name" : declared));
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}
