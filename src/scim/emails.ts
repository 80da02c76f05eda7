// The addresses of a user: the one attribute of several values that is kept, with the operations that choose some of them.
import type { UserEmail } from "../database/scim-tables.ts";
import { scimFault } from "./errors.ts";
import type { Comparison } from "./filter.ts";
import { attributeOf, isObject } from "./json.ts";
import { type Operation, unknownAttribute } from "./operations.ts";
import { fold, readBoolean, readText } from "./values.ts";

const maxEmails = 20;
const [maxAddress, maxType] = [320, 64];

const parts = ["value", "type", "primary"];

/**
 * @param isChanged whether the request is about the one at an index: of those, one is the primary one before any other.
 * @throws ServiceError FIELD_INVALID with `invalidValue`
 */
export function readEmails(given: unknown, isChanged = (_index: number): boolean => true): readonly UserEmail[] {
  if (given === undefined || given === null) return [];
  const all = Array.isArray(given) ? (given as readonly unknown[]) : [given];
  if (all.length > maxEmails) throw scimFault("tooMany", `emails must have at most ${maxEmails} values`);
  return withOnePrimary(all.map(readEmail), isChanged);
}

function readEmail(given: unknown): UserEmail {
  const email = typeof given === "string" ? { value: given } : given;
  if (!isObject(email)) throw scimFault("invalidValue", "each of emails must be an object with a value");
  const value = readText(attributeOf(email, "value"), "emails.value", maxAddress);
  if (value === undefined) throw scimFault("invalidValue", "each of emails must have a value");
  const type = readText(attributeOf(email, "type"), "emails.type", maxType);
  const primary = readBoolean(attributeOf(email, "primary"), "emails.primary");
  return { value, ...(type !== undefined && { type }), ...(primary !== undefined && { primary }) };
}

/** Returns them with the last primary one of the changed ones, or else of all, as the only one (RFC 7644, 3.5.2). */
function withOnePrimary(emails: readonly UserEmail[], isChanged: (index: number) => boolean): readonly UserEmail[] {
  const ofChanged = emails.findLastIndex(({ primary }, index) => primary === true && isChanged(index));
  const only = ofChanged === -1 ? emails.findLastIndex(({ primary }) => primary === true) : ofChanged;
  return emails.map((email, index) =>
    email.primary === true && index !== only ? { ...email, primary: false } : email,
  );
}

/** How many addresses the operations of a request change together: each reads all that there are, under the lock of the org. */
const maxChanged = 100;

/** Checks that operations do not change more. @throws ServiceError FIELD_INVALID with `tooMany` */
export function requireFewEmails(operations: readonly Operation[]): void {
  const ofEmails = operations.filter(({ path }) => path.name === "emails");
  const changed = ofEmails.reduce((sum, { value }) => sum + (Array.isArray(value) ? Math.max(1, value.length) : 1), 0);
  if (changed > maxChanged) throw scimFault("tooMany", `a request can change at most ${maxChanged} emails`);
}

/** @throws ServiceError FIELD_INVALID */
export function changeEmails(before: readonly UserEmail[], operation: Operation): readonly UserEmail[] {
  const { verb, path, value } = operation;
  if (path.part !== undefined && !parts.includes(path.part)) {
    // What is called `display` is not kept.
    if (path.part === "display") return before;
    unknownAttribute(
      path,
      parts.map((part) => `emails.${part}`),
    );
  }
  const chosen = path.where;
  if (chosen !== undefined || path.part !== undefined) return changeSome(before, chosen ?? [], operation);
  if (verb === "replace") return readEmails(value);
  const given = readEmails(value);
  if (verb === "add") {
    const isNew = (email: UserEmail): boolean => !before.some((each) => isSame(each, email));
    const all = before.map((each) => {
      const primary = given.findLast((email) => isSame(each, email))?.primary;
      return primary === undefined ? each : { ...each, primary };
    });
    return readEmails([...all, ...given.filter(isNew)], (index) => {
      const each = all[index];
      return each === undefined || given.some((email) => isSame(each, email));
    });
  }
  // Some directories name those to remove in the value.
  return value === undefined || value === null
    ? []
    : before.filter((each) => !given.some((email) => isSame(each, email)));
}

const isSame = (one: UserEmail, other: UserEmail): boolean =>
  fold(one.value) === fold(other.value) && one.type === other.type;

function changeSome(
  before: readonly UserEmail[],
  where: readonly Comparison[],
  operation: Operation,
): readonly UserEmail[] {
  const { verb, path, value } = operation;
  for (const comparison of where) requireKnown(comparison);
  const isChosen = (email: UserEmail): boolean => where.every((comparison) => matches(email, comparison));
  const { part } = path;
  if (verb === "remove") {
    if (part === undefined || part === "value") return before.filter((email) => !isChosen(email));
    return before.map((email) => (isChosen(email) ? readEmail({ ...email, [part]: undefined }) : email));
  }
  const whole = part === undefined ? value : { [part]: value };
  if (!isObject(whole)) throw scimFault("invalidValue", "emails[...] must be an object");
  const given = Object.fromEntries(Object.entries(whole).map(([key, each]) => [key.toLowerCase(), each]));
  const chosen = before.map(isChosen);
  if (chosen.includes(true)) {
    const all = before.map((email, index) => (chosen[index] === true ? { ...email, ...given } : email));
    return readEmails(all, (index) => chosen[index] === true);
  }
  // Directories expect that it is created: emails[type eq "work"].value of somebody who has none.
  const created = Object.fromEntries(where.map((comparison) => [comparison.path.name, comparison.value]));
  return readEmails([...before, { ...created, ...given }]);
}

/** @throws ServiceError FIELD_INVALID with `invalidFilter` */
function requireKnown({ path: { name, schema, part } }: Comparison): void {
  if (parts.includes(name) && schema === "" && part === undefined) return;
  throw scimFault("invalidFilter", `emails are chosen by ${parts.join(", ")}, not by ${name}`);
}

function matches(email: UserEmail, { path: { name }, value }: Comparison): boolean {
  if (name === "primary") return (email.primary ?? false) === value;
  const own = name === "type" ? email.type : email.value;
  return typeof value === "string" && own !== undefined && fold(own) === fold(value);
}
