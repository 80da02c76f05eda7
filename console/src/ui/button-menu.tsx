import { Popover } from "@base-ui/react/popover";
import { useState, type ReactNode } from "react";

interface ButtonMenuProps {
  /** What opens it. */
  readonly label: string;
  /** The buttons, which close the menu. */
  readonly children: (close: () => void) => ReactNode;
}

/** Buttons that would be too many side by side. Those that would be refused say why, as others do. */
export function ButtonMenu({ label, children }: ButtonMenuProps) {
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="button plain">
        {label}
        <span aria-hidden="true">▾</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" collisionPadding={8} className="positioner">
          <Popover.Popup className="menu buttons" aria-label={label}>
            {children(() => setOpen(false))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
