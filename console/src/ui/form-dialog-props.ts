import type { ReactNode } from "react";
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { ButtonKind } from "./button.tsx";

export interface Look {
  /** What the button says that asks. */
  readonly words: string;
  readonly ask: (form: FormData) => Promise<ReactNode>;
}

export interface FormDialogProps {
  readonly title: ReactNode;
  readonly intro?: ReactNode;
  readonly submit: string;
  readonly kind?: ButtonKind;
  /** What the button says that closes it. */
  readonly cancel?: string;
  /** The names of the fields that the form has, at which it shows what the service says about them. */
  readonly fields?: readonly string[];
  readonly open: boolean;
  readonly onClose: () => void;
  /** Makes the call. What it throws is shown, and the dialog stays. After it, what screens show is read again, and the dialog closes. */
  readonly onSubmit: (form: FormData) => Promise<unknown>;
  /**
   * Asks what the call would do to access, without making it. If it is given, the form shows that first, and makes the call only after
   * what it has shown. It returns undefined if the service has nothing to say.
   */
  readonly onPreview?: (form: FormData) => Promise<AccessPreview | undefined>;
  /** Asks, as `onPreview` does, what else the call would do, and says how the form shows that. */
  readonly look?: Look | undefined;
  /** What is said when it is done, to somebody who may be on another screen by then. Left out where the screen itself says it. */
  readonly done?: ReactNode | ((form: FormData, answer: unknown) => ReactNode);
  /** Writes what the service says in other words, such as with the names of what it calls by ids. */
  readonly inWords?: (text: string) => string;
  readonly children?: ReactNode;
}
