import { useState } from "react";

/** Keeps what somebody is about to do to a resource, and the resource as it was when they asked for that. */
export function useAsked<Action extends string, Resource>(resource: Resource) {
  const [asked, setAsked] = useState<{ readonly action: Action; readonly resource: Resource }>();
  return {
    ask: (action: Action): void => setAsked({ action, resource }),
    /** Undefined unless somebody is about to do that. */
    askedFor: (action: Action): Resource | undefined => (asked?.action === action ? asked.resource : undefined),
    close: (): void => setAsked(undefined),
  };
}
