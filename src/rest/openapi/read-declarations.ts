import {
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { predefined } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { resource, resource_definition } from "../../../gen/google/api/resource_pb.ts";

/** Declarations in the files of services and in the files that these import. */
export interface Declarations {
  /** The patterns of each `google.api.resource` type. */
  readonly patterns: ReadonlyMap<string, readonly string[]>;
  /** The extensions of the rules of buf.validate that are predefined rules in CEL. */
  readonly predefinedRules: readonly DescExtension[];
}

export function readDeclarations(services: readonly DescService[]): Declarations {
  const files = new Set(services.map((service) => service.file));
  // The iteration of a Set includes the elements that are added during the iteration.
  for (const file of files) for (const dependency of file.dependencies) files.add(dependency);
  const resources = [...files].flatMap(resourcesOf);
  return {
    patterns: new Map(resources.map(({ type, pattern }) => [type, pattern])),
    predefinedRules: [...files].flatMap((file) => file.extensions).filter((each) => hasOption(each, predefined)),
  };
}

function resourcesOf(file: DescFile): { type: string; pattern: string[] }[] {
  const messages = file.messages.flatMap(withNested).filter((message) => hasOption(message, resource));
  return [...getOption(file, resource_definition), ...messages.map((message) => getOption(message, resource))];
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}
