import { Popover } from "@base-ui/react/popover";
import { useState } from "react";
import { useConsole } from "../app/console-context.ts";
import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import type { Copied } from "./row-menu.tsx";

/** A browser has a clipboard for pages only on https, and on the machine of the service. */
const copyText = async (text: string): Promise<void> => navigator.clipboard.writeText(text);

interface OpenRowMenuProps {
  readonly of: Copied;
  readonly label: string;
}

/** A menu that is open when it is first drawn. */
export function OpenRowMenu({ of: { path, id }, label }: OpenRowMenuProps) {
  const { notices } = useConsole();
  const [open, setOpen] = useState(true);
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
          <Popover.Popup className="menu buttons" aria-label={label}>
            <Button onClick={() => void copy(path)}>{rowMenuTexts.copyPath}</Button>
            {id === "" ? null : <Button onClick={() => void copy(id)}>{rowMenuTexts.copyId}</Button>}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
