import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ReactNode } from "react";
import { lifecycleTexts } from "../texts/lifecycle-texts.ts";
import { Fact } from "./facts.tsx";
import { Time } from "./time.tsx";

interface Deletable {
  readonly deleteTime?: Timestamp | undefined;
  readonly purgeTime?: Timestamp | undefined;
}

/** When something was deleted, and until when it can be restored; nothing of what is not deleted. */
export function DeletionFacts({ of: { deleteTime, purgeTime } }: { readonly of: Deletable }) {
  if (deleteTime === undefined) return null;
  return (
    <>
      <Fact title={lifecycleTexts.deletedAt}>
        <Time at={deleteTime} />
      </Fact>
      <Fact title={lifecycleTexts.goneAfter}>
        <Time at={purgeTime} />
      </Fact>
    </>
  );
}

/** What the state of something means for what is in it. */
export function StateNote({ children }: { readonly children: ReactNode }) {
  return <p className="note">{children}</p>;
}
