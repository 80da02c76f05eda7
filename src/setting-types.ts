// Types of settings, as validators of the texts in environment variables.
import { EnvError, type Spec, makeValidator } from "envalid";
import proxyAddress from "proxy-addr";
import { DatabaseUrlError, parseDatabaseUrl } from "./database/database-url.ts";
import { canonicalPrefix } from "./identity/address-prefix.ts";
import { findEmailProblem } from "./validation/email-address.ts";

const integerFrom = (min: number, max: number) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (/^\d+$/.test(input) && value >= min && value <= max) return value;
    throw new EnvError(`must be a whole number from ${min} to ${max}, got ${JSON.stringify(input)}`);
  });

export const integer = (min: number, max: number, spec: Spec<number> & { default: number; desc: string }) =>
  integerFrom(min, max)({ ...spec, desc: `${spec.desc} From ${min} to ${max}.` });

/** Validates a port to listen on. */
export const port = integerFrom(0, 65_535);

export const rate = (what: string, standard: number) =>
  integer(0, 10_000_000, {
    default: standard,
    desc: `${what}. Each server process counts separately, so n processes allow up to n times as many. 0 for no limit.`,
  });

export const streams = (what: string, standard: number) =>
  integer(1, 100_000, {
    default: standard,
    desc: `${what}, for each server process; five times as many of an org together, and twenty times as many in all.`,
  });

const readText = (input: string): string => {
  if (input.trim() !== "") return input;
  throw new EnvError("must not be blank");
};

/** Validates a text that is not blank. */
export const text = (spec: Spec<string> & { default: string }) => makeValidator(readText)(spec);

export const file = makeValidator(readText);

export const url = makeValidator(readText);

export const databaseUrl = makeValidator<string>((input) => {
  try {
    parseDatabaseUrl(input);
    return input;
  } catch (error) {
    // The value may contain a password, so the message does not repeat it.
    if (error instanceof DatabaseUrlError) throw new EnvError(error.message);
    throw error;
  }
});

export const smtpUrl = makeValidator<string>((input) => {
  if (URL.canParse(input)) {
    const { protocol, hostname, username, password, pathname, search, hash } = new URL(input);
    const isBare = ["", "/"].includes(pathname) && search === "" && hash === "";
    const isScheme = protocol === "smtp:" || protocol === "smtps:";
    if (
      isScheme &&
      hostname !== "" &&
      isBare &&
      (username === "") === (password === "") &&
      isEncoded(username + password)
    ) {
      return input;
    }
  }
  // The value may contain a password, so the message does not repeat it.
  throw new EnvError(
    "must be a URL of the form smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of user and password percent-encoded; both may be left out",
  );
});

function isEncoded(given: string): boolean {
  try {
    return decodeURIComponent(given) !== undefined;
  } catch {
    return false;
  }
}

export const mailAddress = makeValidator<string>((input) => {
  const problem = findEmailProblem(input);
  if (problem === undefined) return input;
  throw new EnvError(`must be an address such as iam@example.com: ${problem}, got ${JSON.stringify(input)}`);
});

export const oneOf = <const Choices extends readonly string[]>(
  choices: Choices,
  spec: Spec<Choices[number]> & { default: Choices[number] },
) =>
  makeValidator<Choices[number]>((input) => {
    if (choices.includes(input)) return input;
    throw new EnvError(`must be one of ${choices.join(", ")}, got ${JSON.stringify(input)}`);
  })(spec);

/** Validates a comma-separated list of origins in the form that browsers send: `https://console.example.com`. */
export const origins = makeValidator<readonly string[]>((input) => {
  const given = input.split(",").map((origin) => origin.trim());
  const wrong = given.find((origin) => origin !== "*" && !isOrigin(origin));
  if (input.trim() === "") return [];
  if (wrong === undefined) return given;
  const example = "https://console.example.com";
  throw new EnvError(`must be comma-separated origins such as ${example}, or *, got ${JSON.stringify(wrong)}`);
});

function isOrigin(given: string): boolean {
  return URL.canParse(given) && /^https?:/.test(given) && new URL(given).origin === given;
}

/** Validates a comma-separated list of IP addresses and subnets. */
export const subnets = makeValidator<readonly string[]>((input) => {
  const given = input.split(",").map((subnet) => subnet.trim());
  if (input.trim() === "") return [];
  const wrong = given.find((subnet) => !isSubnet(subnet));
  if (wrong === undefined) return given;
  throw new EnvError(`must be comma-separated addresses or subnets such as 10.0.0.0/8, got ${JSON.stringify(wrong)}`);
});

/** A setting with addresses, besides public ones, to which the service connects for an org. @param which of them: `to which ...`. */
export const networks = (which: string) =>
  prefixes({
    default: undefined,
    desc: `Comma-separated addresses or prefixes, such as 10.1.0.0/16, ${which} besides public addresses. With a loopback address such as 127.0.0.1, also with http, for development. If unset, none.`,
  });

/** Validates a comma-separated list of IP addresses and prefixes, and returns them in canonical form. */
const prefixes = makeValidator<readonly string[]>((input) => {
  if (input.trim() === "") return [];
  return input.split(",").map((given) => {
    const prefix = canonicalPrefix(given.trim());
    if (prefix !== undefined) return prefix;
    throw new EnvError(
      `must be comma-separated addresses or prefixes such as 10.0.0.0/8, got ${JSON.stringify(given)}`,
    );
  });
});

function isSubnet(given: string): boolean {
  try {
    proxyAddress.compile(given);
    return true;
  } catch {
    return false;
  }
}

export const issuer = makeValidator<string>((input) => {
  const isUrl = URL.canParse(input) && /^https?:\/\//.test(input);
  const { pathname, search, hash, username, password } = new URL(isUrl ? input : "http://localhost/wrong");
  if (isUrl && pathname === "/" && !input.endsWith("/") && `${search}${hash}${username}${password}` === "")
    return input;
  throw new EnvError(`must be a URL without a path, such as https://iam.example.com, got ${JSON.stringify(input)}`);
});
