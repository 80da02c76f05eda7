import { useSyncExternalStore } from "react";
import type { SessionAnswer } from "../session/session-answer.ts";
import { useConsole } from "./console-context.ts";

/** Returns who the console acts as. Screens are shown only after somebody is signed in. */
export function useSession(): SessionAnswer {
  const { session } = useConsole();
  const answer = useSyncExternalStore(session.subscribe, session.current);
  if (answer === undefined) throw new Error("Nobody is signed in.");
  return answer;
}
