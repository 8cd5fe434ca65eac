/**
 * Buttons of the console. A button that does nothing does not exist: `onClick` is required.
 */
import type { MouseEventHandler, ReactNode } from "react";
import { cx } from "./cx.ts";

export interface ButtonProps {
  onClick: MouseEventHandler<HTMLButtonElement>;
  children: ReactNode;
  variant?: "plain" | "quiet" | "solid";
  size?: keyof typeof SIZES;
  disabled?: boolean;
  className?: string;
  /** Needed when the children carry no words of their own. */
  label?: string;
  pressed?: boolean;
  expanded?: boolean;
  /** Id of what it unfolds. */
  controls?: string;
}

const SIZES = {
  text: "h-8 rounded-md px-2.5 max-md:h-11",
  pill: "h-8 rounded-full px-3 max-md:h-11",
  icon: "size-8 rounded-md max-md:size-11",
  small: "size-6 rounded-sm max-md:size-8",
};

const VARIANTS = {
  plain: "border border-line-strong bg-surface text-fg hover:bg-hover",
  quiet: "text-muted hover:bg-hover hover:text-fg",
  solid: "bg-accent-solid text-white hover:opacity-90",
};

/** A button with words. */
export function Button({
  variant = "plain",
  size = "text",
  label,
  pressed,
  expanded,
  controls,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-controls={controls}
      className={cx(
        "inline-flex shrink-0 items-center justify-center gap-1.5 whitespace-nowrap text-table font-medium",
        "transition-colors duration-100 disabled:opacity-50",
        SIZES[size],
        VARIANTS[variant],
        className,
      )}
      {...rest}
    />
  );
}

/** A square button that shows only an icon; its name is read aloud and shown on hover. */
export function IconButton(props: ButtonProps & { label: string }) {
  return <Button variant="quiet" size="icon" {...props} />;
}
