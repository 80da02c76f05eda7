import { lazy, Suspense, useState, type ReactNode } from "react";
import type { Permissions } from "../calls/use-permissions.ts";
import { Button, type ButtonKind } from "./button.tsx";

interface GuardedButtonProps {
  readonly permissions: Permissions;
  /** What the service requires for what the button does. */
  readonly permission: string;
  readonly kind?: ButtonKind;
  /** Tells buttons of the same name apart for screen readers. */
  readonly label?: string | undefined;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** Loaded when somebody asks why. */
const RefusedButton = lazy(async () => ({ default: (await import("./refused-button.tsx")).RefusedButton }));

/** A button that only somebody with a permission can use. For others it says why not, and who can help. */
export function GuardedButton({
  permissions,
  permission,
  kind = "plain",
  label,
  onClick,
  children,
}: GuardedButtonProps) {
  const [asked, setAsked] = useState(false);
  const may = permissions.may(permission);
  if (may !== false) {
    return (
      <Button
        kind={kind}
        disabled={may === undefined && permissions.failed !== true}
        aria-label={label}
        onClick={onClick}
      >
        {children}
      </Button>
    );
  }
  const className = `button ${kind} refused`;
  const closed = (
    <button type="button" className={className} aria-disabled="true" aria-label={label} onClick={() => setAsked(true)}>
      {children}
    </button>
  );
  if (!asked) return closed;
  return (
    <Suspense fallback={closed}>
      <RefusedButton
        className={className}
        label={label}
        permission={permission}
        resourcePath={permissions.resourcePath}
      >
        {children}
      </RefusedButton>
    </Suspense>
  );
}
