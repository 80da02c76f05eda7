// Reads settings from environment variables, all together: an error names each that is invalid, and each that does not exist.
import { type ValidatorSpec, cleanEnv } from "envalid";
import { nearestNames } from "./errors/nearest-names.ts";

/** One or more settings are invalid. The message has a line for each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * @param specs the settings to read.
 * @param known all settings that there are, by their names.
 * @throws ConfigError
 */
export function readSettings<Specs extends Record<string, ValidatorSpec<unknown>>>(
  environment: Readonly<Record<string, string | undefined>>,
  specs: Specs,
  known: object,
) {
  const problems = unknownVariables(environment, known);
  const env = cleanEnv(environment, specs, {
    reporter: ({ errors }) => {
      for (const [variable, error] of Object.entries<Error | undefined>(errors))
        problems.push(`${variable} ${error?.message}`);
    },
  });
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return env;
}

const prefix = "TENANTRY_";

/** Returns an error for each unknown variable, because a mistyped setting would be ignored otherwise. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>, known: object): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !Object.hasOwn(known, name))
    .map((name) => `${name} is not a setting${nearestTo(name, known)}; "tenantry serve --help" lists them`);
}

/** Compares names without what all have in common. */
function nearestTo(name: string, known: object): string {
  const names = Object.keys(known).filter((each) => each.startsWith(prefix));
  const nearest = nearestNames(
    name.slice(prefix.length),
    names.map((each) => each.slice(prefix.length)),
  );
  return nearest.length === 0 ? "" : `; the nearest is ${nearest.map((each) => `${prefix}${each}`).join(" or ")}`;
}
