import { Link } from "@tanstack/react-router";
import type { QueryUsageResponse } from "../../../../gen/iam/v1alpha/usage_pb.ts";
import type { UsageGroup } from "../../app/usage-search.ts";
import { allProjects, nameOf, orgOf } from "../../calls/paths.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { texts } from "../../texts/texts.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { fieldsOf, UsageForm } from "./usage-form.tsx";
import { readUsageProblem } from "./usage-problem.ts";
import { UsageResult } from "./usage-result.tsx";
import { useUsage } from "./use-usage.ts";

interface UsageProps {
  /** The org, project or customer. */
  readonly path: string;
  readonly groups: readonly UsageGroup[];
}

/** What is asked, and what was consumed. */
export function Usage({ path, groups }: UsageProps) {
  const { search, period, by, usage } = useUsage(path, groups);
  const kindOf = useQuantityKinds();
  // While the answer to something else is awaited, the same kinds can be chosen.
  const consumed = kindsIn(usage.data);
  const kind = search.kind ?? consumed[0] ?? "";
  const kinds = [...new Set([...consumed, ...(kind === "" ? [] : [kind])])];
  const problem = usage.error === null ? undefined : readUsageProblem(usage.error, fieldsOf(period));
  return (
    <>
      <UsageForm
        search={search}
        period={period}
        kind={kind}
        kinds={kinds.map((value) => ({ value, label: kindOf(value).name }))}
        by={by}
        groups={groups}
        unit={kindOf(kind).unit}
        error={usage.error}
      />
      {problem?.isAtField === true ? (
        <FromOldest day={problem.oldestDay} />
      ) : (
        <Answered of={{ ...usage, data: usage.isPlaceholderData ? undefined : usage.data }}>
          {({ series }) =>
            series.some((each) => each.kind === kind) ? (
              <UsageResult
                // Another group has another hook for its names.
                key={by ?? ""}
                path={path}
                series={series}
                kind={kind}
                name={kindOf(kind).name}
                by={by}
                step={period.step}
                measure={search.show ?? "average"}
              />
            ) : (
              <NothingConsumed path={path} kind={series.length === 0 ? undefined : kindOf(kind).name} />
            )
          }
        </Answered>
      )}
    </>
  );
}

const kindsIn = (usage: QueryUsageResponse | undefined): string[] =>
  [...new Set(usage?.series.map(({ kind }) => kind))].toSorted();

/** Leads to the oldest time that the log has. */
function FromOldest({ day }: { readonly day: string | undefined }) {
  if (day === undefined) return null;
  const search = (before: object): object => ({ ...before, period: undefined, from: day });
  return (
    <Link to="." search={search} className="button plain">
      {usageTexts.fromOldest}
    </Link>
  );
}

interface NothingConsumedProps {
  readonly path: string;
  /** The kind that was asked for, if there is something of others. */
  readonly kind: string | undefined;
}

/** Says what to do first. */
function NothingConsumed({ path, kind }: NothingConsumedProps) {
  if (kind !== undefined) return <Empty title={usageTexts.noneOfKind(kind)} />;
  const org = orgOf(path);
  if (org === "") {
    return (
      <Empty title={usageTexts.none}>
        <p>{usageTexts.noneHintOfCustomer}</p>
      </Empty>
    );
  }
  const project = path === org ? allProjects : nameOf(path);
  return (
    <Empty title={usageTexts.none}>
      <p>{usageTexts.noneHint}</p>
      <Link to="/orgs/$org/projects/$project/resources" params={{ org: nameOf(org), project }}>
        {texts.nav.resources}
      </Link>
    </Empty>
  );
}
