import type { SignHead } from "../../changes/signed-head.ts";
import type { ProviderDependencies } from "../../resources/provider-dependencies.ts";
import type { MakesMessages } from "../watch/responses.ts";
import type { RecordRead } from "./record-read.ts";
import type { StatePages } from "../watch/state-pages.ts";
import type { Watches } from "../watch/watches.ts";

export interface ChangesDependencies extends ProviderDependencies, MakesMessages {
  readonly watches: Watches;
  readonly statePages: StatePages;
  readonly signHead: SignHead;
  readonly recordRead: RecordRead;
}
