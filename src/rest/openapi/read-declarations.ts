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

/** What the files of services and their imports declare for all of them. */
export interface Declarations {
  /** The patterns of each `google.api.resource` type. */
  readonly patterns: ReadonlyMap<string, readonly string[]>;
  /** Extensions of buf.validate's rules that have rules in CEL. */
  readonly predefinedRules: readonly DescExtension[];
}

export function readDeclarations(services: readonly DescService[]): Declarations {
  const files = new Set(services.map((service) => service.file));
  // A set is walked in the order of insertion, what is added on the way included.
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
