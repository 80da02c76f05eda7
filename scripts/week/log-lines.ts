// A long log, as a service has it after a while: entries of projects that were created and purged, in an org of their own.
import { createApi } from "../../test/support/api.ts";
import { askDatabase } from "../chaos/ask-database.ts";

/** So many entries are of one write. */
const ofWrite = 500;
/** So many pairs of writes are added by one statement. */
const pairsAtOnce = 50;

/** Adds at least so many entries to the log, after those that there are. */
export async function addLogLines(url: string, operatorKey: string, databaseUrl: string, lines: number): Promise<void> {
  const { orgs, projects } = createApi("Connect", url, operatorKey);
  const { path: parentPath, id } = await orgs.createOrg({ org: { name: "long-log" } });
  const { path } = await projects.createProject({ parentPath, project: { name: "sample" } });
  const pairs = Math.ceil(lines / ofWrite / 2);
  const startedAt = Date.now();
  // A write that creates projects has an odd number from here on, and the next one purges them.
  const text = `
    with sample as (
      select *, ('x' || replace(left(revision::text, 18), '-', ''))::bit(64)::bigint as number
      from changes where org_id = $1 and resource_path = $4),
    added as (
      insert into changes (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
        resource_id, container_id, resource_path, request_id, before, after)
      select customer_id, org_id,
        (lpad(to_hex(number + pair * 2 - 1 + is_purge), 16, '0') || md5(pair || ' ' || is_purge)::char(16))::uuid, nth,
        time + (pair * 2 + is_purge) * interval '1 microsecond', format, method, actor_org_id, actor_id, resource_type,
        md5(pair || ' of ' || nth)::uuid, container_id, resource_path || '-' || pair || '-' || nth, gen_random_uuid(),
        case is_purge when 1 then made end, case is_purge when 0 then made end
      from sample, generate_series($2::integer, $3::integer) as pair, generate_series(0, 1) as is_purge, generate_series(0, ${ofWrite - 1}) as nth,
        lateral (select after || jsonb_build_object('name', 'sample-' || pair || '-' || nth) as made) as project
      returning revision)
    update orgs set revision = (select max(revision::text)::uuid from added) where id = $1`;
  for (let first = 1; first <= pairs; first += pairsAtOnce)
    await askDatabase(databaseUrl, text, [id, first, Math.min(pairs, first + pairsAtOnce - 1), path]);
  await askDatabase(databaseUrl, "analyze changes");
  console.log(`${pairs * 2 * ofWrite} entries were added to the log in ${(Date.now() - startedAt) / 1_000} s`);
}
