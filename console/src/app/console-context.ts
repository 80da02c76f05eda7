import { createContext, useContext } from "react";
import type { CallLog } from "../calls/call-log.ts";
import type { Notices } from "./notices.ts";
import type { Session } from "../session/session.ts";

export interface Console {
  readonly session: Session;
  readonly calls: CallLog;
  readonly notices: Notices;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === undefined) throw new Error("There is no console around this component.");
  return value;
}
