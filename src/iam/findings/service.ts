// Implements FindingsService.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import {
  Finding_Kind,
  type FindingsService,
  type ListFindingsRequest,
  ListFindingsResponseSchema,
} from "../../../gen/iam/v1alpha/finding_pb.ts";
import type { Authorise, CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import { callerOf, confirmOf, slicesOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import type { TargetPath } from "../../access/evaluation/target-path.ts";
import type { Database } from "../../database/database.ts";
import { clockMs } from "../../database/clock.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { oldestMonth } from "../../database/partitions.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { positionOf } from "../../standard-methods/read/list-page.ts";
import { orgDefinition } from "../orgs/definition.ts";
import type { OrgRow } from "../orgs/store.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import type { FindingColumns, FindingSource } from "./finding-source.ts";
import { createListFindings, findingSources, readFindingsFilter } from "./list-findings.ts";
import { toFinding } from "./message.ts";

type FindingsDependencies = Pick<RoleDependencies, "database" | "pageTokens" | "predefinedRoles" | "readers"> & {
  readonly authoriserOf: Authorise["authoriserOf"];
};

const defaultDays = 90;
const dayMs = 86_400_000;

export function createFindingsService(dependencies: FindingsDependencies): ServiceImpl<typeof FindingsService> {
  const { database, pageTokens, predefinedRoles, readers, authoriserOf } = dependencies;
  const orgs = readers.readerOf(orgDefinition, orgDefinition.places[0]);
  const list = createListFindings(database);

  return {
    async listFindings(request: ListFindingsRequest, context: HandlerContext) {
      const filter = readFindingsFilter(request.filter);
      const path = targetOf(context, patterns.Org);
      const org = await orgs.lookup(path, visibleOf(context));
      if (org === undefined) throw notFound("org", formatReferences(patterns.Org, path));
      const unusedDays = request.unusedDays === 0 ? defaultDays : request.unusedDays;
      const binding = ["Finding", org.id, request.filter, String(unusedDays)];
      const { after, size } = positionOf(pageTokens, request, binding);
      const decide = async () => holdsIn(await authoriserOf(callerOf(context), slicesOf(context)), org);
      const before = await decide();
      const known = await readKnown(database, org, unusedDays);
      const told = findingSources.filter(
        ({ kind, isOfUse }) => (kind !== "MEMBER_UNUSED" || known.ofMembers) && (isOfUse === undefined || known.ofUse),
      );
      const sources = await before.kinds(told);
      const call = {
        orgId: callerOf(context).orgId,
        customerId: org.customer_id,
        signal: context.signal,
        timeoutMs: () => context.timeoutMs(),
      };
      const ofOrg = { id: org.id, customer_id: org.customer_id };
      const question = { org: ofOrg, unusedDays, recordedSince: known.recordedSince, predefinedRoles };
      const { findings, next } = await list(call, { question, sources, filter, after, size, isShown: before.shows });
      // The caller has waited, and may have lost permissions meanwhile.
      await confirmOf(context)(database.reads, undefined);
      const now = await decide();
      const kinds = new Set((await now.kinds(sources)).map(({ kind }) => kind));
      const shown: FindingColumns[] = [];
      for (const finding of findings) {
        if (kinds.has(finding.kind) && (await now.shows(finding))) shown.push(finding);
      }
      return create(ListFindingsResponseSchema, {
        findings: shown.map((finding) => toFinding(finding, question)),
        nextPageToken: next === undefined ? "" : pageTokens.encode(next, binding),
        omittedKinds: findingSources.filter(({ kind }) => !kinds.has(kind)).map(({ kind }) => Finding_Kind[kind]),
      });
    },
  };
}

/** Returns functions that say which kinds of findings the caller may see, and whether it may see one of these kinds. */
function holdsIn({ decideQuietly }: CallerAuthoriser, { id }: Pick<OrgRow, "id">) {
  const decided = new Map<string, Promise<boolean>>();
  const holds = (permission: string, path: TargetPath): Promise<boolean> => {
    const key = [permission, ...path.references.map((reference) => ("value" in reference ? reference.value : ""))].join(
      " ",
    );
    const found =
      decided.get(key) ?? Promise.resolve(decideQuietly({ permission, listVisibility: "never" }, path)).then(Boolean);
    decided.set(key, found);
    return found;
  };
  const org = { by: "id", value: id } as const;
  const kinds = async (sources: readonly FindingSource[]): Promise<FindingSource[]> => {
    const held: FindingSource[] = [];
    for (const source of sources) {
      const decisions = source.needs.map((each) => holds(each, { pattern: patterns.Org, references: [org] }));
      if ((await Promise.all(decisions)).every(Boolean)) held.push(source);
    }
    return held;
  };
  /** What is in a project may be suspended with it, or be kept from the caller by a condition. */
  const shows = async ({ project_id: projectId }: FindingColumns): Promise<boolean> => {
    if (projectId === null) return true;
    const path = { pattern: patterns.Project, references: [org, { by: "id", value: projectId } as const] };
    return holds("iam.roleBindings.list", path);
  };
  return { kinds, shows };
}

interface Known {
  /** Whether the log has all that the members of the org did in the last days. */
  readonly ofMembers: boolean;
  /** Whether uses were recorded for all of the last days, and none was lost. */
  readonly ofUse: boolean;
  readonly recordedSince: Date;
}

async function readKnown({ reads }: Pick<Database, "reads">, org: OrgRow, days: number): Promise<Known> {
  const { rows } = await sql<{ month: string | null; now: number; since: Date | null; lost: Date | null }>`
    select ${oldestMonth} as month, ${clockMs} as now, (select since_time from use_recording) as since,
      (select last_day from access_uses where ${isInOrgOf("access_uses", org)} and used_id = ${org.id} and part = '') as lost`.execute(
    reads,
  );
  const [{ month, now, since, lost } = { month: null, now: 0, since: null, lost: null }] = rows;
  const begin = now - days * dayMs;
  const oldest = month === null ? Infinity : Date.parse(`${month.replace("_", "-")}-01T00:00:00Z`);
  const created = org.create_time.getTime();
  const hasLost = lost !== null && lost.getTime() >= Math.floor(begin / dayMs) * dayMs;
  return {
    ofMembers: month !== null && (created >= oldest || begin >= oldest),
    ofUse: since !== null && (created >= since.getTime() || begin >= since.getTime()) && !hasLost,
    recordedSince: new Date(Math.max(since?.getTime() ?? now, lost === null ? 0 : lost.getTime() + dayMs)),
  };
}
