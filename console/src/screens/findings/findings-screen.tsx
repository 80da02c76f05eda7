import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import {
  type Finding,
  Finding_KindSchema,
  FindingsService,
  type ListFindingsResponse,
} from "../../../../gen/iam/v1alpha/finding_pb.ts";
import { wordIn } from "../../texts/enum-words.ts";
import { findingTexts } from "../../texts/finding-texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { Time } from "../../ui/time.tsx";
import { FoundLink } from "./found-link.tsx";

const kindIn = (words: Readonly<Record<string, string>>, kind: number): string =>
  wordIn(words, Finding_KindSchema, kind);

const kindChoices = [
  { value: "", label: findingTexts.anyKind },
  ...Finding_KindSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name, number }) => ({ value: name, label: kindIn(findingTexts.kinds, number) })),
];

/** As the service has it if nobody says. */
const usualDays = 90;

const dayChoices = [30, usualDays, 180, 365].map((days) => ({
  value: days === usualDays ? "" : String(days),
  label: `${findingTexts.unused} ${findingTexts.days(days)}`,
}));

const columns: readonly Column<Finding>[] = [
  {
    title: findingTexts.kind,
    cell: ({ kind, description }) => <span title={description}>{kindIn(findingTexts.kinds, kind)}</span>,
  },
  {
    title: findingTexts.where,
    cell: ({ resourcePath, relatedPath, permissions }) => (
      <>
        <FoundLink path={resourcePath} />
        {permissions.length === 0 ? null : (
          <span className="quiet-text" title={permissions.join("\n")}>
            {" "}
            {findingTexts.permissions(permissions)}
          </span>
        )}
        {relatedPath === "" ? null : (
          <span className="quiet-text">
            {" "}
            {findingTexts.besides} <FoundLink path={relatedPath} />
          </span>
        )}
      </>
    ),
  },
  { title: findingTexts.since, wide: true, cell: ({ sinceTime }) => <Time at={sinceTime} none="" /> },
  { title: findingTexts.mends, wide: true, cell: ({ kind }) => kindIn(findingTexts.remedies, kind) },
];

const keyOf = ({ kind, resourcePath }: Finding): string => `${kind} ${resourcePath}`;

/** What in an org deserves a look, with what leads to it. */
export function FindingsScreen() {
  const { org } = useParams({ from: "/orgs/$org/findings" });
  const search = useSearch({ from: "/orgs/$org/findings" });
  const { q, page = "", state = "", days } = search;
  const conditions = [q && `resource_path:${JSON.stringify(q)}`, state && `kind = ${state}`].filter(Boolean);
  const request = {
    parentPath: `/orgs/${org}`,
    pageSize: 50,
    pageToken: page,
    filter: conditions.join(" AND "),
    unusedDays: days ?? 0,
  };
  // A refusal is final, and asked again it would be in the security log once more.
  const options = { retry: false, placeholderData: keepPreviousData };
  const findings = useQuery(FindingsService.method.listFindings, request, options);
  const goesOn = page !== "" || (findings.data?.nextPageToken ?? "") !== "";
  return (
    <ListPage
      words={goesOn ? { ...findingTexts, noneFound: findingTexts.noneOnPage } : findingTexts}
      search={search}
      filters={
        <>
          <SelectFilter label={findingTexts.kind} name="state" value={state} choices={kindChoices} />
          <SelectFilter label={findingTexts.unused} name="days" value={days?.toString() ?? ""} choices={dayChoices} />
        </>
      }
      narrowed={state !== "" || days !== undefined || goesOn}
      notes={findings.data && <Omitted found={findings.data} />}
      of={findings}
      rowsOf={(found) => found.findings}
      table={(rows) => <DataTable label={findingTexts.title} columns={columns} rows={rows} keyOf={keyOf} />}
    />
  );
}

/** Says which kinds the list leaves out, so that nobody takes it for whole. */
function Omitted({ found: { omittedKinds } }: { readonly found: ListFindingsResponse }) {
  if (omittedKinds.length === 0) return null;
  const names = omittedKinds.map((kind) => kindIn(findingTexts.kinds, kind));
  return <p className="note">{findingTexts.omitted(names.join(", "))}</p>;
}
