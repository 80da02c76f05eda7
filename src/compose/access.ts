import type { Logger } from "pino";
import { type HeldOrgs, createHeldOrgs } from "../access/away/held-orgs.ts";
import { createAuthorHolds } from "../access/evaluation/author-holds.ts";
import { createViewAuthor } from "../access/evaluation/author-view.ts";
import { type Authorise, createAuthorise } from "../access/evaluation/authorise.ts";
import { rememberOrgs } from "../access/evaluation/remember-orgs.ts";
import { createViewCaller } from "../access/evaluation/caller-view.ts";
import { compileWithinBudget } from "../access/evaluation/condition-input.ts";
import { type ConfirmOf, createConfirmOf } from "../access/evaluation/confirm-author.ts";
import { createAccessEvaluator } from "../access/evaluation/evaluator.ts";
import { createKnownDependencies } from "../access/conditions/known-dependencies.ts";
import { createEscalationGuard } from "../access/escalation/escalation-guard.ts";
import { createPreviewAccess } from "../access/previews/create-preview-access.ts";
import { type OpenPlannedOrg, createOpenPlannedOrg } from "../access/previews/planned-org.ts";
import { createPreviewSnapshot } from "../access/previews/preview-snapshot.ts";
import type { Snapshots } from "../access/snapshots/current-snapshots.ts";
import { type PastSnapshots, createPastSnapshots, createPastTurns } from "../access/snapshots/past-snapshots.ts";
import { type LongReads, createLongReads } from "../access/snapshots/long-reads.ts";
import { type UseRecorder, createUseRecorder } from "../access/uses/use-recorder.ts";
import { createRolesAt } from "../access/snapshots/past-roles.ts";
import { type OrgHeads, createOrgHeads } from "../access/snapshots/org-heads.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import { createRequireReached } from "../iam/access-checks/require-reached.ts";
import { createSubjectOrgs } from "../iam/access-checks/subject-orgs.ts";
import { type RecentOrgs, createRecentOrgs } from "../identity/recent-orgs.ts";
import type { Installation } from "../identity/installation.ts";
import type { Sealer } from "../identity/sealer.ts";
import { startSnapshots } from "../installation/start-snapshots.ts";
import type { ServiceDependencies } from "../rpc/services.ts";
import type { FairQueue } from "../scheduling/fair-queue.ts";
import type { TimeSlices } from "../scheduling/time-slices.ts";
import type { RunningJob } from "../timers/runs.ts";
import type { Contract } from "./contract.ts";

type Settings = Pick<
  Config,
  "dataDirectory" | "readConnections" | "accessMemoryBytes" | "accessDiskBytes" | "staleChecksMs"
>;

interface Parts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly installation: Installation;
  readonly contract: Contract;
  readonly timeSlices: Pick<TimeSlices, "ofHolders">;
  readonly logger: Logger;
}

export interface Access {
  /** Decides about a call, and decides again when it has its locks. */
  readonly authorise: Authorise;
  readonly confirmOf: ConfirmOf;
  readonly snapshots: Snapshots;
  /** What of it answers while the database is away. */
  readonly heldOrgs: HeldOrgs;
  readonly heads: OrgHeads;
  readonly recentOrgs: RecentOrgs;
  readonly openPlannedOrg: OpenPlannedOrg;
  readonly pastSnapshots: PastSnapshots;
  /** Where all reads of the past wait. */
  readonly pastTurns: FairQueue;
  readonly longReads: LongReads;
  /** What handlers ask about access. */
  readonly ofHandlers: Pick<
    ServiceDependencies,
    | "recentOrgs"
    | "authorHolds"
    | "authoriserOf"
    | "escalation"
    | "evaluator"
    | "previewAccess"
    | "requireReached"
    | "subjectOrgs"
    | "viewCaller"
  >;
  readonly uses: Pick<UseRecorder, "recordClient" | "lost">;
  /** Writes the files of snapshots. */
  readonly job: RunningJob;
  /** Stores what was used last on which day. */
  readonly usesJob: RunningJob;
}

const usesIntervalMs = 30_000;

/** The part of the memory for access, besides it, in which orgs are kept as they were. */
const shareOfPast = 0.125;

export function composeAccess(settings: Settings, parts: Parts): Access {
  const { database, contract, timeSlices, logger } = parts;
  const { systemOrgId } = parts.installation;
  const { collections, knownPermissions: permissions, rolesByName: predefinedRoles } = contract;
  const recentOrgs = createRecentOrgs();
  const heads = createOrgHeads(database, recentOrgs);
  const engine = { predefinedRoles, compileCondition: compileWithinBudget };
  const { snapshots, job } = startSnapshots(settings, parts, engine);
  const heldOrgs = createHeldOrgs(snapshots, settings.staleChecksMs);
  const pastTurns = createPastTurns();
  const longReads = createLongReads();
  const pastSnapshots = createPastSnapshots({
    ...engine,
    database,
    turns: pastTurns,
    longReads,
    rolesAt: createRolesAt(database, predefinedRoles),
    maxBytes: settings.accessMemoryBytes * shareOfPast,
  });
  const uses = createUseRecorder({
    database,
    intervalMs: usesIntervalMs,
    onError: (err) =>
      logger.warn({ err }, "failed to store what was used last on which day; trying again in the next run"),
  });
  const evaluator = createAccessEvaluator({ database, collections, recordUse: uses.record, systemOrgId });
  const viewCaller = createViewCaller(snapshots, database);
  const viewAuthor = createViewAuthor(snapshots, heads);
  const authorise = rememberOrgs(createAuthorise(viewCaller, evaluator), recentOrgs, systemOrgId);
  const previewSnapshot = createPreviewSnapshot({ viewCaller, evaluator, permissions });
  return {
    authorise,
    confirmOf: createConfirmOf(authorise, timeSlices.ofHolders),
    snapshots,
    heldOrgs,
    heads,
    recentOrgs,
    openPlannedOrg: createOpenPlannedOrg({ database, snapshots, previewSnapshot }),
    pastSnapshots,
    pastTurns,
    longReads,
    ofHandlers: {
      recentOrgs,
      authorHolds: createAuthorHolds(viewAuthor, evaluator),
      authoriserOf: authorise.authoriserOf,
      escalation: createEscalationGuard(viewAuthor, predefinedRoles, createKnownDependencies()),
      evaluator,
      previewAccess: createPreviewAccess({ database, snapshots, previewSnapshot }),
      requireReached: createRequireReached(database),
      subjectOrgs: createSubjectOrgs(viewCaller, snapshots, heads, evaluator, heldOrgs),
      viewCaller,
    },
    uses,
    job,
    usesJob: { name: "last-access-use", ...uses },
  };
}
