import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  QueryUsageRequest_Dimension as Dimension,
  QueryUsageResponseSchema,
  type UsagePoint,
  UsagePointSchema,
  type UsageSeries,
  UsageSeriesSchema,
  type UsageService,
} from "../../../gen/iam/v1alpha/usage_pb.ts";
import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import { approves } from "../../access/evaluation/explain-denial.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { callerOf, confirmOf, patternOf, slicesOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { toNothing } from "../../access/evaluation/resolved-target.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { isSamePattern } from "../../paths/patterns.ts";
import { levels } from "../../quotas/levels.ts";
import { createLevelLookup } from "../../quotas/read-level.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { GroupUsage } from "./fold-series.ts";
import { type Period, readPeriod, timeOfStep } from "./period.ts";
import { createQueryUsage } from "./query-usage.ts";
import { type GroupNames, readNames } from "./read-names.ts";
import type { Dimensions } from "./select-usage.ts";

interface UsageDependencies extends Pick<ResourceDependencies, "database" | "installation"> {
  readonly evaluator: AccessEvaluator;
  readonly viewCaller: ViewCaller;
}

export function createUsageService(dependencies: UsageDependencies): ServiceImpl<typeof UsageService> {
  const { database } = dependencies;
  const queryUsage = createQueryUsage(dependencies);
  const served = levels.map((level) => ({ level, lookup: createLevelLookup(database, level) }));

  return {
    async queryUsage(request, context) {
      const asked = readPeriod(request);
      const shown = new Set(request.groupBy);
      const pattern = patternOf(context);
      const { level, lookup } = required(served.find((each) => isSamePattern(each.level.pattern, pattern)));
      const path = targetOf(context, level.pattern);
      const found = shown.has(Dimension.PROJECT) ? await requireMayNameProjects(dependencies, context, path) : path;
      const scope = await lookup(found, visibleOf(context));
      const call = { orgId: callerOf(context).orgId, signal: context.signal, timeoutMs: () => context.timeoutMs() };
      const { period, groups } = await queryUsage(call, { scope, asked, dimensions: dimensionsOf(shown) });
      const keys = groups.map(({ group }) => group);
      const namesOf = await readNames(database.reads, scope.customerId, keys);
      // The caller has waited, and may have lost the permission meanwhile.
      await confirmOf(context)(database.reads, undefined);
      const times = Array.from({ length: period.steps + 1 }, (_, index) => toTimestamp(timeOfStep(period, index)));
      const series: UsageSeries[] = [];
      for (const each of groups) {
        await slicesOf(context).next();
        series.push(toSeries(each, namesOf(each.group), shown, times));
      }
      const { path: parentPath } = scope;
      return create(QueryUsageResponseSchema, { parentPath, series: inOrder(series), ...boundsOf(period) });
    },
  };
}

/**
 * Checks that the caller is no member of the platform in a customer that requires these to be approved: what is to be paid is the sum of an org, and
 * names of projects are what is in it. With an approval, the usage of each project can be read.
 *
 * @returns the path by the ids of what it was decided on: its names may be those of something else in a moment.
 * @throws ServiceError PERMISSION_DENIED
 */
async function requireMayNameProjects(
  { evaluator, viewCaller }: UsageDependencies,
  context: HandlerContext,
  path: readonly Reference[],
): Promise<readonly Reference[]> {
  const { snapshot } = await viewCaller(callerOf(context));
  if (!evaluator.isOfPlatform(snapshot)) return path;
  const target = await evaluator.resolve(snapshot, { pattern: patternOf(context), references: path });
  if (target?.support?.isWhole !== true) return target?.references ?? toNothing(path);
  const message = `group_by has PROJECT, and ${approves}: with an approval, read the usage of each project by its own path`;
  throw new ServiceError("PERMISSION_DENIED", message, {
    metadata: { permission: "iam.usage.get", support_access: "required" },
  });
}

function dimensionsOf(shown: ReadonlySet<Dimension>): Dimensions {
  return {
    org: shown.has(Dimension.ORG),
    project: shown.has(Dimension.PROJECT),
    service: shown.has(Dimension.SERVICE),
    type: shown.has(Dimension.RESOURCE_TYPE),
  };
}

function toSeries(
  { group: { kind }, steps }: GroupUsage,
  { orgPath, projectPath, servicePath, typePath, unit }: GroupNames,
  shown: ReadonlySet<Dimension>,
  times: readonly Timestamp[],
): UsageSeries {
  const points = steps.map((step, index): UsagePoint => {
    const [startTime, endTime] = [required(times[index]), required(times[index + 1])];
    return create(UsagePointSchema, { startTime, endTime, ...step });
  });
  return create(UsageSeriesSchema, {
    ...(shown.has(Dimension.ORG) && { orgPath }),
    ...(shown.has(Dimension.SERVICE) && { servicePath }),
    projectPath,
    typePath,
    kind,
    unit,
    points,
  });
}

function boundsOf({ start, end }: Period) {
  return { fromTime: toTimestamp(start), toTime: toTimestamp(end) };
}

const textOf = ({ orgPath, projectPath, servicePath, typePath, kind }: UsageSeries): string =>
  [orgPath, projectPath, servicePath, typePath, kind].join(" ");

function inOrder(series: readonly UsageSeries[]): UsageSeries[] {
  const named = series.map((each) => [textOf(each), each] as const);
  return named.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** @param microseconds since 1970. */
function toTimestamp(microseconds: number): Timestamp {
  const seconds = Math.floor(microseconds / 1e6);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: Math.round(microseconds - seconds * 1e6) * 1000 });
}
