import type { Database } from "../../src/database/database.ts";
import { createAskedOrgs } from "../../src/identity/asked-orgs.ts";
import { type Authenticate, createAuthenticate } from "../../src/identity/authenticate.ts";
import type { Caller } from "../../src/identity/caller.ts";

/** Authenticates callers with API keys alone. */
export function authenticateKeys(
  database: Database,
  askedOrgs = createAskedOrgs(),
  onUse: (caller: Caller) => void = () => {},
): Authenticate {
  return createAuthenticate({ database, askedOrgs, authenticateToken: () => Promise.resolve(undefined), onUse });
}
