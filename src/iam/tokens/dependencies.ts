import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import type { ReadTokenState } from "../../access/tokens/authenticate-token.ts";
import type { Database } from "../../database/database.ts";
import type { AccessTokens } from "../../identity/tokens/access-token.ts";
import type { RefreshTokens } from "../../identity/tokens/refresh-token.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";

/** The dependencies of the functions about tokens, which TokensService and the OAuth endpoints share. */
export interface TokenDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly readTokenState: ReadTokenState;
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
  /** How long tokens live by default, in seconds. */
  readonly tokenLifeSeconds: number;
  readonly sessionDays: number;
}
