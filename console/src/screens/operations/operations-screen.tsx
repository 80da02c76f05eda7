import { useParams, useSearch } from "@tanstack/react-router";
import { Operation_StateSchema } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { allProjects } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { OperationTable } from "./operation-table.tsx";
import { useOperations } from "./use-operations.ts";

const stateChoices = [
  { value: "", label: resourceTexts.anyState },
  ...Operation_StateSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => ({ value: name, label: stateNames[name] ?? name })),
];

/** The operations in a project, or in all projects of an org, the latest first. */
export function OperationsScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/operations" });
  const { page = "", state } = useSearch({ from: "/orgs/$org/projects/$project/operations" });
  const parentPath = `/orgs/${org}/projects/${project}`;
  const nameOf = useDisplayNames(project === allProjects ? [] : [parentPath]);
  const filter = state === undefined ? "" : `state = ${state}`;
  const operations = useOperations({ parentPath, filter, pageSize: 50, pageToken: page, enabled: true });
  return (
    <Page
      title={project === allProjects ? operationTexts.title : operationTexts.titleOf(nameOf(parentPath))}
      intro={operationTexts.intro}
    >
      <div className="filters">
        <SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />
      </div>
      <Answered of={operations}>
        {({ operations: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={state === undefined ? operationTexts.none : operationTexts.noneFound} />
            ) : (
              <OperationTable rows={rows} ofOne={false} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
    </Page>
  );
}
