// Reads the file of an org: the resources that it has, by their paths, with the short forms of files written out.
import { type JsonObject, type Message, equals, fromJson } from "@bufbuild/protobuf";
import { type Org, OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { type FieldViolation, ServiceError, invalidFields } from "../errors/service-error.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { maxViolations, validateMessage } from "../validation/validate-message.ts";
import { type EntryType, type FileResource, fileFieldsOf, inOrder, schemaOf, toFileMessage } from "./file-resources.ts";
import { toLimitEntry } from "./limits.ts";
import { type FileExpectation, readExpectations } from "./read-expectations.ts";
import { quote } from "./json-values.ts";
import { type Fail, failEach, readMessage, readObject } from "./read-entry.ts";
import { expectKey, sectionKeys } from "./file-sections.ts";
import { type FileReader, sections } from "./read-sections.ts";
import { maxResources, tooManyResources } from "./resource-limit.ts";
import { nameKey } from "./names/name-key.ts";

/** A resource of a file, and where it is in it: `org_file.groups[3]`. */
export interface PlacedResource extends FileResource {
  readonly place: string;
  /** The message with its secrets. */
  readonly sent: Message;
}

export interface OrgFile {
  readonly org: Org;
  /** In the order of their types, and then of their paths. */
  readonly resources: readonly PlacedResource[];
  /** The org and the projects of which the file has a quota, by their paths below the org. Of others it does not say which limits they have. */
  readonly quotas: ReadonlySet<string>;
  /** What somebody shall be able to do when the file is applied, or not. */
  readonly expectations: readonly FileExpectation[];
}

/**
 * Reads a file, in steps.
 *
 * @param name of the org, which the file must have as well.
 * @throws ServiceError FIELD_INVALID with the problems and their places, at most a hundred. LIMIT_EXCEEDED for too many resources.
 */
export function* readFile(file: JsonObject, name: string): Steps<OrgFile> {
  const violations: FieldViolation[] = [];
  const fail: Fail = (field, description) => {
    if (violations.length < maxViolations) violations.push({ field, description });
  };
  const found = new Map<string, PlacedResource>();
  const quotas = new Set<string>();
  const put = (resource: PlacedResource): void => {
    const { type, path, place, sent } = resource;
    const same = found.get(path);
    if (same === undefined) found.set(path, resource);
    else if (!isSame(type, same.sent, sent)) {
      fail(place, `is ${quote(path)} again, and another one is at ${same.place}; a file has each resource once`);
    }
  };
  const reader: FileReader = {
    fail,
    orgPath: `/orgs/${name}`,
    has: (path) => found.has(path),
    add(type, path, fields, place) {
      const read = readMessage(type, fields, place, fail);
      if (read !== undefined) put({ type, path, place, ...read });
    },
    addQuota: (level) => quotas.add(level),
    addLimit(level, kind, limit, place) {
      const entry = toLimitEntry(level, kind, limit);
      put({ ...entry, place, sent: entry.message });
    },
  };
  const ofOrg = fileFieldsOf(OrgSchema).map((field) => field.name);
  const keys = ["org", ...ofOrg.filter((key) => key !== "name"), ...sectionKeys, expectKey];
  const all = readObject(file, "org_file", keys, fail);
  if (all === undefined) throw invalidFields(violations);
  const { [expectKey]: expect, ...content } = all;
  const org = readOrg(content, name, fail);
  const expectations = readExpectations(expect, fail);
  const isStepOver = createStepCounter();
  for (const read of sections) {
    for (const _ of read(reader, content)) {
      if (violations.length >= maxViolations) throw invalidFields(violations);
      if (found.size > maxResources) throw tooManyResources(`/orgs/${name}`, "the file");
      if (isStepOver()) yield;
    }
  }
  if (violations.length > 0) throw invalidFields(violations);
  return { org, resources: inOrder([...found.values()]), quotas, expectations };
}

function isSame(type: EntryType, one: Message, other: Message): boolean {
  return equals(schemaOf(type), one, other);
}

function readOrg({ org, ...all }: JsonObject, name: string, fail: Fail): Org {
  if (typeof org !== "string" || nameKey(org) !== name) {
    fail(
      "org_file.org",
      `must be the name of the org, ${quote(name)}, got ${typeof org === "string" ? quote(org) : "nothing"}`,
    );
  }
  const fields = Object.fromEntries(Object.entries(all).filter(([key]) => !sectionKeys.includes(key)));
  const written = { name, ...fields };
  try {
    const message = fromJson(OrgSchema, written);
    validateMessage(OrgSchema, message, "org_file.");
    return toFileMessage(OrgSchema, message);
  } catch (error) {
    if (!(error instanceof ServiceError)) failEach(OrgSchema, written, "org_file", fail, error);
    else for (const { field, description } of error.violations) fail(field, description);
    return toFileMessage(OrgSchema, fromJson(OrgSchema, { name }));
  }
}
