import { makeValidator } from "envalid";
import { url } from "./setting-types.ts";

const setting = makeValidator<string>((input) => input);

/** The settings of commands that call the service as clients. */
export const clientSettings = {
  TENANTRY_URL: url({
    default: undefined,
    desc: "For commands that call a service: its URL. If unset, that of the server with the data directory, or http://localhost:8080.",
  }),
  TENANTRY_API_KEY: setting({
    default: undefined,
    desc: "For commands that call a service: the API key, instead of the operator-key file in the data directory.",
  }),
  // `cli/client` reads these. The service knows them, so that it starts where they are set.
  TENANTRY_ORG: setting({
    default: undefined,
    desc: "For commands that call a service: the org that paths are below.",
  }),
  TENANTRY_PROFILE: setting({ default: undefined, desc: "For commands that call a service: the profile to use." }),
  TENANTRY_COMPLETION_MS: setting({
    default: undefined,
    desc: "How long the service may take to complete a line in a shell. If unset, 300.",
  }),
};

export interface ClientConfig {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly dataDirectory: string;
}
