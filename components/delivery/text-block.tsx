/** Text from outside, exactly as it is: in a text node of its own, never as markup. */
export function TextBlock({ label, text }: { label: string; text: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard.
      tabIndex={0}
      className="scroll-quiet max-h-96 overflow-auto rounded-md border border-line bg-subtle"
    >
      <pre className="whitespace-pre-wrap break-all p-3 font-mono text-table">{text}</pre>
    </section>
  );
}
