import { makeValidator } from "envalid";
import { text } from "./setting-types.ts";

/** The settings of commands that call the service as clients. */
export const clientSettings = {
  TENANTRY_URL: text({ default: "http://localhost:8080", desc: "For commands that call a service: its URL." }),
  TENANTRY_API_KEY: makeValidator<string>((input) => input)({
    default: undefined,
    desc: "For commands that call a service: the API key, instead of the operator-key file in the data directory.",
  }),
};

export interface ClientConfig {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly dataDirectory: string;
}
