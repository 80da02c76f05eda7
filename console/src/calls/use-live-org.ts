import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ChangesService, Change_View } from "../../../gen/iam/v1alpha/change_pb.ts";
import { createPace } from "./create-pace.ts";
import { usePermissions } from "./use-permissions.ts";
import { useVisible } from "./use-visible.ts";

/** How long changes are collected before what is shown is read again; in a busy org longer than after a quiet time. */
const pauses = { soonMs: 400, shortestMs: 400, longestMs: 5_000 };

/** How long a stream that has broken is left alone. */
const againMs = 5_000;

/** With one of these, a stream is refused again. */
const final = new Set([Code.PermissionDenied, Code.NotFound, Code.InvalidArgument]);

/**
 * Reads again what screens show when something in the org has changed. Returns whether it does: only for people who may read the log, and
 * while the window is visible, because a browser opens few connections to one host.
 */
export function useLiveOrg(org: string): boolean {
  const transport = useTransport();
  const queryClient = useQueryClient();
  const visible = useVisible();
  // What is refused is in the security log of the org.
  const may = usePermissions(org, ["iam.changes.list"]).may("iam.changes.list") === true;
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (!visible || !may) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pace = createPace(pauses);
    const refresh = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queryClient.invalidateQueries();
      }, pace(Date.now()));
    };
    const watch = async (): Promise<void> => {
      const request = { parentPath: org, view: Change_View.BASIC };
      const stream = createClient(ChangesService, transport).watchChanges(request, { signal: stop.signal });
      for await (const { event } of stream) {
        setLive(true);
        if (event.case === "change") refresh();
      }
    };
    const keepWatching = async (): Promise<void> => {
      const code = await watch().then(
        () => Code.Unavailable,
        (error: unknown) => ConnectError.from(error).code,
      );
      setLive(false);
      if (stop.signal.aborted || final.has(code)) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        refresh();
        void keepWatching();
      }, againMs);
    };
    void keepWatching();
    return () => {
      stop.abort();
      clearTimeout(timer);
      setLive(false);
    };
  }, [org, transport, queryClient, visible, may]);
  return live;
}
