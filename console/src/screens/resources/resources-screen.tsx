import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import {
  type ListResourcesResponse,
  Resource_StateSchema,
  ResourcesService,
} from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { type ResourcesSearch, toFilter } from "../../app/list-search.ts";
import { allProjects } from "../../calls/paths.ts";
import { permissionFor, useResourceTypes } from "../../calls/use-catalog.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { useLookAgain } from "../operations/use-look-again.ts";
import { CreateResourceDialog } from "./create-resource-dialog.tsx";
import { ResourceTable } from "./resource-table.tsx";

const stateChoices = [
  { value: "", label: resourceTexts.anyState },
  ...Resource_StateSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => ({ value: name, label: stateNames[name] ?? name })),
];

/** The resources of a project, or of all projects of an org: found by words, type and state, and created in one. */
export function ResourcesScreen() {
  const types = useResourceTypes();
  return <ScreenOf of={types}>{({ resourceTypes }) => <Resources types={resourceTypes} />}</ScreenOf>;
}

/** The most permissions to create that a screen asks about; the service answers about 1000 at once. */
const mostTypes = 900;

const toOperations = "resources.operations.list";

const isCreatable = ({ operations }: ResourceType): boolean => operations.some(({ verb }) => verb === "create");

function Resources({ types }: { readonly types: readonly ResourceType[] }) {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/resources" });
  const search = useSearch({ from: "/orgs/$org/projects/$project/resources" });
  const parentPath = `/orgs/${org}/projects/${project}`;
  const ofAllProjects = project === allProjects;
  const creatable = ofAllProjects ? [] : types.filter(isCreatable).slice(0, mostTypes);
  const creations = creatable.map((type) => permissionFor(type, "create"));
  const permissions = usePermissions(ofAllProjects ? `/orgs/${org}` : parentPath, [...creations, toOperations]);
  const mayCreate = creatable.filter((type) => permissions.may(permissionFor(type, "create")) === true);
  const [first] = mayCreate.length > 0 ? mayCreate : creatable;
  // What was offered when the form was opened: it stays while the screen asks again.
  const [offered, setOffered] = useState<readonly ResourceType[]>();
  const nameOf = useDisplayNames(ofAllProjects ? [] : [parentPath]);
  const resources = useResources(parentPath, search);
  const only = types.find(({ path }) => path === search.type);
  return (
    <ListPage
      words={{
        ...resourceTexts,
        ...(ofAllProjects
          ? { noneHint: resourceTexts.noneHintOfAll }
          : { title: resourceTexts.titleOf(nameOf(parentPath)) }),
        ...(types.some(isCreatable) ? {} : { noneHint: resourceTexts.noTypes }),
      }}
      permissions={permissions}
      permission={first && permissionFor(first, "create")}
      onCreate={() => setOffered(mayCreate)}
      links={
        <>
          <Link to="/services" className="button plain">
            {resourceTexts.catalog}
          </Link>
          {permissions.may(toOperations) === true ? <OperationsLink org={org} project={project} /> : null}
        </>
      }
      search={search}
      filters={<Filters types={types} search={search} />}
      narrowed={search.state !== undefined || search.type !== undefined}
      of={resources}
      rowsOf={(found) => found.resources}
      table={(rows) => <ResourceTable rows={rows} ofAllProjects={ofAllProjects} types={types} only={only} />}
    >
      <CreateResourceDialog
        project={parentPath}
        types={offered ?? mayCreate}
        open={offered !== undefined}
        onClose={() => setOffered(undefined)}
      />
    </ListPage>
  );
}

const isUnderWay = ({ resources }: ListResourcesResponse): boolean =>
  resources.some(({ operationPath }) => operationPath !== "");

/** Lists resources, and looks again while operations change some of them. */
function useResources(parentPath: string, { q, page = "", state, type }: ResourcesSearch) {
  const conditions = [state && `state = ${state}`, type && `type_path = ${JSON.stringify(type)}`];
  const filter = toFilter(q, ...conditions);
  return useQuery(
    ResourcesService.method.listResources,
    { parentPath, pageSize: 100, pageToken: page, filter, showDeleted: state === "DELETED" },
    {
      placeholderData: keepPreviousData,
      refetchInterval: useLookAgain(isUnderWay),
    },
  );
}

interface FiltersProps {
  readonly types: readonly ResourceType[];
  readonly search: ResourcesSearch;
}

function Filters({ types, search: { type = "", state = "" } }: FiltersProps) {
  const typeChoices = [
    { value: "", label: resourceTexts.anyType },
    ...types.map(({ path, name, displayName }) => ({ value: path, label: displayName || name })),
  ];
  return (
    <>
      <SelectFilter label={texts.columns.type} name="type" value={type} choices={typeChoices} />
      <SelectFilter label={texts.columns.state} name="state" value={state} choices={stateChoices} />
    </>
  );
}

function OperationsLink(params: { readonly org: string; readonly project: string }) {
  return (
    <Link to="/orgs/$org/projects/$project/operations" params={params} className="button plain">
      {operationTexts.title}
    </Link>
  );
}
