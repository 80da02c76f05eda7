import type { SigningKeys } from "../../identity/tokens/signing-keys.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { SignalCounts } from "./counts.ts";

/** What makes events, and counts what comes of them. */
export interface SignalDependencies extends Pick<ResourceDependencies, "database" | "authorHolds"> {
  readonly signingKeys: Pick<SigningKeys, "signingKeyFor">;
  /** The URL of the service. */
  readonly issuer: () => string;
  readonly requestTimeoutMs: number;
  readonly signalCounts: SignalCounts;
}
