import { useQuery } from "@connectrpc/connect-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type Resource, ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import { type ResourceType, ResourceTypesService } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { permissionFor } from "../../calls/use-catalog.ts";
import { parentOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { useLookAgain } from "../operations/use-look-again.ts";
import { OperationTable } from "../operations/operation-table.tsx";
import { useOperations } from "../operations/use-operations.ts";
import { ChangeResourceDialog, DeleteResourceDialog, UndeleteResourceDialog } from "./resource-dialogs.tsx";
import { ownOperations, readOperations, type ResourceAction, ResourceActions } from "./resource-actions.tsx";
import { ResourceFacts } from "./resource-facts.tsx";
import { RunDialog } from "./run-dialog.tsx";

const isUnderWay = ({ operationPath }: Resource): boolean => operationPath !== "";

const mayReadAll = "resources.resources.get";

/** One resource: what it has, what its provider says of it, and what is and was done with it. */
export function ResourceScreen() {
  const { org, project, resource: name } = useParams({ from: "/orgs/$org/projects/$project/resources/$resource" });
  const resource = useQuery(
    ResourcesService.method.getResource,
    { path: `/orgs/${org}/projects/${project}/resources/${name}` },
    { refetchInterval: useLookAgain(isUnderWay) },
  );
  return <ScreenOf of={resource}>{(data) => <WithType key={data.id} resource={data} />}</ScreenOf>;
}

function WithType({ resource }: { readonly resource: Resource }) {
  const type = useQuery(ResourceTypesService.method.getResourceType, { path: resource.typePath });
  return <ScreenOf of={type}>{(data) => <Shown resource={resource} type={data} />}</ScreenOf>;
}

interface ShownProps {
  readonly resource: Resource;
  readonly type: ResourceType;
}

function Shown({ resource, type }: ShownProps) {
  const runnable = [...ownOperations(type), ...type.operations.filter(({ verb }) => verb === "purge")];
  const verbs = ["update", "delete", "undelete", ...runnable.map(({ verb }) => verb)];
  const permissions = usePermissions(resource.path, [
    ...verbs.map((verb) => permissionFor(type, verb)),
    "resources.operations.list",
    readOperations,
    mayReadAll,
  ]);
  const mayReadUsed = permissions.may(mayReadAll) === true;
  const { ask, askedFor, close } = useAsked<ResourceAction, Resource>(resource);
  return (
    <Page
      kind={type.displayName || type.name}
      title={resource.displayName || resource.name}
      intro={resource.description === "" ? undefined : <bdi>{resource.description}</bdi>}
      actions={<ResourceActions resource={resource} type={type} permissions={permissions} onAsk={ask} />}
    >
      <ResourceFacts resource={resource} type={type} mayReadUsed={mayReadUsed} />
      <Section title={operationTexts.title}>
        <Operations resource={resource} may={permissions.may("resources.operations.list")} />
      </Section>
      <ChangeResourceDialog resource={askedFor("change")} onClose={close} />
      <DeleteResourceDialog resource={askedFor("delete")} type={type} onClose={close} />
      {runnable.map((operation) => (
        <RunDialog
          key={operation.verb}
          operation={operation}
          resource={askedFor(`run ${operation.verb}`)}
          mayReadUsed={mayReadUsed}
          onClose={close}
        />
      ))}
      <UndeleteResourceDialog resource={askedFor("undelete")} onClose={close} />
    </Page>
  );
}

interface OperationsProps {
  readonly resource: Resource;
  readonly may: boolean | undefined;
}

/** What is and was done with a resource, the latest first. */
function Operations({ resource, may }: OperationsProps) {
  const { page = "" } = useSearch({ strict: false });
  const operations = useOperations({
    parentPath: parentOf(resource.path),
    filter: `resource_path = ${JSON.stringify(resource.path)}`,
    pageSize: 20,
    pageToken: page,
    enabled: may === true,
  });
  if (may === false) return <p className="quiet-text">{resourceTexts.mayNotSee}</p>;
  return (
    <Answered of={operations}>
      {({ operations: rows, nextPageToken }) => (
        <>
          {rows.length === 0 ? <Empty title={operationTexts.none} /> : <OperationTable rows={rows} ofOne />}
          {page === "" && nextPageToken === "" ? null : (
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          )}
        </>
      )}
    </Answered>
  );
}
