import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { QueryUsageRequest_Dimension as Dimension, UsageService } from "../../../../gen/iam/v1alpha/usage_pb.ts";
import { type UsageGroup, readUsageSearch } from "../../app/usage-search.ts";
import { readPeriod } from "./asked-period.ts";

const dimensions: Readonly<Record<UsageGroup, Dimension>> = {
  org: Dimension.ORG,
  project: Dimension.PROJECT,
  service: Dimension.SERVICE,
  type: Dimension.RESOURCE_TYPE,
};

/**
 * Asks what was consumed, as the URL says.
 *
 * @param groups by what amounts can be divided there.
 */
export function useUsage(path: string, groups: readonly UsageGroup[]) {
  const search = readUsageSearch(useSearch({ strict: false }));
  const period = readPeriod(search, useHour());
  const by = groups.find((group) => group === search.by);
  const groupBy = by === undefined ? [] : [dimensions[by]];
  const request = { parentPath: path, ...period.fields, groupBy };
  const usage = useQuery(UsageService.method.queryUsage, request, {
    placeholderData: keepPreviousData,
    retry: false,
    refetchOnWindowFocus: false,
  });
  return { search, period, by, usage };
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Returns when the present hour has begun, in milliseconds: what is shown up to now has a later beginning in the next one. */
function useHour(): number {
  const [hour, setHour] = useState(thisHour);
  useEffect(() => {
    const timer = setInterval(() => setHour(thisHour()), minuteMs);
    return () => clearInterval(timer);
  }, []);
  return hour;
}

const thisHour = (): number => Math.floor(Date.now() / hourMs) * hourMs;
