import { Link } from "@tanstack/react-router";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { hasScreen } from "../../app/screens-by-path.ts";
import { orgOf } from "../../calls/paths.ts";
import { type KindOf, useQuantityKinds } from "../../calls/use-kinds.ts";
import { texts } from "../../texts/texts.ts";
import { amountOf } from "../../ui/amount.ts";
import { Empty } from "../../ui/notes.tsx";
import { type Use, UseMeter } from "../../ui/use-meter.tsx";

/** Returns what is used of each kind, what has a limit first. */
function usesOf({ limits, usage, reserved }: Pick<Quota, "limits" | "usage" | "reserved">, namesOf: KindOf): Use[] {
  const kinds = new Set([...Object.keys(limits), ...Object.keys(usage), ...Object.keys(reserved)]);
  const uses = [...kinds].map((kind) => ({
    kind,
    ...namesOf(kind),
    used: amountOf(usage, kind) ?? 0,
    reserved: amountOf(reserved, kind) ?? 0,
    limit: amountOf(limits, kind),
  }));
  return uses.toSorted(
    (a, b) => Number(b.limit !== undefined) - Number(a.limit !== undefined) || a.kind.localeCompare(b.kind),
  );
}

interface QuotaUseProps {
  readonly quota: Quota;
  /** An org, project or customer. */
  readonly org: string;
}

/** What is used against the quota: of each Quantity, and of what the API itself counts. */
export function QuotaUse({ quota, org }: QuotaUseProps) {
  const namesOf = useQuantityKinds();
  const quantities = usesOf(quota, namesOf);
  const counts = usesOf({ limits: quota.resourceLimits, usage: quota.resourceUsage, reserved: {} }, (kind) => ({
    name: texts.counted[kind] ?? kind,
    unit: "",
  }));
  return (
    <>
      {quantities.length === 0 ? (
        <Empty title={texts.overview.nothingUsed}>
          <p>{texts.overview.nothingUsedHint}</p>
        </Empty>
      ) : (
        <Uses uses={quantities} />
      )}
      {counts.length === 0 ? null : (
        <>
          <h3>{orgOf(org) === "" ? texts.overview.countsOfCustomer : texts.overview.counts}</h3>
          <Uses uses={counts} org={org} />
        </>
      )}
    </>
  );
}

function Uses({ uses, org }: { readonly uses: readonly Use[]; readonly org?: string }) {
  return (
    <ul className="uses">
      {uses.map((use) => (
        <li key={use.kind}>
          <UseMeter use={use} label={org === undefined ? <bdi>{use.name}</bdi> : <Counted use={use} org={org} />} />
        </li>
      ))}
    </ul>
  );
}

/** Leads to the screen of what is counted, if there is one. */
function Counted({ use: { name, kind }, org }: { readonly use: Use; readonly org: string }) {
  const path = `${org}/${kind === "contacts" ? "account" : kind}`;
  return hasScreen(path) ? <Link to={path}>{name}</Link> : name;
}
