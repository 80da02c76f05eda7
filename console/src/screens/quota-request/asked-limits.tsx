import { useQuery } from "@connectrpc/connect-query";
import { type QuotaRequest, QuotaRequest_State } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { parentOfQuota } from "../../calls/paths.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { quotaRequestTexts, quotaTexts } from "../../texts/quota-texts.ts";
import { amountOf, writeAmount } from "../../ui/amount.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Section } from "../../ui/page.tsx";

interface AskedLimit {
  readonly kind: string;
  readonly asked: number;
}

/** The limits that are asked for, beside what is used and allowed now, for people who may see that, and what was granted. */
export function AskedLimits({ request }: { readonly request: QuotaRequest }) {
  const { limits, grantedLimits, quotaPath, state } = request;
  const of = parentOfQuota(quotaPath);
  const enabled = usePermissions(of, ["iam.quotas.get"]).may("iam.quotas.get") === true;
  const { data: quota } = useQuery(QuotasService.method.getQuota, { parentPath: of }, { enabled, retry: false });
  const kindOf = useQuantityKinds();
  const write = (kind: string, amount: number | undefined, none: string): string =>
    amount === undefined ? none : writeAmount(amount, kindOf(kind).unit);
  const now: readonly Column<AskedLimit>[] =
    quota === undefined
      ? []
      : [
          {
            title: quotaRequestTexts.usedNow,
            numeric: true,
            wide: state !== QuotaRequest_State.PENDING,
            cell: ({ kind }) =>
              write(kind, (amountOf(quota.usage, kind) ?? 0) + (amountOf(quota.reserved, kind) ?? 0), ""),
          },
          {
            title: quotaRequestTexts.limitNow,
            numeric: true,
            cell: ({ kind }) => write(kind, amountOf(quota.limits, kind), quotaTexts.noLimit),
          },
        ];
  const granted: Column<AskedLimit> = {
    title: quotaRequestTexts.granted,
    numeric: true,
    cell: ({ kind }) => write(kind, amountOf(grantedLimits, kind), quotaRequestTexts.notGranted),
  };
  const columns: readonly Column<AskedLimit>[] = [
    { title: quotaTexts.kind, cell: ({ kind }) => <bdi>{kindOf(kind).name}</bdi> },
    ...now,
    { title: quotaRequestTexts.asked, numeric: true, cell: ({ kind, asked }) => write(kind, asked, "") },
    ...(state === QuotaRequest_State.APPROVED ? [granted] : []),
  ];
  const rows = Object.entries(limits)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([kind, asked]) => ({ kind, asked }));
  return (
    <Section title={quotaRequestTexts.limitsAsked}>
      <DataTable label={quotaRequestTexts.limitsAsked} columns={columns} rows={rows} keyOf={({ kind }) => kind} />
    </Section>
  );
}
