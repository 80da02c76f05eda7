import { Meter } from "@base-ui/react/meter";
import { Link } from "@tanstack/react-router";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { hasScreen } from "../../app/screens-by-path.ts";
import { texts } from "../../texts/texts.ts";
import { Empty } from "../../ui/notes.tsx";

const format = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 3 });

/** From this share of a limit on, its meter warns. */
const nearly = 0.9;

interface Use {
  readonly kind: string;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number | undefined;
}

/** Returns what is used of each kind, what has a limit first. */
function usesOf({ limits, usage, reserved }: Pick<Quota, "limits" | "usage" | "reserved">): Use[] {
  const kinds = new Set([...Object.keys(limits), ...Object.keys(usage), ...Object.keys(reserved)]);
  const uses = [...kinds].map((kind) => ({
    kind,
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
  const quantities = usesOf(quota);
  const counts = usesOf({ limits: quota.resourceLimits, usage: quota.resourceUsage, reserved: {} });
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
  use: { kind, used, reserved, limit },
  path,
}: {
  readonly use: Use;
  readonly path: string | undefined;
}) {
  const name = texts.counted[kind] ?? kind;
  const label = path !== undefined && hasScreen(path) ? <Link to={path}>{name}</Link> : name;
  const amount = texts.overview.amount(format.format(used), reserved === 0 ? "" : format.format(reserved));
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
      <span className="meter-value">{texts.overview.of(amount, format.format(limit))}</span>
      <Meter.Root className="meter-root" aria-label={name} value={limit === 0 ? 1 : Math.min(taken, limit)} max={max}>
        <Meter.Track className="meter-track">
          <Meter.Indicator className="meter-bar" />
        </Meter.Track>
      </Meter.Root>
    </div>
  );
}
