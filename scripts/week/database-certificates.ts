// The certificates of both databases of a run, and what servers trust.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Authority } from "../../test/support/certificates.ts";
import { askDatabase } from "../chaos/ask-database.ts";
import type { NodeName } from "../chaos/databases.ts";
import type { Workplace } from "../chaos/processes.ts";

export interface DatabaseCertificates {
  /** The parameters of a URL whose servers are checked. */
  readonly parameters: string;
  /** Lets both databases use certificates of another authority, as docs/operating.md says, and ends what was connected before. */
  replace(former: Authority, next: Authority): Promise<void>;
}

/** Lets both databases encrypt, with certificates of an authority. */
export async function encryptDatabases(
  { directory }: Workplace,
  ports: Readonly<Record<NodeName, number>>,
  authority: Authority,
): Promise<DatabaseCertificates> {
  const bundle = join(directory, "ca.pem");
  const onBoth = async (...statements: readonly string[]): Promise<void> => {
    for (const port of Object.values(ports))
      for (const statement of statements)
        await askDatabase(`postgres://postgres@127.0.0.1:${port}/postgres`, statement);
  };
  const issue = (by: Authority): void => {
    for (const name of Object.keys(ports)) by.issue(join(directory, `postgres-${name}`));
  };
  issue(authority);
  writeFileSync(bundle, authority.certificate);
  await onBoth("alter system set ssl = on", "select pg_reload_conf()");
  return {
    parameters: `sslmode=verify-full&sslrootcert=${bundle}`,
    async replace(former, next) {
      writeFileSync(bundle, former.certificate + next.certificate);
      issue(next);
      await onBoth("select pg_reload_conf()");
      writeFileSync(bundle, next.certificate);
      await onBoth("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tenantry%'");
    },
  };
}
