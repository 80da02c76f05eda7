import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { resource } from "../../gen/google/api/resource_pb.ts";
import {
  describePattern,
  isSingletonType,
  parentPatternsOf,
  patterns,
  patternsOf,
  singletonPath,
} from "../../src/paths/patterns.ts";
import { services } from "../../src/rpc/services.ts";

/** The messages with a `google.api.resource` option in the files of the services. */
const declared = [...new Set(services.map((service) => service.file))]
  .flatMap((file) => file.messages)
  .filter((message: DescMessage) => hasOption(message, resource))
  .map((message) => ({ message, option: getOption(message, resource) }));

test("the patterns are those in the protos, with all places of each resource", () => {
  const named = declared.filter(({ message }) => !isSingletonType(message.name));
  const fromProtos = named.map(({ option }) => [option.type.slice(option.type.indexOf("/") + 1), option.pattern]);
  const fromCode = Object.keys(patterns).map((type) => [type, patternsOf(type)?.map(describePattern)]);
  expect(Object.fromEntries(fromCode)).toEqual(Object.fromEntries(fromProtos));
});

test("the patterns of a singleton are those of its parents, each with its singular", () => {
  const found = declared.flatMap(({ message: { name }, option }) =>
    isSingletonType(name) ? [{ name, option, parents: parentPatternsOf(name) }] : [],
  );
  expect(found.map(({ name }) => name)).toEqual(["Quota", "ChangeLog", "AccessLog"]);
  for (const { name, option, parents } of found) {
    // That of the platform begins with its own.
    const ofParents = parents?.map((parent) => singletonPath(name, describePattern(parent)).replace(/^\//, ""));
    expect(ofParents).toEqual(option.pattern);
  }
});

test.each(declared)("$option.type has the name of its message", ({ message, option }) => {
  const [area] = message.file.proto.package.split(".");
  expect(option.type).toBe(`${area}.tenantry.dev/${message.name}`);
  // A log is at what is in it: it is read as a list.
  const ofLogs: Readonly<Record<string, string>> = { ChangeLog: "changes", AccessLog: "accessEvents" };
  const singular = ofLogs[message.name] ?? message.name[0]?.toLowerCase() + message.name.slice(1);
  expect(option.singular).toBe(singular);
  expect(option.nameField).toBe("path");
});
