import { useQuery } from "@connectrpc/connect-query";
import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Change, ChangesService, Change_View } from "../../../gen/iam/v1alpha/change_pb.ts";
import { createPace } from "./create-pace.ts";
import { isFinal } from "./is-final.ts";
import { usePermissions } from "./use-permissions.ts";
import { useVisible } from "./use-visible.ts";

const { listChanges } = ChangesService.method;

/** How often the end of the log is asked for, which is one short call. */
const lookMs = 5_000;

/** How long what is shown is not read again after it was: longer where something changes all the time. */
const pauses = { soonMs: 0, shortestMs: lookMs, longestMs: 60_000 };

/** How often all that is shown is read again for people who may not read the log. */
const readAllMs = 30_000;

/** So many, because two orgs can write at once: what is seen later can have an earlier time. */
const latest = 10;

/**
 * Reads again what a screen of a customer or of the platform shows when something has changed there. A stream follows the log of one org, so
 * this asks for the end of the log again and again, while the window is visible. Where something changes all the time, the latest changes are
 * read each time, and everything else less often.
 *
 * @param parentPath a customer, such as `/customers/acme`; empty for the platform.
 */
export function useLiveAbove(parentPath: string): void {
  const queryClient = useQueryClient();
  const visible = useVisible();
  const may = usePermissions(parentPath, ["iam.changes.list"]).may("iam.changes.list");
  // That somebody reads the log is in the log, too.
  const request = { parentPath, pageSize: latest, view: Change_View.BASIC, filter: "type != READ" };
  const log = useQuery(listChanges, request, {
    enabled: may === true,
    retry: false,
    refetchInterval: ({ state: { error } }) => !isFinal(error) && lookMs,
  });
  const end = log.data?.changes.map(keyOf).join(" ");
  const isHidden = may === false || isFinal(log.error);
  const seen = useRef<string>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [pace] = useState(() => createPace(pauses));
  useEffect(() => {
    if (end === undefined || seen.current === end) return;
    // Also after the first answer: what is shown may have been read before it.
    seen.current = end;
    void queryClient.invalidateQueries({ predicate: (query) => isAnswered(query) && isOfLog(query) });
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queryClient.invalidateQueries({ predicate: isAnswered });
    }, pace(Date.now()));
  }, [end, queryClient, pace]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useEffect(() => {
    if (!isHidden || !visible) return;
    const repeated = setInterval(() => void queryClient.invalidateQueries({ predicate: isAnswered }), readAllMs);
    return () => clearInterval(repeated);
  }, [isHidden, visible, queryClient]);
}

/** What was refused is refused again, and each time it is in the security log. */
const isAnswered = ({ state: { status } }: Query): boolean => status !== "error";

/** Whether a query lists changes. */
const isOfLog = ({ queryKey: [, call] }: Query): boolean =>
  typeof call === "object" && call !== null && "methodName" in call && call.methodName === listChanges.name;

const keyOf = ({ orgPath, customerPath, revision, position }: Change): string =>
  `${orgPath}${customerPath}@${revision}.${position}`;
