import type { ButtonKind } from "../button.tsx";

/** What is changed, unless somebody has changed it meanwhile. */
export interface Versioned {
  readonly path: string;
  readonly etag: string;
}

/** What changes the state of something after a question, such as to suspend or to restore it. */
export interface StateAction<Resource> {
  /** Such as "Suspend". */
  readonly act: string;
  readonly intro: string;
  /** Such as "Suspended". */
  readonly done: string;
  readonly kind: ButtonKind;
  readonly permission: string;
  /** Whether it can be done to something in its state. */
  readonly fits: (resource: Resource) => boolean;
  /** Returns it as it is then: what is restored has another path. */
  readonly run: (versioned: Versioned) => Promise<{ readonly path: string }>;
}
