import { Code } from "@connectrpc/connect";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { type Operation, OperationsService } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { operationTexts } from "../../texts/resource-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { useLookAgain } from "../operations/use-look-again.ts";
import { OperationFacts } from "./operation-facts.tsx";

const isUnderWay = ({ done }: Operation): boolean => !done;

/** One operation: how far it is, what it waits for, and why it failed. */
export function OperationScreen() {
  const { org, project, operation: name } = useParams({ from: "/orgs/$org/projects/$project/operations/$operation" });
  const parentPath = `/orgs/${org}/projects/${project}`;
  const refetchInterval = useLookAgain(isUnderWay);
  const operation = useQuery(
    OperationsService.method.getOperation,
    { path: `${parentPath}/operations/${name}` },
    { refetchInterval },
  );
  const permissions = usePermissions(parentPath, ["resources.operations.cancel", "resources.resources.get"]);
  return (
    <ScreenOf of={operation}>{(data) => <Shown key={data.id} operation={data} permissions={permissions} />}</ScreenOf>
  );
}

interface ShownProps {
  readonly operation: Operation;
  readonly permissions: Permissions;
}

function Shown({ operation, permissions }: ShownProps) {
  const { ask, askedFor, close } = useAsked<"cancel", Operation>(operation);
  const { verb, resourcePath, done, cancelRequested } = operation;
  const resource = useQuery(
    ResourcesService.method.getResource,
    { path: resourcePath },
    // What an operation has deleted is not there any more, and only some may read resources of each type.
    { enabled: permissions.may("resources.resources.get") === true, retry: false },
  );
  const resourceName = resource.data?.displayName || nameOf(resourcePath);
  return (
    <Page
      kind={operationTexts.one}
      title={`${verb} ${resourceName}`}
      intro={done ? undefined : operationTexts.leave}
      actions={
        done || cancelRequested ? undefined : (
          <GuardedButton
            kind="danger"
            permissions={permissions}
            permission="resources.operations.cancel"
            onClick={() => ask("cancel")}
          >
            {operationTexts.cancel}
          </GuardedButton>
        )
      }
    >
      <OperationFacts
        operation={operation}
        resourceName={resourceName}
        isGone={resource.error?.code === Code.NotFound}
      />
      <CancelDialog operation={askedFor("cancel")} onClose={close} />
    </Page>
  );
}

interface CancelDialogProps {
  readonly operation: Operation | undefined;
  readonly onClose: () => void;
}

function CancelDialog({ operation, onClose }: CancelDialogProps) {
  const cancel = useMutation(OperationsService.method.cancelOperation);
  return (
    <FormDialog
      title={`${operationTexts.cancel}?`}
      intro={operationTexts.cancelIntro}
      submit={operationTexts.cancel}
      kind="danger"
      open={operation !== undefined}
      onClose={onClose}
      onSubmit={() => cancel.mutateAsync({ path: operation?.path ?? "" })}
    />
  );
}
