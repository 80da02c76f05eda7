import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { resource } from "../../gen/google/api/resource_pb.ts";
import { describePattern, patterns, patternsOf } from "../../src/paths/patterns.ts";
import { services } from "../../src/rpc/services.ts";

/** Every message of the files that the services are in, with its `google.api.resource` option. */
const declared = [...new Set(services.map((service) => service.file))]
  .flatMap((file) => file.messages)
  .filter((message: DescMessage) => hasOption(message, resource))
  .map((message) => ({ message, option: getOption(message, resource) }));

test("the patterns are those of the protos, all places of each resource", () => {
  const fromProtos = declared.map(({ option }) => [option.type.slice(option.type.indexOf("/") + 1), option.pattern]);
  const fromCode = Object.keys(patterns).map((type) => [type, patternsOf(type)?.map(describePattern)]);
  expect(Object.fromEntries(fromCode)).toEqual(Object.fromEntries(fromProtos));
});

test.each(declared)("$option.type names the message and its collection alike in all places", ({ message, option }) => {
  expect(option.type).toBe(`iam.tenantry.dev/${message.name}`);
  expect(option.singular).toBe(message.name[0]?.toLowerCase() + message.name.slice(1));
  expect(option.nameField).toBe("path");
});
