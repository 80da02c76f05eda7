import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import {
  type EventStream,
  EventStreamsService,
  EventStream_State,
} from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { lookingAgain } from "../deliveries/look-again.ts";
import { PauseButton } from "../deliveries/pause-button.tsx";
import { ChangeStreamDialog } from "./change-stream-dialog.tsx";
import { StreamFacts } from "./stream-facts.tsx";
import { VerifyDialog } from "./verify-dialog.tsx";

const permissionsOfScreen = [
  ...["verify", "update", "pause", "resume", "delete", "inspect"].map((verb) => `iam.eventStreams.${verb}`),
  "iam.changes.list",
];

/** One event stream: who is told what, how, and whether it gets there. */
export function EventStreamScreen() {
  const { org, eventStream } = useParams({ from: "/orgs/$org/eventStreams/$eventStream" });
  const path = `/orgs/${org}/eventStreams/${eventStream}`;
  const stream = useQuery(EventStreamsService.method.getEventStream, { path });
  const permissions = usePermissions(`/orgs/${org}`, permissionsOfScreen);
  return <ScreenOf of={stream}>{(data) => <Shown key={data.id} stream={data} permissions={permissions} />}</ScreenOf>;
}

/** What a dialog asks about. */
type Action = "verify" | "change" | "delete";

interface ShownProps {
  readonly stream: EventStream;
  readonly permissions: Permissions;
}

function Shown({ stream, permissions }: ShownProps) {
  const { path } = stream;
  const options = lookingAgain(permissions.may("iam.eventStreams.inspect"));
  const { data: delivery } = useQuery(EventStreamsService.method.inspectEventStream, { path }, options);
  const { ask, askedFor, close } = useAsked<Action, EventStream>(stream);
  const [jti, setJti] = useState<string>();
  return (
    <Page
      kind={streamTexts.one}
      title={stream.displayName || stream.name}
      intro={stream.description === "" ? undefined : <bdi>{stream.description}</bdi>}
      actions={<Actions stream={stream} permissions={permissions} onAsk={ask} />}
    >
      {jti === undefined ? null : (
        <p className="note" role="status">
          {streamTexts.asked} <code>{jti}</code>
        </p>
      )}
      <StreamFacts stream={stream} delivery={delivery} mayRead={permissions.may("iam.changes.list") === true} />
      <VerifyDialog path={path} open={askedFor("verify") !== undefined} onClose={close} onAsked={setJti} />
      <ChangeStreamDialog stream={askedFor("change")} onClose={close} />
      <DeleteDialog stream={askedFor("delete")} onClose={close} />
    </Page>
  );
}

interface ActionsProps extends ShownProps {
  readonly onAsk: (action: Action) => void;
}

function Actions({ stream, permissions, onAsk }: ActionsProps) {
  const pause = useMutation(EventStreamsService.method.pauseEventStream);
  const resume = useMutation(EventStreamsService.method.resumeEventStream);
  return (
    <>
      <GuardedButton permissions={permissions} permission="iam.eventStreams.verify" onClick={() => onAsk("verify")}>
        {streamTexts.verify}
      </GuardedButton>
      <GuardedButton permissions={permissions} permission="iam.eventStreams.update" onClick={() => onAsk("change")}>
        {texts.change}
      </GuardedButton>
      <PauseButton
        of={stream}
        isActive={stream.state === EventStream_State.ACTIVE}
        permissions={permissions}
        collection="iam.eventStreams"
        pauseIntro={streamTexts.pauseIntro}
        onPause={(request) => pause.mutateAsync(request)}
        onResume={(request) => resume.mutateAsync(request)}
      />
      <GuardedButton
        kind="danger"
        permissions={permissions}
        permission="iam.eventStreams.delete"
        onClick={() => onAsk("delete")}
      >
        {texts.delete}
      </GuardedButton>
    </>
  );
}

interface DeleteDialogProps {
  readonly stream: EventStream | undefined;
  readonly onClose: () => void;
}

function DeleteDialog({ stream, onClose }: DeleteDialogProps) {
  const { org } = useParams({ from: "/orgs/$org/eventStreams/$eventStream" });
  const navigate = useNavigate();
  const remove = useMutation(EventStreamsService.method.deleteEventStream);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={streamTexts.deleteIntro}
      removed={stream}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: stream?.etag ?? "" });
        await navigate({ to: "/orgs/$org/eventStreams", params: { org } });
      }}
    />
  );
}
