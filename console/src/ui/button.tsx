import type { ComponentProps, ReactNode } from "react";

export type ButtonKind = "primary" | "plain" | "danger" | "quiet";

interface ButtonProps extends ComponentProps<"button"> {
  readonly kind?: ButtonKind;
  readonly children: ReactNode;
}

export function Button({ kind = "plain", type = "button", ...rest }: ButtonProps) {
  return <button {...rest} type={type} className={`button ${kind}`} />;
}
