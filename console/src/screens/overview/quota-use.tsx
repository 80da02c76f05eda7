import { useQuery } from "@connectrpc/connect-query";
import { Meter } from "@base-ui/react/meter";
import { Link } from "@tanstack/react-router";
import { QuantityKindsService } from "../../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { hasScreen } from "../../app/screens-by-path.ts";
import { texts } from "../../texts/texts.ts";
import { writeAmount } from "../../ui/amount.ts";
import { Empty } from "../../ui/notes.tsx";

/** From this share of a limit on, its meter warns. */
const nearly = 0.9;

interface Use {
  readonly kind: string;
  /** What people call the kind. */
  readonly name: string;
  readonly unit: string;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number | undefined;
}

/** Returns what is used of each kind, what has a limit first. */
function usesOf(
  { limits, usage, reserved }: Pick<Quota, "limits" | "usage" | "reserved">,
  namesOf: (kind: string) => Pick<Use, "name" | "unit">,
): Use[] {
  const kinds = new Set([...Object.keys(limits), ...Object.keys(usage), ...Object.keys(reserved)]);
  const uses = [...kinds].map((kind) => ({
    kind,
    ...namesOf(kind),
    used: usage[kind] ?? 0,
    reserved: reserved[kind] ?? 0,
    limit: limits[kind],
  }));
  return uses.toSorted(
    (a, b) => Number(b.limit !== undefined) - Number(a.limit !== undefined) || a.kind.localeCompare(b.kind),
  );
}

/** What is used against the quota: of each Quantity, and of what the API itself counts. */
export function QuotaUse({ quota, org }: { readonly quota: Quota; readonly org: string }) {
  const namesOf = useKinds();
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
          <h3>{texts.overview.counts}</h3>
          <Uses uses={counts} org={org} />
        </>
      )}
    </>
  );
}

/** Returns what people call the kinds of Quantities, and their units. */
function useKinds(): (kind: string) => Pick<Use, "name" | "unit"> {
  const { data } = useQuery(QuantityKindsService.method.listQuantityKinds, { pageSize: 1_000 }, { retry: false });
  const kinds = new Map(
    (data?.quantityKinds ?? []).map(({ name, displayName, unit }) => [name, { name: displayName || name, unit }]),
  );
  return (kind) => kinds.get(kind) ?? { name: kind, unit: "" };
}

function Uses({ uses, org }: { readonly uses: readonly Use[]; readonly org?: string }) {
  return (
    <ul className="uses">
      {uses.map((use) => (
        <li key={use.kind}>
          <UseMeter use={use} path={org === undefined ? undefined : `${org}/${use.kind}`} />
        </li>
      ))}
    </ul>
  );
}

function UseMeter({
  use: { name, unit, used, reserved, limit },
  path,
}: {
  readonly use: Use;
  readonly path: string | undefined;
}) {
  const label = path !== undefined && hasScreen(path) ? <Link to={path}>{name}</Link> : name;
  const amount = texts.overview.amount(writeAmount(used, unit), reserved === 0 ? "" : writeAmount(reserved, unit));
  if (limit === undefined) {
    return (
      <div className="meter">
        <span className="meter-label">{label}</span>
        <span className="meter-value">{amount}</span>
      </div>
    );
  }
  const taken = used + reserved;
  const max = limit === 0 ? 1 : limit;
  return (
    <div className={taken >= max * nearly ? "meter nearly" : "meter"}>
      <span className="meter-label">{label}</span>
      <span className="meter-value">{texts.overview.of(amount, writeAmount(limit, unit))}</span>
      <Meter.Root className="meter-root" aria-label={name} value={limit === 0 ? 1 : Math.min(taken, limit)} max={max}>
        <Meter.Track className="meter-track">
          <Meter.Indicator className="meter-bar" />
        </Meter.Track>
      </Meter.Root>
    </div>
  );
}
