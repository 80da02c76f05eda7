import { useState } from "react";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Said } from "../../ui/said.tsx";

/** A webhook or an event stream. */
interface Delivering {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
  readonly etag: string;
}

interface Named {
  readonly path: string;
  readonly etag: string;
}

interface PauseButtonProps {
  readonly of: Delivering;
  readonly isActive: boolean;
  readonly permissions: Permissions;
  /** Such as `iam.webhooks`, whose verbs the permissions are. */
  readonly collection: string;
  readonly pauseIntro: string;
  readonly onPause: (request: Named) => Promise<unknown>;
  readonly onResume: (request: Named) => Promise<unknown>;
}

/** Pauses what delivers, and resumes what does not, after a question. */
export function PauseButton(props: PauseButtonProps) {
  const { of, isActive, permissions, collection, pauseIntro, onPause, onResume } = props;
  // What the question is about, as it was when it was asked.
  const [asked, setAsked] = useState<Delivering & { readonly isActive: boolean }>();
  const { path, etag, name, displayName, isActive: pauses } = asked ?? { ...of, isActive };
  const words = pauses ? deliveryTexts.pause : deliveryTexts.resume;
  return (
    <>
      <GuardedButton
        permissions={permissions}
        permission={`${collection}.${isActive ? "pause" : "resume"}`}
        onClick={() => setAsked({ ...of, isActive })}
      >
        {isActive ? deliveryTexts.pause : deliveryTexts.resume}
      </GuardedButton>
      <FormDialog
        title={
          <>
            {words} <bdi>{displayName || name}</bdi>?
          </>
        }
        intro={pauses ? pauseIntro : deliveryTexts.resumeIntro}
        submit={words}
        done={<Said what={pauses ? texts.done.paused : texts.done.resumed} name={displayName || name} />}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onSubmit={() => (pauses ? onPause({ path, etag }) : onResume({ path, etag }))}
      />
    </>
  );
}
