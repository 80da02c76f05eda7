import type { Database } from "../../src/database/database.ts";
import { createRecentOrgs } from "../../src/identity/recent-orgs.ts";
import { type Authenticate, createAuthenticate } from "../../src/identity/authenticate.ts";
import type { Caller } from "../../src/identity/caller.ts";

/** Authenticates callers with API keys alone. */
export function authenticateKeys(
  database: Database,
  recentOrgs = createRecentOrgs(),
  onUse: (caller: Caller) => void = () => {},
): Authenticate {
  return createAuthenticate({ database, recentOrgs, authenticateToken: () => Promise.resolve(undefined), onUse });
}
