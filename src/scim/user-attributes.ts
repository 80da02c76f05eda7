// The attributes of users, as they are kept. Those that the service has no use for are accepted and not kept, so that no more is stored of
// people than what it shows; names that the standard does not have are errors.
import type { UserAttributes, UserEmail } from "../database/scim-tables.ts";
import { scimFault } from "./errors.ts";
import { type Given, attributeOf, isObject } from "./json.ts";
import { changeEmails, readEmails } from "./emails.ts";
import { type Operation, unknownAttribute } from "./operations.ts";
import { maxDisplayName, readBoolean, readText } from "./values.ts";

/** A user as a request leaves it. */
export interface UserState extends UserAttributes {
  /** Undefined if the request does not say it. */
  readonly active: boolean | undefined;
}

type NameParts = NonNullable<UserAttributes["name"]>;

export const maxText = 256;

const nameParts = { formatted: "formatted", givenname: "givenName", familyname: "familyName" } as const;

/** In lower case, as paths are. */
const notKept: ReadonlySet<string> = new Set(
  "nickname profileurl title usertype preferredlanguage locale timezone password phonenumbers ims photos addresses entitlements roles x509certificates".split(
    " ",
  ),
);
const partsNotKept: ReadonlySet<string> = new Set(["middlename", "honorificprefix", "honorificsuffix"]);
const setByService: ReadonlySet<string> = new Set(["id", "meta", "schemas", "groups"]);

const known = ["userName", "externalId", "displayName", "active", "name", "emails"];

/** Reads a whole user. @throws ServiceError FIELD_INVALID */
export function readUser(body: Given): UserState {
  const of = (name: string): unknown => attributeOf(body, name);
  const name = of("name");
  if (name !== undefined && name !== null && !isObject(name)) throw scimFault("invalidValue", "name must be an object");
  return complete({
    userName: readText(of("userName"), "userName", maxText),
    externalId: readText(of("externalId"), "externalId", maxText),
    displayName: readText(of("displayName"), "displayName", maxDisplayName),
    name: isObject(name) ? readName(name) : undefined,
    emails: readEmails(of("emails")),
    active: readBoolean(of("active"), "active"),
  });
}

interface Draft {
  userName: string | undefined;
  externalId: string | undefined;
  displayName: string | undefined;
  name: NameParts | undefined;
  emails: readonly UserEmail[];
  active: boolean | undefined;
}

/** Returns a user after all operations. @throws ServiceError FIELD_INVALID */
export function applyToUser(before: UserAttributes, operations: readonly Operation[]): UserState {
  const draft: Draft = {
    userName: before.userName,
    externalId: before.externalId,
    displayName: before.displayName,
    name: before.name,
    emails: before.emails ?? [],
    active: undefined,
  };
  for (const operation of operations) change(draft, operation);
  return complete(draft);
}

function change(draft: Draft, operation: Operation): void {
  const { verb, path } = operation;
  const value = verb === "remove" ? undefined : operation.value;
  // Of the enterprise extension, nothing is kept.
  if (path.schema !== "" || notKept.has(path.name)) return;
  if (setByService.has(path.name)) throw scimFault("mutability", `${path.name} is set by the service`);
  if (path.name === "emails") {
    draft.emails = changeEmails(draft.emails, operation);
    return;
  }
  if (path.where !== undefined || (path.part !== undefined && path.name !== "name")) unknownAttribute(path, known);
  switch (path.name) {
    case "username":
      draft.userName = readText(value, "userName", maxText);
      return;
    case "externalid":
      draft.externalId = readText(value, "externalId", maxText);
      return;
    case "displayname":
      draft.displayName = readText(value, "displayName", maxDisplayName);
      return;
    case "active":
      draft.active = readBoolean(value, "active");
      if (draft.active === undefined) throw scimFault("invalidValue", "active must be true or false");
      return;
    case "name":
      draft.name = changeName(draft.name, operation);
      return;
    default:
      unknownAttribute(path, known);
  }
}

function changeName(before: NameParts | undefined, { verb, path, value }: Operation): NameParts | undefined {
  const { part } = path;
  if (part === undefined) {
    if (verb === "remove" || value === null) return undefined;
    if (!isObject(value)) throw scimFault("invalidValue", "name must be an object");
    return readName({ ...before, ...Object.fromEntries(Object.entries(value).map(namedPart)) });
  }
  if (partsNotKept.has(part)) return before;
  if (!isNamePart(part)) return unknownAttribute(path, ["formatted", "givenName", "familyName"]);
  return readName({ ...before, [nameParts[part]]: verb === "remove" ? undefined : value });
}

/** Returns a part of a name as it is kept, whatever the case of its key. */
function namedPart([key, value]: readonly [string, unknown]): readonly [string, unknown] {
  const part = key.toLowerCase();
  return [isNamePart(part) ? nameParts[part] : part, value];
}

const isNamePart = (part: string): part is keyof typeof nameParts => Object.hasOwn(nameParts, part);

function readName(given: Given): NameParts | undefined {
  const parts = Object.values(nameParts).flatMap((part) => {
    const text = readText(attributeOf(given, part), `name.${part}`, maxText);
    return text === undefined ? [] : [[part, text] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

function complete({ userName, externalId, displayName, name, emails, active }: Draft): UserState {
  if (userName === undefined) throw scimFault("invalidValue", "userName is required");
  return {
    userName,
    ...(externalId !== undefined && { externalId }),
    ...(displayName !== undefined && { displayName }),
    ...(name !== undefined && { name }),
    ...(emails.length > 0 && { emails }),
    active,
  };
}

/** Returns what people read of a user. */
export function displayedName({ userName, displayName, name }: UserAttributes): string {
  const parts = [name?.givenName, name?.familyName].filter((part) => part !== undefined).join(" ");
  return displayName ?? name?.formatted ?? (parts === "" ? userName : parts);
}

/** Returns the address that counts: the primary one, or else the first. */
export function mainEmail({ emails = [] }: UserAttributes): string | undefined {
  return (emails.find(({ primary }) => primary) ?? emails[0])?.value;
}
