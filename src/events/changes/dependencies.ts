import type { SignHead } from "../../changes/signed-head.ts";
import type { ProviderDependencies } from "../../resources/provider-dependencies.ts";
import type { Watches } from "../watch/watches.ts";
import type { LoggedMessage } from "./logged-messages.ts";

export interface ChangesDependencies extends ProviderDependencies {
  readonly watches: Watches;
  readonly signHead: SignHead;
  readonly loggedMessage: LoggedMessage;
}
