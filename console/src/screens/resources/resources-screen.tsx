import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { Resource_StateSchema, ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { allProjects } from "../../calls/paths.ts";
import { useResourceTypes } from "../../calls/use-catalog.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { lookAgainMs } from "../operations/look-again.ts";
import { ResourceTable } from "./resource-table.tsx";

const stateChoices = [
  { value: "", label: resourceTexts.anyState },
  ...Resource_StateSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => ({ value: name, label: stateNames[name] ?? name })),
];

/** The resources of a project, or of all projects of an org: found by words, type and state. */
export function ResourcesScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/resources" });
  const search = useSearch({ from: "/orgs/$org/projects/$project/resources" });
  const { q, page = "", state, type } = search;
  const parentPath = `/orgs/${org}/projects/${project}`;
  const ofAllProjects = project === allProjects;
  const permissions = usePermissions(ofAllProjects ? `/orgs/${org}` : parentPath, ["resources.operations.list"]);
  const types = useResourceTypes() ?? [];
  const nameOf = useDisplayNames(ofAllProjects ? [] : [parentPath]);
  const conditions = [state && `state = ${state}`, type && `type_path = ${JSON.stringify(type)}`];
  const resources = useQuery(
    ResourcesService.method.listResources,
    {
      parentPath,
      pageSize: 100,
      pageToken: page,
      filter: toFilter(q, ...conditions),
      showDeleted: state === "DELETED",
    },
    {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data } }) =>
        data?.resources.some(({ operationPath }) => operationPath !== "") === true ? lookAgainMs : false,
    },
  );
  const typeChoices = [
    { value: "", label: resourceTexts.anyType },
    ...types.map(({ path, name, displayName }) => ({ value: path, label: displayName || name })),
  ];
  return (
    <ListPage
      words={{
        ...resourceTexts,
        ...(ofAllProjects ? {} : { title: resourceTexts.titleOf(nameOf(parentPath)) }),
      }}
      permissions={permissions}
      links={
        permissions.may("resources.operations.list") === true ? (
          <Link to="/orgs/$org/projects/$project/operations" params={{ org, project }} className="button plain">
            {operationTexts.title}
          </Link>
        ) : null
      }
      search={search}
      filters={
        <>
          <SelectFilter label={texts.columns.type} name="type" value={type ?? ""} choices={typeChoices} />
          <SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />
        </>
      }
      narrowed={state !== undefined || type !== undefined}
      of={resources}
      rowsOf={(found) => found.resources}
      table={(rows) => <ResourceTable rows={rows} ofAllProjects={ofAllProjects} />}
    />
  );
}
