import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import type { ReadTokenState } from "../../access/tokens/authenticate-token.ts";
import type { Database } from "../../database/database.ts";
import type { AccessTokens } from "../../identity/tokens/access-token.ts";

/** The dependencies of the functions about tokens, which TokensService and the OAuth endpoints share. */
export interface TokenDependencies {
  readonly database: Database;
  readonly accessTokens: AccessTokens;
  readonly readTokenState: ReadTokenState;
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  /** How long tokens live by default, in seconds. */
  readonly tokenLifeSeconds: number;
}
