/** Which installation this is, in words and in a frame, so that a demo is never taken for production. */
import { cx } from "#components/ui/cx.ts";

/** `name` comes from the run-time environment of the server. */
export function EnvironmentBadge({ name }: { name: string }) {
  const production = /^prod/i.test(name);
  return (
    <span
      title={`Environment: ${name}`}
      className={cx(
        "inline-flex h-6 max-w-40 items-center truncate rounded-sm border px-1.5 font-mono text-axis font-medium",
        production ? "border-danger-mark bg-danger-soft text-danger" : "border-line-strong text-muted",
      )}
    >
      {name.toUpperCase()}
    </span>
  );
}
