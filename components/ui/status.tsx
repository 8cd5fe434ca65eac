/**
 * The one way to show a status: icon, word and hue together, never a colour alone.
 * "Held" is striped, so that it differs from the others without its hue.
 */
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  type LucideIcon,
  PauseCircle,
} from "lucide-react";
import { cx } from "./cx.ts";

/** What a status means; every hue of the console stands for one of these. */
export type Tone = "neutral" | "accent" | "ok" | "warn" | "danger" | "held" | "unknown";

const TONE_ICONS: Record<Tone, LucideIcon> = {
  neutral: CircleDashed,
  accent: CircleDashed,
  ok: CircleCheck,
  warn: CircleAlert,
  danger: CircleX,
  held: PauseCircle,
  unknown: CircleHelp,
};

const TEXT_TONES: Record<Tone, string> = {
  neutral: "text-muted",
  accent: "text-accent",
  ok: "text-ok",
  warn: "text-warn",
  danger: "text-danger",
  held: "text-held",
  unknown: "text-faint",
};

const BADGE_TONES: Record<Tone, string> = {
  neutral: "bg-subtle text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  danger: "bg-danger-soft text-danger",
  held: "stripes text-held",
  unknown: "border border-dashed border-line-strong text-muted",
};

export interface StatusProps {
  tone: Tone;
  /** The word; always shown. */
  label: string;
  /** Replaces the tone's own icon where the state has a better one. */
  icon?: LucideIcon;
  className?: string;
}

export interface StatusTextProps extends StatusProps {
  /**
   * The label is a sentence and may take several lines; the icon stays with the first. A class cannot say so: of two
   * utilities for one property the later one of the style sheet wins, wherever it stands in `className`.
   */
  wrap?: boolean;
}

/** Icon and word in a line of text. */
export function StatusText({ tone, label, icon, className, wrap = false }: StatusTextProps) {
  const Icon = icon ?? TONE_ICONS[tone];
  return (
    <span
      className={cx(
        "inline-flex gap-1.5 align-top",
        wrap ? "items-start whitespace-normal" : "items-center whitespace-nowrap",
        TEXT_TONES[tone],
        className,
      )}
    >
      <Icon aria-hidden="true" className={cx("size-3.5 shrink-0", wrap && "mt-0.75")} strokeWidth={2} />
      {wrap ? <span className="min-w-0 break-words">{label}</span> : label}
    </span>
  );
}

/** Icon and word on a tinted ground, for the one status that a row or a header is about. */
export function StatusBadge({ tone, label, icon, className }: StatusProps) {
  const Icon = icon ?? TONE_ICONS[tone];
  return (
    <span
      className={cx(
        "inline-flex h-6 items-center gap-1.5 whitespace-nowrap rounded-full px-2 text-axis font-medium",
        BADGE_TONES[tone],
        className,
      )}
    >
      <Icon aria-hidden="true" className="size-3.5 shrink-0" strokeWidth={2.25} />
      {label}
    </span>
  );
}

/** The icon of a tone alone, for use beside a sentence that says the same in words. */
export function ToneIcon({ tone, className }: { tone: Tone; className?: string }) {
  const Icon = TONE_ICONS[tone];
  return <Icon aria-hidden="true" className={cx("shrink-0", TEXT_TONES[tone], className)} strokeWidth={2} />;
}

/** The text colour of a tone. */
export function toneText(tone: Tone): string {
  return TEXT_TONES[tone];
}
