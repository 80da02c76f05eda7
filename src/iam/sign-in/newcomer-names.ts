// What somebody is called who becomes a member at a first sign-in, made of claims, each of which may be anything.
import { create } from "@bufbuild/protobuf";
import { MemberSchema } from "../../../gen/iam/v1alpha/member_pb.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { nameLike } from "../../paths/name-like.ts";
import { isName } from "../../paths/parse-path.ts";
import { findEmailProblem } from "../../validation/email-address.ts";
import { validateMessage } from "../../validation/validate-message.ts";

type Claims = Readonly<Record<string, unknown>>;

/** More of a claim is not read. */
const maxRead = 200;
/** Leaves room for what tells two of the same name apart. */
const maxBase = 50;
const fallback = "user";

/**
 * Returns what the name of a member is made of: of `preferred_username`, of the part of `email` before the @, or of `name`, the first of
 * which anything is left in lowercase letters, digits and dashes.
 */
export function baseName(claims: Claims): string {
  const [user, email, name] = ["preferred_username", "email", "name"].map((claim) => textIn(claims, claim));
  const bases = [beforeAt(user), beforeAt(email), name].map((text) => nameLike(text ?? "", maxBase));
  const base = bases.find((each) => each !== "") ?? fallback;
  // One that is shaped like an id.
  return isName(base) ? base : `${fallback}-${base}`.slice(0, maxBase).replace(/-$/, "");
}

/** Returns names that a member may get, by preference: the first that nobody has. The last is random. */
export function namesLike(base: string, random: string): string[] {
  const numbered = Array.from({ length: 8 }, (_, index) => `${base}-${index + 2}`);
  return [base, ...numbered, `${base}-${random}`];
}

const beforeAt = (text: string | undefined): string | undefined => text?.split("@")[0];

function textIn(claims: Claims, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return typeof value === "string" ? value.slice(0, maxRead) : undefined;
}

/** Returns the claim `name` if it can be a display name; otherwise the name in paths. */
export function displayNameIn(claims: Claims, name: string): string {
  const displayName = (textIn(claims, "name") ?? "").trim();
  try {
    validateMessage(MemberSchema, create(MemberSchema, { name, displayName }));
    return displayName === "" ? name : displayName;
  } catch (error) {
    if (error instanceof ServiceError) return name;
    throw error;
  }
}

/** Returns the address of somebody, if it is one that a member can have and the provider vouches for it; otherwise null. */
export function vouchedEmail(
  { email, isVerified }: { readonly email: string | undefined; readonly isVerified: boolean | undefined },
  isTrusted: boolean,
): string | null {
  if (email === undefined || findEmailProblem(email) !== undefined) return null;
  return isTrusted || isVerified === true ? email : null;
}
