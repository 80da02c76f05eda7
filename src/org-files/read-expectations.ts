// Reads what a file expects of access: `alice may repos.access.write on web-shop`.
//
//   expectation = subject " may " [ "not " ] permission [ " on " project ]
//   subject     = [ "members/" | "groups/" ] name
//   project     = [ "projects/" ] name
//
// A subject without a collection is a member. Without a project, the permission is expected on the org.
import { type JsonValue, create } from "@bufbuild/protobuf";
import { CheckAccessRequestSchema } from "../../gen/iam/v1alpha/access_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import { validateMessage } from "../validation/validate-message.ts";
import { nameInPaths } from "./names/name-in-paths.ts";
import { quote } from "./json-values.ts";
import { type Fail, readList, readText } from "./read-entry.ts";

export interface FileExpectation {
  /** As it is in the file. */
  readonly text: string;
  /** Where the file has it: `org_file.expect[3]`. */
  readonly place: string;
  /** Below the org: `members/alice` or `groups/shop`. */
  readonly subjectPath: string;
  readonly permission: string;
  /** Below the org: `projects/web-shop`; empty for the org. */
  readonly projectPath: string;
  readonly isAllowed: boolean;
}

/** A file can have so many; each is decided at least once for each plan. */
const maxExpectations = 500;

const form = "must be SUBJECT may PERMISSION on PROJECT, for example alice may repos.access.write on web-shop";

export function readExpectations(value: JsonValue | undefined, fail: Fail): readonly FileExpectation[] {
  const place = "org_file.expect";
  const list = readList(value, place, fail);
  if (list.length > maxExpectations) {
    fail(place, `has ${list.length} expectations, and at most ${maxExpectations} are checked`);
    return [];
  }
  return list.flatMap((each, index) => readExpectation(each, `${place}[${index}]`, fail) ?? []);
}

function readExpectation(value: JsonValue, place: string, fail: Fail): FileExpectation | undefined {
  const text = readText(value, place, fail);
  if (text === "") return undefined;
  const [subject = "", rest, ...more] = text.split(" may ");
  const isAllowed = rest?.startsWith("not ") !== true;
  const [permission = "", project, ...others] = (rest ?? "").slice(isAllowed ? 0 : "not ".length).split(" on ");
  if (rest === undefined || more.length + others.length > 0) {
    fail(place, `${form}; may not forbids it, and without a project it is about the org; got ${quote(text)}`);
    return undefined;
  }
  const problem = findPermissionProblem(permission);
  if (problem !== undefined) {
    fail(place, `has the permission ${quote(permission)}, which ${problem}`);
    return undefined;
  }
  const isGroup = subject.startsWith("groups/");
  const subjectPath = isGroup ? inCollection("groups", subject) : inCollection("members", subject);
  const projectPath = project === undefined ? "" : inCollection("projects", project);
  if (subjectPath === undefined || projectPath === undefined) {
    fail(place, `${form}; the names must not be empty, got ${quote(text)}`);
    return undefined;
  }
  return { text, place, subjectPath, permission, projectPath, isAllowed };
}

/** Returns the path of a name, which can have its collection before it. */
function inCollection(collection: string, text: string): string | undefined {
  const trimmed = text.trim();
  const name = trimmed.startsWith(`${collection}/`) ? trimmed.slice(collection.length + 1) : trimmed;
  return name === "" ? undefined : `${collection}/${nameInPaths(name)}`;
}

/** A permission of an expectation is as one of a check. */
function findPermissionProblem(permission: string): string | undefined {
  try {
    validateMessage(CheckAccessRequestSchema, create(CheckAccessRequestSchema, { subjectPath: "/", permission }));
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.violations[0]?.description ?? error.message;
  }
}
