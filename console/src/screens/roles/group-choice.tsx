import { useState } from "react";
import { texts } from "../../texts/texts.ts";
import { type PermissionGroup, verbOf } from "./permission-groups.ts";

interface GroupChoiceProps {
  readonly group: PermissionGroup;
  /** How many permissions the collection has, whether or not they are found. */
  readonly total: number;
  readonly chosen: ReadonlySet<string>;
  /** Whether it begins opened. */
  readonly opened: boolean;
  readonly onChoose: (permissions: readonly string[], on: boolean) => void;
}

/** The permissions on one collection, one by one or all at once. */
export function GroupChoice({ group, total, chosen, opened, onChoose }: GroupChoiceProps) {
  const [toggled, setToggled] = useState<boolean>();
  const open = toggled ?? opened;
  const { collection, permissions } = group;
  const held = permissions.filter((name) => chosen.has(name)).length;
  return (
    <details open={open}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setToggled(!open);
        }}
      >
        <code>{collection}</code>
        <span className={held === 0 ? "quiet-text" : "chooser-some"}>{texts.chooser.some(held, total)}</span>
      </summary>
      {open ? (
        <div className="chooser-verbs">
          <label className="chooser-all">
            <input
              type="checkbox"
              checked={held === permissions.length}
              ref={(input) => {
                if (input !== null) input.indeterminate = held > 0 && held < permissions.length;
              }}
              onChange={(event) => onChoose(permissions, event.target.checked)}
            />
            {texts.chooser.allOf} {collection}
          </label>
          {permissions.map((name) => (
            <label key={name} title={name}>
              <input
                type="checkbox"
                aria-label={name}
                checked={chosen.has(name)}
                onChange={(event) => onChoose([name], event.target.checked)}
              />
              {verbOf(name)}
            </label>
          ))}
        </div>
      ) : null}
    </details>
  );
}
