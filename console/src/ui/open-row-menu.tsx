import { Popover } from "@base-ui/react/popover";
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { useConsole } from "../app/console-context.ts";
import { hasScreen } from "../app/screens-by-path.ts";
import { usePermissions } from "../calls/use-permissions.ts";
import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import { texts } from "../texts/texts.ts";
import type { RowAction } from "./actions/row-action.ts";
import { Button } from "./button.tsx";
import { GuardedButton } from "./guarded-button.tsx";
import type { Copied } from "./row-menu.tsx";

/** A browser has a clipboard for pages only on https, and on the machine of the service. */
const copyText = async (text: string): Promise<void> => navigator.clipboard.writeText(text);

interface OpenRowMenuProps {
  readonly of: Copied;
  readonly label: string;
  readonly actions: readonly RowAction[];
}

/** A menu that is open when it is first drawn. */
export function OpenRowMenu({ of: { path, id }, label, actions }: OpenRowMenuProps) {
  const { notices } = useConsole();
  const [open, setOpen] = useState(true);
  // Somebody may have a role on the row alone, so what the list knows of its parent does not say.
  const needed = actions.map(({ permission }) => permission);
  const permissions = usePermissions(path, needed, open && needed.length > 0);
  const copy = async (text: string): Promise<void> => {
    setOpen(false);
    const done = await copyText(text).then(
      () => texts.done.copied,
      () => rowMenuTexts.refused,
    );
    notices.say(
      <>
        {done} <code translate="no">{text}</code>
      </>,
    );
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="button quiet more" aria-label={label}>
        ⋯
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" collisionPadding={8} className="positioner">
          <Popover.Popup className="menu buttons" aria-label={label} onKeyDown={moveWithArrows}>
            {hasScreen(path) ? (
              <Link to={path} className="button plain">
                {rowMenuTexts.open}
              </Link>
            ) : null}
            {actions.map(({ act, permission, kind, ask }) => (
              <GuardedButton
                key={act}
                kind={kind}
                permissions={permissions}
                permission={permission}
                onClick={() => {
                  setOpen(false);
                  ask();
                }}
              >
                {act}
              </GuardedButton>
            ))}
            <Button onClick={() => void copy(path)}>{rowMenuTexts.copyPath}</Button>
            {id === "" ? null : <Button onClick={() => void copy(id)}>{rowMenuTexts.copyId}</Button>}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Up and down lead through the menu as Tab does, from the last entry to the first too. */
function moveWithArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("a, button:not(:disabled)")];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops.at((at + step) % stops.length)?.focus();
}
