// Writes an org as a file, in one order and spelling, so that the same org is always the same file.
import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { type FileResource, type FileType, nameFieldOf, parentPathOf, schemaOf } from "./file-resources.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { limitOf } from "./limits.ts";
import type { OrgState } from "./read-state.ts";

/** Writes a file, in steps. */
export function* writeFile({ name, org, resources }: OrgState): Steps<JsonObject> {
  const { name: _name, ...fields } = objectOf(toJson(OrgSchema, org, written));
  const messages = new Map<string, JsonObject>();
  const isStepOver = createStepCounter();
  for (const { type, path, message } of resources) {
    messages.set(path, objectOf(toJson(schemaOf(type), message, written)));
    if (isStepOver()) yield;
  }
  const quotas = Map.groupBy(
    resources.flatMap((resource) => limitOf(resource) ?? []),
    ({ level }) => level,
  );
  /** Returns the limits of the org or a project; without any, the file does not have a quota. */
  const quotaOf = (level: string): JsonObject => {
    const limits = quotas.get(level);
    return limits === undefined
      ? {}
      : { quota: Object.fromEntries(limits.map(({ kind, limit }) => [kind, limit] as const)) };
  };
  const below = Map.groupBy(resources, ({ type, path }) => `${type} ${parentPathOf(path)}`);
  const entries = (type: FileType, parent: string): JsonValue[] =>
    (below.get(`${type} ${parent}`) ?? []).map((resource) =>
      entryOf(resource, { ...messages.get(resource.path), ...contentsOf(resource) }),
    );
  /** What is in a group or project, by its keys in the file. */
  const contentsOf = ({ type, path }: FileResource): JsonObject => {
    if (type === "group")
      return withoutEmpty({ members: entries("membership", path), subgroups: entries("subgroup", path) });
    if (type !== "project") return {};
    return { ...quotaOf(path), ...withoutEmpty({ role_bindings: entries("role binding", path) }) };
  };
  return {
    org: name,
    ...fields,
    ...quotaOf(""),
    ...withoutEmpty({
      members: entries("member", ""),
      roles: entries("role", ""),
      groups: entries("group", ""),
      projects: entries("project", ""),
      role_bindings: entries("role binding", ""),
      identity_providers: entries("identity provider", ""),
      clients: entries("client", ""),
      webhooks: entries("webhook", ""),
    }),
  };
}

const written = { useProtoFieldName: true } as const;

/** Returns a resource as an entry: its name, if there is no more to say. */
function entryOf({ type, path }: FileResource, entry: JsonObject): JsonValue {
  const [key, ...others] = Object.keys(entry);
  return key === nameFieldOf(type) && others.length === 0 ? path.slice(path.lastIndexOf("/") + 1) : entry;
}

function withoutEmpty(lists: Readonly<Record<string, JsonValue[]>>): JsonObject {
  return Object.fromEntries(Object.entries(lists).filter(([, entries]) => entries.length > 0));
}

function objectOf(json: JsonValue): JsonObject {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new Error("a message is an object in JSON");
  return json;
}
