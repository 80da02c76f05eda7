import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { resource } from "../../gen/google/api/resource_pb.ts";
import { describePattern, patterns, patternsOf } from "../../src/paths/patterns.ts";
import { services } from "../../src/rpc/services.ts";

/** The messages with a `google.api.resource` option in the files of the services. */
const declared = [...new Set(services.map((service) => service.file))]
  .flatMap((file) => file.messages)
  .filter((message: DescMessage) => hasOption(message, resource))
  .map((message) => ({ message, option: getOption(message, resource) }));

test("the patterns are those in the protos, with all places of each resource", () => {
  const fromProtos = declared.map(({ option }) => [option.type.slice(option.type.indexOf("/") + 1), option.pattern]);
  const fromCode = Object.keys(patterns).map((type) => [type, patternsOf(type)?.map(describePattern)]);
  expect(Object.fromEntries(fromCode)).toEqual(Object.fromEntries(fromProtos));
});

test.each(declared)("$option.type has the name of its message", ({ message, option }) => {
  const [area] = message.file.proto.package.split(".");
  expect(option.type).toBe(`${area}.tenantry.dev/${message.name}`);
  expect(option.singular).toBe(message.name[0]?.toLowerCase() + message.name.slice(1));
  expect(option.nameField).toBe("path");
});
