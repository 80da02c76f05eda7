import { type DescMessage, type DescMethod, getOption, hasOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { resource } from "../../../gen/google/api/resource_pb.ts";
import { readField } from "../binding/message-access.ts";
import { compilePathBuilder } from "../routing/build-path.ts";
import type { PathTemplate } from "../routing/path-template.ts";

export interface ReadRule {
  readonly method: DescMethod;
  readonly template: PathTemplate;
}

/**
 * Compiles a function that returns the path of a created resource, for `Location` (RFC 9110, 15.3.2). It is the path of
 * the Get method that returns the same type and has the resource name as its only variable, in the same service if there is
 * one: a Create that starts an operation returns that.
 *
 * @returns undefined if there is no such Get method. The function returns undefined if the name does not match its path.
 */
export function compileLocator(
  create: DescMethod,
  reads: readonly ReadRule[],
): ((created: Message) => string | undefined) | undefined {
  const candidates = reads.filter(
    ({ method, template }) =>
      method.output === create.output &&
      method.name.startsWith("Get") &&
      template.variables.length === 1 &&
      template.verb === "",
  );
  const read = candidates.find(({ method }) => method.parent === create.parent) ?? candidates[0];
  const name = nameFieldOf(create.output);
  if (read === undefined || name === undefined) return undefined;
  const build = compilePathBuilder(read.template);
  return (created) => {
    const value = readField(created, name);
    // Resource names are relative, but some services write them with a leading slash.
    return typeof value === "string" ? build([value.replace(/^\//, "")]) : undefined;
  };
}

/** Returns the field that holds the name of a resource (AIP-123); undefined if the message has none. */
function nameFieldOf(desc: DescMessage): DescMessage["fields"][number] | undefined {
  const declared = hasOption(desc, resource) ? getOption(desc, resource).nameField : "";
  const field = desc.fields.find((candidate) => candidate.name === (declared === "" ? "name" : declared));
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}
